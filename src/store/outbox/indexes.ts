import { CIRCUIT_NAMES, type CircuitName } from '../../domain/vocabulary';
import { ENTRY_POLICY, type Entry } from '../../domain/outbox/entry';
import { headOf } from '../../domain/outbox/outbox';
import { memberOf, type OutboxRecord, type StoredTow, type StoredViolation } from '../../domain/outbox/outbox-record';
import { OVERDUE_STATES, stateSinceMs, unsettledSinceMs } from '../../domain/outbox/overdue';
import { searchTerms, violationSearchTerms, textTerm } from '../../domain/search';
import type { Effect } from '../redis/commit';
import {
  blockedKey,
  KEYS,
  probesKey,
  towsInStateKey,
  towsOfCrewKey,
  towsSinceKey,
  unsentTowsKey,
  unsentViolationsKey,
  violationsInStateKey,
  crewsKey,
} from '../keys';
import { oneLess, taskEffects, tasksOf } from '../ops/task-effects';

/**
 * The index entries of a record: a pure function of the record. A commit writes the difference between the entries
 * before and after, so that no index is written separately.
 */

/** An entry of an index, not of an outbox: a member of a sorted set; without a score, of a set. */
interface IndexEntry {
  readonly key: string;
  readonly member: string;
  readonly score: number | null;
}

/** All search terms of a record, including those of its past. */
export function termsOf(record: OutboxRecord): readonly string[] {
  const current =
    record.kind === 'violation'
      ? [
          ...violationSearchTerms(record.violation, record.reference),
          ...[...record.references, ...record.tows].map(textTerm),
        ]
      : record.tow
        ? searchTerms(record.tow)
        : [];
  return [...new Set([...record.terms, ...current])];
}

/** True if the indexed facts of two states of a record are the same. */
export function hasSameFacts(before: OutboxRecord, after: OutboxRecord): boolean {
  if (before.kind === 'tow')
    return after.kind === 'tow' && before.tow === after.tow && before.requestedAtMs === after.requestedAtMs;
  if (after.kind === 'tow') return false;
  const isSameList = (one: readonly string[], other: readonly string[]) =>
    one.length === other.length && one.every((item, at) => item === other[at]);
  return (
    before.violation === after.violation &&
    before.reference === after.reference &&
    isSameList(before.references, after.references) &&
    isSameList(before.tows, after.tows)
  );
}

/** The effects that change the indexes from one state of a record to another; null = no record. */
export function indexEffects(before: OutboxRecord | null, after: OutboxRecord | null): Effect[] {
  // Most entries follow from facts, and most commits change no fact.
  const withFacts = !before || !after || before.terms.length !== after.terms.length || !hasSameFacts(before, after);
  const was = new Map(indexEntriesOf(before, withFacts).map((entry) => [nameOf(entry), entry]));
  const effects: Effect[] = [];
  for (const entry of indexEntriesOf(after, withFacts)) {
    const { key, member, score } = entry;
    const name = nameOf(entry);
    // A closing circuit empties its sets before the records change. A record that is blocked again must be added again.
    const isKept = score !== null && was.get(name)?.score === score;
    was.delete(name);
    if (!isKept) effects.push(score === null ? ['SADD', key, member] : ['ZADD', key, score, member]);
  }
  for (const { key, member, score } of was.values()) effects.push([score === null ? 'SREM' : 'ZREM', key, member]);
  return [...effects, ...taskEffects(tasksOf(before), tasksOf(after)), ...crewEffects(crewOf(before), crewOf(after))];
}

function nameOf({ key, member }: IndexEntry): string {
  return `${key}\n${member}`;
}

function indexEntriesOf(record: OutboxRecord | null, withFacts: boolean): IndexEntry[] {
  if (!record) return [];
  const others = [...circuitEntries(record), ...withheldEntries(record)];
  if (record.kind === 'violation') {
    return [...(withFacts ? termEntries(record) : []), ...violationEntries(record), ...others];
  }
  return [...(withFacts ? [...factEntries(record), ...termEntries(record)] : []), ...towEntries(record), ...others];
}

