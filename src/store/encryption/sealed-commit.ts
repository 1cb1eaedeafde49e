import type { DataKeys } from '../../platform/data-keys';
import type { Commit, Effect, RecordChange } from '../redis/commit';
import { KEYS } from '../keys';
import { isSealedField, isSealedHash, placeOf } from './sealed-fields';

/** Seals what commits write. Their plates are indexed as keyed hashes. */

const PLATE_TERM = 'plate:';
const HASHED_PLATE_TERM = 'plate#';
/** The range of index entries with a plate that is not hashed. */
export const plainPlates = { from: `[${PLATE_TERM}`, to: `[${PLATE_TERM}\u{10ffff}` } as const;

/** The commit as it is stored. */
export function sealCommit(commit: Commit, keys: DataKeys): Commit {
  return {
    ...commit,
    records: commit.records.map(sealingRecord(keys)),
    effects: commit.effects.map(sealingEffect(keys)),
  };
}

function sealingRecord(keys: DataKeys) {
  return (record: RecordChange): RecordChange => {
    const { key, set } = record;
    if (set === undefined || !isSealedHash(key)) return record;
    const sealed = Object.entries(set).map(([field, text]): [string, string] => [
      field,
      isSealedField(key, field) ? keys.seal(placeOf(key, field), text) : text,
    ]);
    return { ...record, set: Object.fromEntries(sealed) };
  };
}

function sealingEffect(keys: DataKeys) {
  return (effect: Effect): Effect => {
    const [command, key, ...args] = effect;
    if (command === 'HSET' && isSealedHash(key)) {
      return [
        command,
        key,
        ...args.map((arg, at) => (at % 2 === 0 ? arg : sealedArgument(keys, key, args[at - 1], arg))),
      ];
    }
    if (key !== KEYS.search && key !== KEYS.searchViolations) return effect;
    const member = String(args.at(-1));
    if (!member.startsWith(PLATE_TERM)) return effect;
    const hashed = hashedMember(keys, member);
    // A plate that was indexed before there were keys leaves the index, too.
    return command === 'ZREM' ? [command, key, hashed, member] : [command, key, ...args.slice(0, -1), hashed];
  };
}

function sealedArgument(keys: DataKeys, key: string, field: unknown, value: string | number): string | number {
  return isSealedField(key, String(field)) ? keys.seal(placeOf(key, String(field)), String(value)) : value;
}

function hashedMember(keys: DataKeys, member: string): string {
  const end = member.indexOf('\n');
  return `${hashedTerm(keys, member.slice(0, end))}${member.slice(end)}`;
}

function hashedTerm(keys: DataKeys, term: string): string {
  return `${HASHED_PLATE_TERM}${keys.hashTerm(term)}`;
}

/**
 * The beginnings of index entries that match the beginning of a term. With keys a plate is found only as a whole, or
 * where it is not sealed yet.
 */
export function storedPrefixes(keys: DataKeys | null, prefix: string): string[] {
  return keys === null || !prefix.startsWith(PLATE_TERM) ? [prefix] : [prefix, `${hashedTerm(keys, prefix)}\n`];
}
