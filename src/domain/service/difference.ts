/**
 * Differences: how answers and webhooks of the service differ from their documented contract. Messages that break the
 * same rules are one kind of difference. Kinds and examples have names and types of fields, and never a value.
 */

export const DIFFERENCE_SOURCES = ['answer', 'webhook'] as const;
export type DifferenceSource = (typeof DIFFERENCE_SOURCES)[number];

/** A field of a message: its path, such as `data.items[].tax`, and the JSON type of its value. */
export interface SeenField {
  readonly field: string;
  readonly type: string;
}

/** A difference that was found in one message. */
export interface SeenDifference {
  /** The same for all messages with this difference. */
  readonly id: string;
  readonly source: DifferenceSource;
  /** The operation or the webhook. */
  readonly name: string;
  /** The broken rules, sorted: `field: rule`. */
  readonly shape: readonly string[];
  /** True if the message could be read nevertheless. Such kinds are only counted. */
  readonly isTolerated: boolean;
  /** The fields of the message. */
  readonly example: readonly SeenField[];
}

/** A kind of difference, as stored. */
export interface Difference extends SeenDifference {
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  readonly count: number;
  /** Webhooks that are kept because of it. */
  readonly waiting: number;
  /** Who declared such messages expected, when and why; null while a task asks about them, and for a tolerated kind. */
  readonly expected: Expected | null;
}

export interface Expected {
  readonly by: string;
  readonly atMs: number;
  readonly reason: string | null;
}

/** Kinds of one source that are distinguished. Further ones count under one kind without rules per operation. */
export const DIFFERENCES_MAX = 100;
const RULES_MAX = 20;
const FIELDS_MAX = 80;
const LEVELS_MAX = 6;
/** Items of a list whose fields are looked at. */
const ITEMS_MAX = 3;
/** A name that a person wrote into a program. Ids, numbers and texts that serve as names do not match. */
const PLAIN_NAME = /^[a-z_][a-z_-]{0,39}\d{0,2}$/i;
const ANY_NAME = '*';

/** A difference under the kind that counts what exceeds DIFFERENCES_MAX. */
export function withoutRules(seen: SeenDifference): SeenDifference {
  const { source, name } = seen;
  return { id: `${source}.${name}.others`, source, name, shape: [], isTolerated: false, example: [] };
}

/**
 * The shape of a difference: its broken rules, sorted, without positions in lists, and with `*` for names that the
 * contract does not have. So only the contract decides how many kinds there can be.
 * @param rules `field: rule`, where the rule contains no value.
 */
export function shapeOf(rules: readonly string[], contractNames: ReadonlySet<string>): readonly string[] {
  const plain = rules.flatMap((rule) => {
    const at = rule.indexOf(': ');
    const field = at === -1 ? 'body' : rule.slice(0, at);
    const text = at === -1 ? rule : rule.slice(at + 2);
    if (/^and \d+ more$/.test(text)) return [];
    const names = field.split('.').map((name) => plainName(name, contractNames));
    return [`${names.join('.').replaceAll('.[]', '[]')}: ${text}`];
  });
  return [...new Set(plain)].toSorted().slice(0, RULES_MAX);
}

function plainName(name: string, contractNames: ReadonlySet<string>): string {
  if (/^\d+$/.test(name)) return '[]';
  return name === 'body' || contractNames.has(name) ? name : ANY_NAME;
}

/** The fields of a message with their types, at most 80. Names that may be values are shown as `*`. */
export function fieldsOf(message: unknown, contractNames: ReadonlySet<string>): readonly SeenField[] {
  const seen = new Map<string, SeenField>();
  addFields(seen, { field: '', value: message, level: 0 }, contractNames);
  return [...seen.values()];
}

function addFields(
  seen: Map<string, SeenField>,
  at: { readonly field: string; readonly value: unknown; readonly level: number },
  contractNames: ReadonlySet<string>,
): void {
  const { field, value, level } = at;
  if (seen.size >= FIELDS_MAX) return;
  const type = jsonTypeOf(value);
  if (field !== '') seen.set(`${field} ${type}`, { field, type });
  if (typeof value !== 'object' || value === null || level === LEVELS_MAX) return;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.slice(0, ITEMS_MAX);
    for (const item of items) addFields(seen, { field: `${field}[]`, value: item, level: level + 1 }, contractNames);
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    const plain = contractNames.has(name) || PLAIN_NAME.test(name) ? name : ANY_NAME;
    const path = field === '' ? plain : `${field}.${plain}`;
    addFields(seen, { field: path, value: inner, level: level + 1 }, contractNames);
    if (seen.size >= FIELDS_MAX) return;
  }
}

/** The JSON type of a value; whole numbers are `integer`. */
function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'undefined' ? 'none' : typeof value;
}
