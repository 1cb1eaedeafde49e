/**
 * The shapes of the messages of the service as they were seen, beside those of its document. Pure: fields and types
 * only, never a value.
 */

export interface ContractField {
  /** Its path, such as `data.metadata.id`. */
  readonly field: string;
  /** The documented JSON types; empty if the contract allows any. */
  readonly types: readonly string[];
  readonly isRequired: boolean;
}

/** A field that was seen with values of one type. Timestamps are ms since the epoch, Redis time. */
export interface ObservedField {
  readonly field: string;
  readonly type: string;
  readonly count: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
}

/** The messages of an operation or a webhook that were looked at. */
export interface ObservedMessage {
  /** How many of them were looked at. */
  readonly samples: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  readonly fields: readonly ObservedField[];
}

/**
 * - none: as documented.
 * - missing: required, and never seen.
 * - sometimes_missing: required, and not seen in each message.
 * - type: seen with another type.
 * - additional: not documented.
 */
export type FieldMark = 'none' | 'missing' | 'sometimes_missing' | 'type' | 'additional';

export interface ComparedField {
  readonly field: string;
  /** The documented types; null for a field that is not documented. */
  readonly documented: readonly string[] | null;
  readonly isRequired: boolean;
  readonly seen: readonly ObservedField[];
  readonly mark: FieldMark;
}

/** The documented fields in their order, then those that are not documented. Without a sample nothing is marked. */
export function compareFields(documented: readonly ContractField[], message: ObservedMessage | null): ComparedField[] {
  const seenOf = new Map<string, ObservedField[]>();
  for (const seen of message?.fields ?? []) seenOf.set(seen.field, [...(seenOf.get(seen.field) ?? []), seen]);
  const known = new Set(documented.map(({ field }) => field));
  const opaque = documented.filter((field) => !hasDocumentedFields(field, documented)).map(({ field }) => field);
  const additional = [...seenOf.keys()].filter((field) => !known.has(field) && !isInside(field, opaque));
  return [
    ...documented.map(({ field, types, isRequired }) => {
      const seen = seenOf.get(field) ?? [];
      const mark = message === null ? 'none' : markOf({ field, types, isRequired }, seen, samplesOf(field, message));
      return { field, documented: types, isRequired, seen, mark };
    }),
    ...additional.map((field) => {
      const seen = seenOf.get(field) ?? [];
      return { field, documented: null, isRequired: false, seen, mark: 'additional' as const };
    }),
  ];
}

function hasDocumentedFields({ field }: ContractField, documented: readonly ContractField[]): boolean {
  return documented.some((other) => isInside(other.field, [field]));
}

function isInside(field: string, outer: readonly string[]): boolean {
  return outer.some((name) => field.startsWith(`${name}.`) || field.startsWith(`${name}[]`));
}

/** How many messages could have had the field: those that had the object around it. */
function samplesOf(field: string, { samples, fields }: ObservedMessage): number {
  const at = field.lastIndexOf('.');
  if (at === -1) return samples;
  const outer = field.slice(0, at);
  return fields
    .filter((seen) => seen.field === outer && seen.type === 'object')
    .reduce((sum, { count }) => sum + count, 0);
}

function markOf({ types, isRequired }: ContractField, seen: readonly ObservedField[], samples: number): FieldMark {
  if (seen.some(({ type }) => !fits(type, types))) return 'type';
  if (!isRequired || samples === 0) return 'none';
  if (seen.length === 0) return 'missing';
  return seen.reduce((sum, { count }) => sum + count, 0) < samples ? 'sometimes_missing' : 'none';
}

function fits(type: string, types: readonly string[]): boolean {
  return types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'));
}
