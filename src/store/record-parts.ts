import { ATTEMPT, encodeEntry, encodeInFlight, splitInFlight, storedRun } from '../contracts/stored-outbox';
import type { Entry } from '../domain/entry';
import type { OutboxRecord } from '../domain/outbox-record';
import { isPacked, packFields, unpackFields, type Fields } from './packed-fields';

/** The fields of a record in Redis, each encoded only if what it holds has changed. */

/** One field of the hash of a record. */
export interface Part {
  readonly name: string;
  /** What it holds. Nested objects are never changed in place, so that two levels are compared. */
  readonly content: unknown;
  readonly text: () => string;
  /** True for a field that is stored beside the packed ones. */
  readonly isPlain?: boolean;
}

/** What a commit writes to a record; null when nothing of it changed. */
export interface FieldsChange {
  readonly set: Fields;
  readonly remove: readonly string[];
}

const LEVELS_COMPARED = 2;
const VERSION = 'v';

export function jsonPart(name: string, content: unknown): Part {
  return { name, content, text: () => JSON.stringify(content) };
}

/** The entries, and what an attempt in flight changes about one of them. */
export function entryParts(entries: readonly Entry[]): Part[] {
  const inFlight = entries.find(({ attemptId }) => attemptId !== null);
  return entries.flatMap((entry) => {
    if (entry !== inFlight) return [entryPart(entry)];
    const { sent, rest } = splitInFlight(entry);
    return [entryPart(rest), { name: ATTEMPT, content: sent, text: () => encodeInFlight(sent) }];
  });
}

function entryPart(entry: Entry): Part {
  return { name: `r${entry.seq}`, content: entry, text: () => encodeEntry(entry) };
}

type Run = Pick<OutboxRecord, 'lookAtMs' | 'overSinceMs' | 'unknownRun'>;

/** What a run of a record needs to know. */
export function decodeRun(json: string | undefined): Run {
  if (json === undefined) return { lookAtMs: null, overSinceMs: null, unknownRun: {} };
  const { lookAtMs, overSinceMs, ...unknownRun } = storedRun.parse(JSON.parse(json));
  return { lookAtMs, overSinceMs, unknownRun };
}

/** No part when all of it is initial. */
export function runParts({ lookAtMs, overSinceMs, unknownRun }: Run): Part[] {
  const run = {
    ...unknownRun,
    ...(lookAtMs === null ? {} : { lookAtMs }),
    ...(overSinceMs === null ? {} : { overSinceMs }),
  };
  return Object.keys(run).length === 0 ? [] : [jsonPart('run', run)];
}

/**
 * The difference between two states of a record that is stored as `stored`. A record that is packed, or was, is written
 * whole. Fields that are no part are those of another version of towhook: they stay, packed with the others.
 */
export function changeOfFields(
  before: readonly Part[],
  after: readonly Part[],
  { stored, packs }: { readonly stored: Fields; readonly packs: boolean },
): FieldsChange | null {
  const was = new Map(before.map((part) => [part.name, part]));
  const changed = after.filter(({ name, content }) => !isSame(was.get(name)?.content, content, LEVELS_COMPARED));
  for (const { name } of after) was.delete(name);
  if (changed.length === 0 && was.size === 0) return null;
  const isWhole = packs || isPacked(stored);
  const written = isWhole ? wholeOf(after, { stored, packs, changed, gone: was }) : textsOf(changed);
  const set = Object.fromEntries(Object.entries(written).filter(([name, text]) => stored[name] !== text));
  const mayGo = isWhole ? Object.keys(stored).filter((name) => name !== VERSION) : [...was.keys()];
  const remove = mayGo.filter((name) => name in stored && !(name in written));
  return Object.keys(set).length === 0 && remove.length === 0 ? null : { set, remove };
}

/** All fields but the version. What did not change, and what other versions wrote, is taken as it is stored. */
function wholeOf(
  after: readonly Part[],
  change: { stored: Fields; packs: boolean; changed: readonly Part[]; gone: ReadonlyMap<string, Part> },
): Fields {
  const { stored, packs, changed, gone } = change;
  const kept = Object.entries(unpackFields(stored)).filter(([name]) => name !== VERSION && !gone.has(name));
  const fields: Fields = { ...Object.fromEntries(kept), ...textsOf(changed) };
  if (!packs) return fields;
  const plain = new Set(after.filter(({ isPlain }) => isPlain).map(({ name }) => name));
  const where = (isPlain: boolean) => Object.entries(fields).filter(([name]) => plain.has(name) === isPlain);
  return { ...packFields(Object.fromEntries(where(false))), ...Object.fromEntries(where(true)) };
}

function textsOf(parts: readonly Part[]): Fields {
  return Object.fromEntries(parts.map(({ name, text }) => [name, text()]));
}

function isSame(one: unknown, other: unknown, levels: number): boolean {
  if (Object.is(one, other)) return true;
  if (levels === 0 || !isObject(one) || !isObject(other)) return false;
  for (const name in one) if (!isSame(one[name], other[name], levels - 1)) return false;
  for (const name in other) if (!(name in one)) return false;
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
