import type { z } from 'zod';
import { JSON_LEVELS_MAX } from '../contracts/common';
import type { Operation, AnswerOf } from '../contracts/service/operations';
import { failedRules } from '../contracts/rules';
import { envelope, accessToken } from '../contracts/service/service';
import { FAULTS_NAMED_MAX, jsonFaults, withQuotedNumbers, withoutByteOrderMark } from '../domain/json';
import type { FieldRule } from '../domain/refusal';
import { isFields, coerced, type JsonFields } from './coerce';

/** The contract of an answer: a part of the operation's row. */
export interface Contract<T> {
  readonly answer: z.ZodType<T>;
  readonly answerShape: Operation['answerShape'];
  readonly isAnswerUsed: Operation['isAnswerUsed'];
  /** Reads the body in place of the rules for all operations. */
  readonly read?: (body: AnswerBody) => Reading<T>;
}

/** A body after it was checked against its contract. */
export type Reading<T> =
  /** `differences` lists what was tolerated, as field and rule. Without data where none is needed. */
  | { readonly kept: true; readonly data: T | null; readonly differences: readonly string[] }
  /** Field and rule of every violation; never a value. */
  | { readonly kept: false; readonly issues: readonly string[] };

interface JsonObjectBody {
  readonly text: string;
  readonly value: JsonFields;
}

/** The envelope adds one level. */
const ANSWER_LEVELS_MAX = JSON_LEVELS_MAX + 1;

/** The body of an answer; `value` is undefined when it is not JSON. */
export interface AnswerBody {
  readonly text: string;
  readonly isJson: boolean;
  readonly value: unknown;
}

export function answerBodyOf(text: string): AnswerBody {
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(text));
    return { text, isJson: true, value };
  } catch {
    return { text, isJson: false, value: undefined };
  }
}

/**
 * Reads the body of a 2xx by its operation's contract. Reference operations answer inside an envelope
 * (docs/service-api.md#envelope); those of the integration guide (#guide-operations) inside an envelope or bare. Answers
 * that differ but have only one meaning are read, and their differences listed.
 */
export function readAnswer<T>(contract: Contract<T>, body: AnswerBody): Reading<T> {
  const { text, isJson, value } = body;
  if (contract.read) return contract.read(body);
  if (text.trim() === '' && !contract.isAnswerUsed) return accepted(null, ['body: is empty']);
  if (!isJson || !isFields(value)) return { kept: false, issues: ['body: must be JSON'] };
  const faults = faultsOf(text);
  if (faults.length > 0) return { kept: false, issues: faults };
  // Open question Q7: whether the answers of docs/service-api.md#guide-operations travel in the envelope is not
  // documented; both are read.
  const mayBeBare = contract.answerShape === 'bare_or_envelope';
  const enveloped = readEnveloped(contract, { text, value });
  // A bare answer may have a field `data` of its own.
  if (enveloped.kept || (!mayBeBare && 'data' in value)) return enveloped;
  const bare = readFields(contract.answer, { text, value }, []);
  if (bare.kept) return mayBeBare ? bare : accepted(bare.data, ['body: has no envelope', ...bare.differences]);
  // The issues of the shape that was probably meant.
  return mayBeBare && !('data' in value) ? bare : enveloped;
}

/** Faults that no contract allows, found in one pass over the text. */
function faultsOf(text: string): readonly string[] {
  const { isTooDeep, infinite, infiniteCount } = jsonFaults(text, ANSWER_LEVELS_MAX);
  if (isTooDeep) return ['body: is nested too deeply'];
  const named = infinite.map((path) => `${path === '' ? 'body' : path}: must be a finite number`);
  const others = infiniteCount - infinite.length;
  return others === 0 ? named : [...named, `body: and ${others} more`];
}

/** Reads the envelope, and `data` in it. */
function readEnveloped<T>(contract: Contract<T>, { text, value }: JsonObjectBody): Reading<T> {
  const outer = brokenEnvelope(value);
  if (!isFields(value['data'])) {
    return isWithoutData(contract, value) ? accepted(null, outer) : { kept: false, issues: outer };
  }
  const inner = readFields(contract.answer, { text, value }, ['data']);
  if (!inner.kept) return { kept: false, issues: named([...outer, ...inner.issues]) };
  return outer.length === 0 ? inner : accepted(inner.data, [...outer, ...inner.differences]);
}

/**
 * True for an envelope that accepts and has no data, where none is needed. Only the code shows that: an error may come
 * without one, or with one that is no status.
 */
function isWithoutData<T>({ isAnswerUsed }: Contract<T>, { code, data }: JsonFields): boolean {
  if (isAnswerUsed || (data ?? null) !== null) return false;
  const number = envelopeNumber(code);
  if (number !== null) return number === 0 || (number >= SUCCESS_FROM && number < ERRORS_FROM);
  return typeof code === 'string' && /^(ok|success|accepted)$/i.test(code);
}

