import type { z } from 'zod';
import { JSON_LEVELS_MAX } from '../contracts/common';
import { failedRules } from '../contracts/rules';
import { plainAmount } from '../domain/amount';
import { jsonFaults, jsonIn } from '../domain/json';
import type { FieldRule } from '../domain/refusal';

/**
 * Reads values that differ from their contract but have only one meaning: numbers as text, numeric names, JSON in a text,
 * empty optional parts.
 */

/** A value as documented, and the rules that it broke before. */
export interface Coerced<T> {
  readonly data: T;
  readonly broken: readonly FieldRule[];
}

/** A second round reads what was inside of a text. */
const ROUNDS_MAX = 2;

/**
 * Reads `value` by the schema and coerces what it can in a copy. Null when that is not enough.
 * @param digits the same value with its numbers as text (`withQuotedNumbers`): JSON.parse rounds long ones.
 */
export function coerced<T>(schema: z.ZodType<T>, value: unknown, digits: unknown): Coerced<T> | null {
  const broken: FieldRule[] = [];
  let current = value;
  for (let round = 0; round <= ROUNDS_MAX; round += 1) {
    const result = schema.safeParse(current);
    if (result.success) return { data: result.data, broken };
    broken.push(...failedRules(result.error));
    const copy: unknown = structuredClone(current);
    if (!result.error.issues.every((issue) => coerceAt({ root: copy, digits }, issue))) return null;
    current = copy;
  }
  return null;
}

/** Coerces the value that an issue is about, in place. False when it has more than one meaning. */
function coerceAt({ root, digits }: { root: unknown; digits: unknown }, issue: z.core.$ZodIssue): boolean {
  const name = String(issue.path.at(-1));
  const parent = inside(root, issue.path.slice(0, -1));
  if (issue.path.length === 0 || !isFields(parent)) return false;
  const replacement = replacementFor({ value: parent[name], digits: inside(digits, issue.path) }, issue);
  if (replacement === null) return false;
  parent[name] = replacement.value;
  return true;
}

function inside(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, step) => (isFields(at) ? at[String(step)] : undefined), value);
}

export type JsonFields = Readonly<Record<string, unknown>>;

/** True for a JSON object. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type CoercedValue = { readonly value: unknown } | null;

/** A value, and its digits if it is a number. */
interface ReceivedValue {
  readonly value: unknown;
  readonly digits: unknown;
}

/** What a value means where the contract wants something else; null when that is not certain. */
function replacementFor(received: ReceivedValue, issue: z.core.$ZodIssue): CoercedValue {
  const { value } = received;
  if (issue.code === 'invalid_type') return typeReplacement(received, issue.expected);
  // An amount: the only text with a format in the contracts of answers.
  if (issue.code === 'invalid_format') return typeof value === 'string' ? amountIn(value) : null;
  // References, `metadata` and its `id` have rules of their own.
  if (issue.code === 'custom') return typeof value === 'string' ? objectIn(value) : nameIn(received);
  return null;
}

function typeReplacement(received: ReceivedValue, expected: string): CoercedValue {
  const { value } = received;
  switch (expected) {
    case 'string':
      return nameIn(received);
    case 'number':
    case 'int':
      return typeof value === 'string' ? numberIn(value) : null;
    case 'boolean':
      return booleanIn(value);
    case 'object':
    case 'record':
      return typeof value === 'string' ? objectIn(value) : absent(value);
    default:
      return null;
  }
}

/** A whole number that serves as a name: its digits. Absent counts as left out. */
function nameIn({ value, digits }: ReceivedValue): CoercedValue {
  const isWhole = typeof value === 'number' && typeof digits === 'string' && /^\d+$/.test(digits);
  return isWhole ? { value: digits } : absent(value);
}

function amountIn(text: string): CoercedValue {
  const value = plainAmount(text);
  return value === null ? null : { value };
}

function numberIn(text: string): CoercedValue {
  const plain = plainAmount(text);
  return plain === null ? null : { value: Number(plain) };
}

/** Null and empty lists, which systems write for an optional part that they do not have. */
function absent(value: unknown): CoercedValue {
  return value === null || (Array.isArray(value) && value.length === 0) ? { value: undefined } : null;
}

function booleanIn(value: unknown): CoercedValue {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (word === 'true' || word === 1) return { value: true };
  return word === 'false' || word === 0 ? { value: false } : null;
}

/** The JSON object in a text; an empty text counts as left out. */
function objectIn(text: string): CoercedValue {
  if (text.trim() === '') return { value: undefined };
  const { isTooDeep, infiniteCount } = jsonFaults(text, JSON_LEVELS_MAX);
  if (isTooDeep || infiniteCount > 0) return null;
  const value = jsonIn(text);
  return isFields(value) ? { value } : null;
}
