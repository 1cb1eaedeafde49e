import type { z } from 'zod';
import { plainAmount } from '../../domain/amount';
import { FAULTS_NAMED_MAX, jsonFaults, withQuotedNumbers, jsonIn, withoutByteOrderMark } from '../../domain/json';
import type { FieldRule } from '../../domain/refusal';
import type { DeliveryKind, Json, JsonObject } from '../../domain/vocabulary';
import { amount as documentedAmount, JSON_LEVELS_MAX, METADATA_LEVELS_MAX } from '../common';
import { failedRules } from '../rules';
import { storedObject } from '../../domain/stored';
import { CHARGE_AMOUNTS, WEBHOOKS } from './webhooks';

/**
 * Reads webhooks tolerantly. A difference from the contract that has only one meaning is read as documented, and named:
 * a byte order mark, numeric references and ids, amounts with separators or Arabic digits, metadata as JSON text, and
 * empty optional parts.
 */

/**
 * A message to act on with its tolerated differences, or the first 20 rules that it breaks.
 * Rules contain no values. `rest` is the message without the parts that break them; null when these are needed.
 */
export type ReadWebhook<T> =
  | { readonly kind: 'message'; readonly message: T; readonly tolerated: readonly FieldRule[] }
  | { readonly kind: 'differs'; readonly rules: readonly FieldRule[]; readonly rest: T | null };

/** Reads the stored body of a delivery: JSON of at most 32 levels. */
export type WebhookReader<T> = (rawBody: string) => ReadWebhook<T>;

export type TowRequestMessage = z.output<typeof WEBHOOKS.tow_request.message>;
export type InvoiceMessage = z.output<typeof WEBHOOKS.tow_invoice.message>;

/** The reader of each kind of webhook. */
export interface WebhookReaders {
  readonly tow_request: WebhookReader<TowRequestMessage>;
  readonly tow_invoice: WebhookReader<InvoiceMessage>;
}

const REFERENCES = ['towing_reference_id', 'violation_reference_id'] as const;
const CHARGES = ['towing_invoice', 'delay_invoice'] as const;
const CHARGE_NUMBERS = ['invoice_number', 'vat_number'] as const;
const NUMERIC = 'is a number, not text';
const EMPTY = 'is empty';

export const WEBHOOK_READERS: WebhookReaders = {
  tow_request: (rawBody) => readAs('tow_request', WEBHOOKS.tow_request.message, rawBody),
  tow_invoice: (rawBody) => readAs('tow_invoice', WEBHOOKS.tow_invoice.message, rawBody),
};

function readAs<T>(kind: DeliveryKind, message: z.ZodType<T>, rawBody: string): ReadWebhook<T> {
  const { infinite, infiniteCount } = jsonFaults(rawBody, JSON_LEVELS_MAX);
  const tolerated: FieldRule[] = [];
  const note = (field: string, rule: string) => void tolerated.push({ field, rule });
  if (withoutByteOrderMark(rawBody) !== rawBody) note('body', 'begins with a byte order mark');
  const body = objectIn(rawBody);
  if (body && infiniteCount > 0) replaceInfinite(body);
  const plain = body && normalized(kind, { body, text: rawBody, note });
  const checked = message.safeParse(plain);
  const rest = checked.success
    ? checked.data
    : plain && message.safeParse(withoutParts(plain, checked.error.issues)).data;
  if (infiniteCount > 0) {
    const rules = infinite.map((field) => ({ field: field === '' ? 'body' : field, rule: 'must be a finite number' }));
    return { kind: 'differs', rules, rest: rest ?? null };
  }
  if (!checked.success) {
    return { kind: 'differs', rules: failedRules(checked.error).slice(0, FAULTS_NAMED_MAX), rest: rest ?? null };
  }
  return { kind: 'message', message: checked.data, tolerated };
}

/**
 * Puts null in place of each number out of range, which JSON.parse turns into Infinity and JSON cannot store. Changes the
 * value itself: a reviver of JSON.parse takes twice as long.
 */
function replaceInfinite(value: JsonObject | Json[]): void {
  const isInfinite = (member: Json | undefined) => member === Infinity || member === -Infinity;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      if (isInfinite(item)) value[index] = null;
      else if (typeof item === 'object' && item !== null) replaceInfinite(item);
    });
    return;
  }
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (isInfinite(member)) value[name] = null;
    else if (typeof member === 'object' && member !== null) replaceInfinite(member);
  }
}

/**
 * The body with references and `metadata.id` as text: whole numbers become their digits as sent, however large. Returns
 * the same object when none of them is a number. `text` is its JSON.
 */
export function withTextNames(body: JsonObject, text: string): JsonObject {
  const metadata = asObject(body['metadata']);
  const isIdNumeric = typeof metadata?.['id'] === 'number';
  if (!isIdNumeric && !REFERENCES.some((name) => typeof body[name] === 'number')) return body;
  const digits = objectIn(withQuotedNumbers(text)) ?? {};
  const named = withDigits(body, digits, REFERENCES);
  if (!metadata || !isIdNumeric) return named;
  return { ...named, metadata: withDigits(metadata, asObject(digits['metadata']) ?? {}, ['id']) };
}