const SUCCESS_FROM = 200;
const ERRORS_FROM = 400;
const STATUS_MAX = 599;

/** The `code` of an envelope as a number, also if it is text; null when it is none. */
function envelopeNumber(code: unknown): number | null {
  if (typeof code === 'number') return code;
  return typeof code === 'string' && /^\s*\d{1,9}\s*$/.test(code) ? Number(code) : null;
}

/** The status of a refusal that a 2xx has in its envelope; null when it has none. An error of its own counts as 400. */
export function refusalCode({ value }: AnswerBody): number | null {
  const code = isFields(value) ? envelopeNumber(value['code']) : null;
  if (code === null || !Number.isInteger(code) || code < ERRORS_FROM) return null;
  return code <= STATUS_MAX ? code : ERRORS_FROM;
}

/** The rules of the envelope that a body breaks, as field and rule. */
export function brokenEnvelope(value: unknown): readonly string[] {
  const result = envelope.safeParse(value);
  return result.success ? [] : issuesOf(failedRules(result.error), '');
}

/** Reads the body, or the part of it at `path`, by its contract. */
function readFields<T>(
  schema: z.ZodType<T>,
  { text, value }: JsonObjectBody,
  path: readonly ['data'] | [],
): Reading<T> {
  const part = path.length === 0 ? value : value['data'];
  const at = path.length === 0 ? '' : 'data.';
  const result = schema.safeParse(part);
  if (result.success) return accepted(result.data, []);
  const digits = answerBodyOf(withQuotedNumbers(text)).value;
  const read = coerced(schema, part, path.length === 0 || !isFields(digits) ? digits : digits['data']);
  if (read === null) return { kept: false, issues: issuesOf(failedRules(result.error), at) };
  return accepted(read.data, issuesOf(read.broken, at));
}

function accepted<T>(data: T | null, differences: readonly string[]): Reading<T> {
  return { kept: true, data, differences: named(differences) };
}

function issuesOf(broken: readonly FieldRule[], at: string): readonly string[] {
  return named(broken.map(({ field, rule }) => `${at}${field}: ${rule}`));
}

function named(issues: readonly string[]): readonly string[] {
  return issues.slice(0, FAULTS_NAMED_MAX);
}

/** A token as it is sent, without the scheme; `expires_in` is its lifetime in seconds, if the answer has one. */
export type TokenData = AnswerOf<'token'>;

const TOKEN_NAMES = ['token', 'access_token', 'accessToken'] as const;
const LIFETIME_NAMES = ['expires_in', 'expiresIn'] as const;
const DOCUMENTED = 'data.token';

/**
 * Reads the answer to a token call. The document shows `data.token` in an envelope (docs/service-api.md#get-token);
 * without a token no call can be made, so the usual other places are read too, with and without an envelope and the word
 * `Bearer`. Nothing else about the answer matters.
 */
export function readToken(body: AnswerBody): Reading<TokenData> {
  const outer = fieldsIn(body.value);
  const inner = fieldsIn(outer['data']);
  const found = placesOf(outer, inner).flatMap(({ at, value }) => {
    const token = tokenIn(value);
    return token === null ? [] : [{ at, token, hasScheme: token !== value }];
  });
  const [first] = found;
  if (first === undefined)
    return { kept: false, issues: [`${DOCUMENTED}: is required (string that a header can have)`] };
  const { at, token, hasScheme } = first;
  const differences = [
    ...brokenEnvelope(body.value),
    ...(at === DOCUMENTED ? [] : [`${at}: has the token in place of ${DOCUMENTED}`]),
    ...(hasScheme ? [`${at}: has more than the token`] : []),
  ];
  const expires_in = lifetimeIn(inner) ?? lifetimeIn(outer);
  return { kept: true, data: expires_in === null ? { token } : { token, expires_in }, differences };
}

function fieldsIn(value: unknown): JsonFields {
  return isFields(value) ? value : {};
}

/** Where a token may be, best first. */
function placesOf(outer: JsonFields, inner: JsonFields): { readonly at: string; readonly value: unknown }[] {
  return [
    ...TOKEN_NAMES.map((name) => ({ at: `data.${name}`, value: inner[name] })),
    { at: 'data', value: outer['data'] },
    ...TOKEN_NAMES.map((name) => ({ at: name, value: outer[name] })),
  ];
}

/** The token in a text: without spaces around it and without its scheme. Null when a header cannot have it. */
function tokenIn(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const token = value.replace(/^\s*bearer\s/i, '').trim();
  return /^[\x21-\x7e]+$/.test(token) && accessToken.safeParse(token).success ? token : null;
}

function lifetimeIn(fields: JsonFields): number | null {
  for (const name of LIFETIME_NAMES) {
    const value = fields[name];
    const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0) return seconds;
  }
  return null;
}
