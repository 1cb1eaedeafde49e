import type { Entry } from '../../domain/outbox/entry';
import { isObject } from '../../domain/json';
import { storedLease, storedRun, storedTasks, type OutboxRecord } from '../../domain/outbox/outbox-record';
import { storedTexts } from '../../domain/stored';
import { ATTEMPT, encodeEntry, splitInFlight } from './entry-fields';
import { isPacked, packFields, unpackFields, type Fields } from '../redis/packed-fields';

/** The fields of a record in Redis. A field is encoded only if its content has changed. */

/** One field of the hash of a record. */
export interface RecordPart {
  readonly name: string;
  /** The content. Nested objects are never changed in place, so comparing two levels is sufficient. */
  readonly content: unknown;
  readonly text: () => string;
  /** True for a field that is never packed. */
  readonly isPlain?: boolean;
}

/** The fields that a commit writes and removes. */
interface FieldsChange {
  readonly set: Fields;
  readonly remove: readonly string[];
}

const LEVELS_COMPARED = 2;
const VERSION = 'v';

/** A field whose content is encoded as JSON when it is written. */
export function jsonPart(name: string, content: unknown): RecordPart {
  return { name, content, text: () => JSON.stringify(content) };
}

/** The entries. The fields of an attempt in flight are stored separately from its entry. */
export function entryParts(entries: readonly Entry[]): RecordPart[] {
  const inFlight = entries.find(({ attemptId }) => attemptId !== null);
  const parts: RecordPart[] = [];
  for (const entry of entries) {
    if (entry !== inFlight) {
      parts.push(entryPart(entry));
      continue;
    }
    const { sent, rest } = splitInFlight(entry);
    parts.push(entryPart(rest), { name: ATTEMPT, content: sent, text: () => encodeEntry(sent) });
  }
  return parts;
}

function entryPart(entry: Entry): RecordPart {
  return { name: `r${entry.seq}`, content: entry, text: () => encodeEntry(entry) };
}

type ScheduleState = Pick<OutboxRecord, 'runAtMs' | 'overSinceMs' | 'withheld' | 'unknownRun'>;

/** Decodes the fields that a tow and a violation have in common, except the entries. */
export function decodeCommon(
  fields: Fields,
): ScheduleState & Pick<OutboxRecord, 'lease' | 'tasks' | 'terms' | 'changeCount'> {
  const { lease, tasks, terms, run, n } = fields;
  return {
    lease: lease === undefined ? null : storedLease.parse(JSON.parse(lease)),
    tasks: tasks === undefined ? {} : storedTasks.parse(JSON.parse(tasks)),
    terms: terms === undefined ? [] : storedTexts.parse(JSON.parse(terms)),
    changeCount: n === undefined ? 0 : Number(n),
    ...decodeRun(run),
  };
}

/** The fields that a tow and a violation have in common. A field in its initial state is left out. */
export function commonParts(record: OutboxRecord): RecordPart[] {
  const { lease, entries, tasks, terms, changeCount } = record;
  const parts = entryParts(entries);
  if (lease) parts.push(jsonPart('lease', lease));
  if (Object.keys(tasks).length > 0) parts.push(jsonPart('tasks', tasks));
  if (terms.length > 0) parts.push(jsonPart('terms', terms));
  if (changeCount > 0) parts.push(jsonPart('n', changeCount));
  parts.push(...runParts(record));
  return parts;
}

/** The state that workers keep between two runs of a record. */
function decodeRun(json: string | undefined): ScheduleState {
  if (json === undefined) return { runAtMs: null, overSinceMs: null, withheld: null, unknownRun: {} };
  const { runAtMs, overSinceMs, withheld, ...unknownRun } = storedRun.parse(JSON.parse(json));
  return { runAtMs, overSinceMs, withheld, unknownRun };
}

/** No part in the initial state. */
function runParts({ runAtMs, overSinceMs, withheld, unknownRun }: ScheduleState): RecordPart[] {
  const run = {
    ...unknownRun,
    ...(runAtMs === null ? {} : { runAtMs }),
    ...(overSinceMs === null ? {} : { overSinceMs }),
    ...(withheld === null ? {} : { withheld }),
  };
  return Object.keys(run).length === 0 ? [] : [jsonPart('run', run)];
}

/**
 * The difference between two states of a record with the stored fields `stored`; null without one. A record that is or
 * was packed is written completely. Fields of other versions of towhook stay, packed with the others.
 */
export function changeOfFields(
  before: readonly RecordPart[],
  after: readonly RecordPart[],
  { stored, packs }: { readonly stored: Fields; readonly packs: boolean },
): FieldsChange | null {
  const changed = after.filter(
    (part, place) => !isSame(partNamed(before, part.name, place)?.content, part.content, LEVELS_COMPARED),
  );
  const gone = before.filter((part, place) => !partNamed(after, part.name, place)).map(({ name }) => name);
  if (changed.length === 0 && gone.length === 0) return null;
  const isWhole = packs || isPacked(stored);
  const written = isWhole ? wholeOf(after, { stored, packs, changed, gone }) : textsOf(changed);
  const set: Record<string, string> = {};
  for (const name in written) {
    const text = written[name];
    if (text !== undefined && text !== stored[name]) set[name] = text;
  }
  const mayGo = isWhole ? Object.keys(stored).filter((name) => name !== VERSION) : gone;
  const remove = mayGo.filter((name) => name in stored && !(name in written));
  return Object.keys(set).length === 0 && remove.length === 0 ? null : { set, remove };
}

/** The part with this name. It is mostly at the same place in both states of a record. */
function partNamed(parts: readonly RecordPart[], name: string, place: number): RecordPart | undefined {
  const there = parts[place];
  return there?.name === name ? there : parts.find((part) => part.name === name);
}

/** All fields after a change. */
export function fieldsAfter(stored: Fields, { set, remove }: FieldsChange, version: string): Fields {
  const fields: Record<string, string> = { ...stored, ...set, [VERSION]: version };
  for (const name of remove) delete fields[name];
  return fields;
}

/** All fields except the version. Unchanged fields, and those of other versions, stay as stored. */
function wholeOf(
  after: readonly RecordPart[],
  change: { stored: Fields; packs: boolean; changed: readonly RecordPart[]; gone: readonly string[] },
): Fields {
  const { stored, packs, changed, gone } = change;
  const fields: Record<string, string> = { ...unpackFields(stored), ...textsOf(changed) };
  delete fields[VERSION];
  for (const name of gone) delete fields[name];
  if (!packs) return fields;
  const plain: Record<string, string> = {};
  for (const { name, isPlain = false } of after) {
    const text = fields[name];
    if (!isPlain || text === undefined) continue;
    plain[name] = text;
    delete fields[name];
  }
  return { ...packFields(fields), ...plain };
}

function textsOf(parts: readonly RecordPart[]): Fields {
  const texts: Record<string, string> = {};
  for (const { name, text } of parts) texts[name] = text();
  return texts;
}

function isSame(one: unknown, other: unknown, levels: number): boolean {
  if (Object.is(one, other)) return true;
  if (levels === 0 || !isObject(one) || !isObject(other)) return false;
  for (const name in one) if (!isSame(one[name], other[name], levels - 1)) return false;
  for (const name in other) if (!(name in one)) return false;
  return true;
}