/** Withheld records that wait for a decision. */
function withheldEntries(record: OutboxRecord): IndexEntry[] {
  if (record.withheld !== 'held') return [];
  const score = record.kind === 'tow' ? record.requestedAtMs : record.createdAtMs;
  return [{ key: KEYS.withheld, member: memberOf(record), score }];
}

function termEntries(record: OutboxRecord): IndexEntry[] {
  const [key, id] = record.kind === 'tow' ? [KEYS.search, record.ref] : [KEYS.searchViolations, record.id];
  if (record.kind === 'tow' && !record.tow) return [];
  return termsOf(record).map((term) => ({ key, member: `${term}\n${id}`, score: 0 }));
}

function factEntries({ ref, tow, requestedAtMs }: StoredTow): IndexEntry[] {
  if (!tow) return [];
  const at = (key: string, score: number): IndexEntry => ({ key, member: ref, score });
  return [
    at(KEYS.indexTows, requestedAtMs),
    at(towsInStateKey(tow.state), requestedAtMs),
    ...OVERDUE_STATES.filter((state) => state === tow.state).map((state) =>
      at(towsSinceKey(state), stateSinceMs(tow) ?? requestedAtMs),
    ),
    at(towsOfCrewKey(tow.dispatch.assignment?.crew ?? ''), requestedAtMs),
  ];
}

function towEntries({ ref, tow, entries, tasks, overSinceMs, withheld }: StoredTow): IndexEntry[] {
  if (!tow) return [];
  const at = (key: string, score: number): IndexEntry => ({ key, member: ref, score });
  const unsentSinceMs = unsettledSinceMs({ entries, withheld });
  const opened = Object.values(tasks).map(({ openedAtMs }) => openedAtMs);
  return [
    ...(unsentSinceMs === null ? [] : [at(unsentTowsKey, unsentSinceMs)]),
    ...(opened.length > 0 ? [at(KEYS.attention, Math.min(...opened))] : []),
    ...(overSinceMs === null ? [] : [at(KEYS.retireTows, overSinceMs)]),
  ];
}

function violationEntries(record: StoredViolation): IndexEntry[] {
  const { id, createdAtMs, entries, overSinceMs, withheld } = record;
  const unsentSinceMs = unsettledSinceMs({ entries, withheld });
  const at = (key: string, score: number): IndexEntry => ({ key, member: id, score });
  const [entry] = entries;
  return [
    at(KEYS.indexViolations, createdAtMs),
    ...(entry ? [at(violationsInStateKey(entry.state), createdAtMs)] : []),
    ...(unsentSinceMs === null ? [] : [at(unsentViolationsKey, unsentSinceMs)]),
    ...(overSinceMs === null ? [] : [at(KEYS.retireViolations, overSinceMs)]),
  ];
}

/**
 * Adds a record to the set of its circuit again, even if the record did not change: it was removed from the set when
 * the circuit closed, and the circuit has opened again.
 */
export function blockedEffects(record: OutboxRecord): Effect[] {
  return circuitEntries(record).map(({ key, member }) => ['SADD', key, member]);
}

/** The entries of a blocked record: among the blocked members, and among those that may probe the circuit. */
function circuitEntries(record: OutboxRecord): IndexEntry[] {
  const head = headOf(record.entries);
  const name = head && head.blockedSinceMs !== null ? circuitNamed(head.waitsFor) : null;
  if (!head || !name) return [];
  const member = memberOf(record);
  const blocked = { key: blockedKey(name), member, score: null };
  return ENTRY_POLICY[head.kind].safeToRepeat ? [blocked, { key: probesKey(name), member, score: null }] : [blocked];
}

function circuitNamed(waitsFor: Entry['waitsFor']): CircuitName | null {
  return CIRCUIT_NAMES.find((name) => name === waitsFor) ?? null;
}

function crewOf(record: OutboxRecord | null): string | null {
  if (record?.kind !== 'tow' || !record.tow) return null;
  return record.tow.dispatch.assignment?.crew ?? '';
}

/** Counts the tows of each crew; '' means no crew. */
function crewEffects(before: string | null, after: string | null): Effect[] {
  if (before === after) return [];
  return [...(before ? oneLess(crewsKey, before) : []), ...(after ? [['ZINCRBY', crewsKey, 1, after] as const] : [])];
}