type NoteDifference = (field: string, rule: string) => void;

interface ReceivedWebhook {
  readonly body: JsonObject;
  readonly text: string;
  readonly note: NoteDifference;
}

/** The body as documented, as far as its meaning is certain. Each difference is noted. */
function normalized(kind: DeliveryKind, { body: received, text, note }: ReceivedWebhook): JsonObject {
  let body = withMetadata(withTextNames(received, text), received, note);
  for (const name of REFERENCES) if (body[name] !== received[name]) note(name, NUMERIC);
  // The path decides the kind.
  if (kind === 'tow_request' && asObject(body['towing_invoice']))
    note('towing_invoice', 'belongs to an invoice webhook');
  if (kind === 'tow_request') return body;
  if ((body['violation_reference_id'] ?? null) === null) note('violation_reference_id', 'is missing');
  body = withoutEmpty(body, 'delay_invoice', note);
  for (const name of CHARGES) {
    const charge = asObject(body[name]);
    const exact = charge && withExactNumbers(charge, name, text);
    const plain = exact && withPlainAmounts(exact, (field, rule) => note(`${name}.${field}`, rule));
    if (plain !== charge) body = { ...body, [name]: plain };
  }
  return body;
}

/** Reads metadata that was sent as JSON text, and drops an empty list, an empty text, and an `id` that is null. */
function withMetadata(named: JsonObject, received: JsonObject, note: NoteDifference): JsonObject {
  const body = withoutEmpty(named, 'metadata', note);
  const given = body['metadata'];
  const read = typeof given === 'string' ? metadataIn(given) : null;
  if (read) note('metadata', 'is text that contains JSON');
  const metadata = read ?? asObject(given);
  if (!metadata) return body;
  const wasId = asObject(received['metadata'])?.['id'];
  if (typeof wasId === 'number' && metadata['id'] !== wasId) note('metadata.id', NUMERIC);
  const isIdNull = metadata['id'] === null;
  if (isIdNull) note('metadata.id', EMPTY);
  return read || isIdNull ? { ...body, metadata: isIdNull ? without(metadata, 'id') : metadata } : body;
}

/** The metadata in a text; null when the text is not a JSON object that may be metadata. */
function metadataIn(text: string): JsonObject | null {
  const { isTooDeep, infiniteCount } = jsonFaults(text, METADATA_LEVELS_MAX);
  if (isTooDeep || infiniteCount > 0) return null;
  const metadata = objectIn(text);
  return metadata && asObject(withTextNames({ metadata }, `{"metadata":${text}}`)['metadata']);
}

/** Drops an optional part that is an empty list or empty text. */
function withoutEmpty(body: JsonObject, name: string, note: NoteDifference): JsonObject {
  const value = body[name];
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
  if (!isEmpty) return body;
  note(name, EMPTY);
  return without(body, name);
}

/** The charge with the digits as sent of invoice and VAT numbers that JSON.parse may have rounded. Any type is kept. */
function withExactNumbers(charge: JsonObject, chargeName: string, text: string): JsonObject {
  const rounded = CHARGE_NUMBERS.filter((name) => {
    const number = charge[name];
    return typeof number === 'number' && !Number.isSafeInteger(number);
  });
  if (rounded.length === 0) return charge;
  const digits = objectIn(withQuotedNumbers(text)) ?? {};
  return withDigits(charge, asObject(digits[chargeName]) ?? {}, rounded);
}

/** The charge with amounts that `plainAmount` can read as plain text. Returns the same object when nothing changes. */
function withPlainAmounts(charge: JsonObject, note: NoteDifference): JsonObject {
  let plain = charge;
  for (const name of CHARGE_AMOUNTS) {
    const amount = charge[name];
    if (typeof amount !== 'string' || documentedAmount.safeParse(amount).success) continue;
    const read = plainAmount(amount);
    if (read !== null) {
      note(name, 'is an amount with separators or other digits');
      plain = { ...plain, [name]: read };
    } else plain = withoutEmpty(plain, name, note);
  }
  return plain;
}

function withDigits(object: JsonObject, digits: JsonObject, names: readonly string[]): JsonObject {
  const texts = names.flatMap((name) => {
    const text = digits[name];
    const isWhole = typeof object[name] === 'number' && typeof text === 'string' && /^\d+$/.test(text);
    return isWhole ? [[name, text] as const] : [];
  });
  return { ...object, ...Object.fromEntries(texts) };
}

function withoutParts(body: JsonObject, issues: readonly { readonly path: readonly PropertyKey[] }[]): JsonObject {
  return issues.reduce((rest, { path }) => withoutPart(rest, path.map(String)), body);
}

function withoutPart(object: JsonObject, [name, ...inner]: readonly string[]): JsonObject {
  if (name === undefined) return object;
  const part = inner.length === 0 ? null : asObject(object[name]);
  return part ? { ...object, [name]: withoutPart(part, inner) } : without(object, name);
}

function without(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([other]) => other !== name));
}

function objectIn(text: string): JsonObject | null {
  return storedObject.safeParse(jsonIn(withoutByteOrderMark(text))).data ?? null;
}

function asObject(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}
