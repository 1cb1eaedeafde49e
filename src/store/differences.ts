import type { Redis } from 'ioredis';
import { storedDifference, type DifferingReport } from '../contracts/differences';
import {
  type Difference,
  type DifferenceChoice,
  DIFFERENCES_MAX,
  othersId,
  type SeenDifference,
} from '../domain/difference';
import { kindOfReport } from '../domain/stored-tow';
import { differenceTask, differenceTaskId } from '../domain/tasks';
import { isoTimestamp } from '../domain/timestamp';
import type { DifferenceStore } from '../workflow/ports';
import { readHashes } from './batch-reads';
import type { Check, CommitPart, Effect } from './commit';
import { memberNaming, partsOfMember } from './differing-members';
import { differenceKey, differingKey, KEYS } from './keys';
import { text } from './parse';
import { mergedRows, pageOf } from './rows';
import { closingOf, keepingOpen } from './task-changes';

/**
 * Kinds of differences between the messages of the service and its document. A kind is one hash: `document`, which
 * only a decision changes, `count`, `first` and `last`. Its undecided reports are an index of their records (indexes.ts).
 */

type StoredDocument = Omit<Difference, 'id' | 'firstSeenMs' | 'lastSeenMs' | 'count'>;

/** Messages of one kind, and when they were seen. */
interface Sighting {
  readonly seen: SeenDifference;
  /** 0 for a message that was counted before. */
  readonly count: number;
  readonly nowMs: number;
}

/**
 * Counts messages. An open kind has a task after it, unless it is tolerated or a person has looked at it. `openId`: the kind,
 * unless it is expected.
 */
export async function sightingWrites(
  redis: Redis,
  sighting: Sighting,
): Promise<CommitPart & { readonly openId: string | null }> {
  const { seen } = sighting;
  const known = await redis.hget(differenceKey(seen.id), 'document');
  if (known !== null) return countingOf(redis, sighting, known);
  const others = othersId(seen.source, seen.name);
  if (seen.id !== others && (await countOf(redis, seen)) >= DIFFERENCES_MAX) {
    const asOthers = { id: others, shape: [], isTolerated: false, example: [] };
    return sightingWrites(redis, { ...sighting, seen: { source: seen.source, name: seen.name, ...asOthers } });
  }
  return creatingOf(redis, sighting);
}

async function countingOf(redis: Redis, sighting: Sighting, json: string) {
  const { seen, count, nowMs } = sighting;
  const { id } = seen;
  const document = documentOrNull(json);
  if (!document) return { checks: [isStill(id, json)], effects: countEffects(sighting), openId: id };
  if (document.decision === 'expected') return { checks: [], effects: countEffects(sighting), openId: null };
  // A person has looked at the messages that were counted.
  if (count === 0 && document.decided !== null) return { checks: [isStill(id, json)], effects: [], openId: id };
  // The task closed when a person had looked at earlier messages, or when nothing was left to do about them.
  const task = await keepingOpen(redis, differenceTask(seen), nowMs);
  const reopening = document.decided === null ? [] : [documentEffect(id, { ...document, decided: null })];
  return {
    // The report would keep its mark if the kind was decided meanwhile.
    checks: [isStill(id, json), ...task.checks],
    effects: [...countEffects(sighting), ...reopening, ...task.effects],
    openId: id,
  };
}

async function creatingOf(redis: Redis, sighting: Sighting) {
  const { seen, nowMs } = sighting;
  const { id, source, name, shape, isTolerated, example } = seen;
  const decision = isTolerated ? 'expected' : 'open';
  const document = { source, name, shape, isTolerated, example, decision, decided: null, reviewedAtMs: 0 } as const;
  const task = isTolerated ? null : await keepingOpen(redis, differenceTask(seen), nowMs);
  return {
    checks: [isStill(id, ''), ...(task?.checks ?? [])],
    effects: [
      documentEffect(id, document),
      ['HSET', differenceKey(id), 'first', nowMs] as const,
      ['ZADD', KEYS.differences, nowMs, id] as const,
      ...countEffects(sighting),
      ...(task?.effects ?? []),
    ],
    openId: isTolerated ? null : id,
  };
}

function countEffects({ seen, count, nowMs }: Sighting): Effect[] {
  const key = differenceKey(seen.id);
  if (count === 0) return [];
  return [
    ['HINCRBY', key, 'count', count],
    ['HSET', key, 'last', nowMs],
  ];
}

async function countOf(redis: Redis, { source }: SeenDifference): Promise<number> {
  const ids = await redis.zrange(KEYS.differences, '0', '-1');
  return ids.filter((id) => id.startsWith(`${source}.`)).length;
}

function documentEffect(id: string, document: StoredDocument): Effect {
  return ['HSET', differenceKey(id), 'document', JSON.stringify(document)];
}

/** Decides on a kind and closes its task; null when there is no such kind, or no task about one that was looked at. */
export async function decisionWrites(
  redis: Redis,
  { id, how, by, reason }: DifferenceChoice & { readonly id: string },
  nowMs: number,
): Promise<(CommitPart & { readonly difference: Difference }) | null> {
  const fields = await redis.hgetall(differenceKey(id));
  const difference = differenceIn(id, fields);
  const { document: json } = fields;
  if (!difference || json === undefined) return null;
  const task = await closingOf(redis, differenceTaskId(id), nowMs);
  if (how === 'looked_at' && !task) return null;
  const decided = { by, atMs: nowMs, reason };
  // A worker may have accepted an answer by a later time before these reads, and does not change the document.
  const reviewedAtMs = Math.max(nowMs, difference.lastSeenMs);
  const change = how === 'expected' ? ({ decision: 'expected', decided } as const) : { decided, reviewedAtMs };
  const countCheck: Check = { key: differenceKey(id), field: 'count', value: fields['count'] ?? '' };
  return {
    // An answer that is accepted meanwhile would stay questioned after its task is closed.
    checks: [isStill(id, json), ...(how === 'looked_at' ? [countCheck] : []), ...(task?.checks ?? [])],
    effects: [
      documentEffect(id, { ...documentOf(json), ...change }),
      ['SADD', KEYS.releasing, releasedDifference(id)],
      ...(task?.effects ?? []),
    ],
    difference: { ...difference, ...change },
  };
}

/** `json`: the document of the kind, '' for none. */
export function isStill(id: string, json: string): Check {
  return { key: differenceKey(id), field: 'document', value: json };
}

/**
 * Until when messages of these kinds are decided, ms: Infinity for expected ones; and the checks that it is still so. A
 * kind that the running transaction creates is not stored yet, and open.
 */
export async function decidedUntil(redis: Redis, ids: readonly string[]) {
  const documents = await Promise.all(
    ids.map(async (id) => ({ id, json: await redis.hget(differenceKey(id), 'document') })),
  );
  return {
    until: new Map(documents.map(({ id, json }) => [id, untilIn(json)])),
    checks: documents.map(({ id, json }) => isStill(id, json ?? '')),
  };
}

/** The same, from the document of a kind. A document that this version cannot read counts as undecided. */
export function untilIn(json: string | null): number {
  const document = json === null ? null : documentOrNull(json);
  if (!document) return 0;
  return document.decision === 'expected' ? Infinity : document.reviewedAtMs;
}

const RELEASED_PREFIX = 'difference ';

/** The member of the set of circuits to release that names a kind. */
export function releasedDifference(id: string): string {
  return `${RELEASED_PREFIX}${id}`;
}

/** The kind that a member of the set of circuits to release names; null when it names a circuit. */
export function differenceToRelease(name: string): string | null {
  return name.startsWith(RELEASED_PREFIX) ? name.slice(RELEASED_PREFIX.length) : null;
}

/** The differences for lists and pages. */
export function createDifferenceStore(redis: Redis): DifferenceStore {
  const readMany = async (ids: readonly string[]): Promise<readonly Difference[]> => {
    const hashes = await readHashes(redis, ids.map(differenceKey));
    return hashes.flatMap((fields, at) => differenceIn(ids[at] ?? '', fields) ?? []);
  };
  return {
    read: async (id) => (await readMany([id]))[0] ?? null,
    async all() {
      const ids = await redis.zrange(KEYS.differences, '0', '-1');
      return readMany(ids.map((id) => text(id, 'a difference')));
    },
    async reports(id, { order = 'newest', ...paging }) {
      const { refs, nextCursor } = await pageOf(mergedRows(redis, [differingKey(id)], order), paging);
      const scores = refs.length === 0 ? [] : await redis.zmscore(differingKey(id), ...refs);
      const items = refs.map((ref, at) => differingReportOf(ref, Number(scores[at] ?? 0)));
      return { items, nextCursor };
    },
    async acceptedAt(id, report) {
      const score = await redis.zscore(differingKey(id), memberNaming(report));
      return score === null ? null : isoTimestamp(Number(score));
    },
    waiting: (id) => redis.zcard(differingKey(id)),
  };
}

function differingReportOf(member: string, atMs: number): DifferingReport {
  const { towingReferenceId, reportId, violationId } = partsOfMember(member);
  return {
    accepted_at: isoTimestamp(atMs),
    towing_reference_id: towingReferenceId,
    report_id: reportId,
    kind: kindOfReport(reportId),
    violation_id: violationId,
  };
}

function differenceIn(id: string, fields: Readonly<Record<string, string>>): Difference | null {
  const { document, count = '0', first = '0', last = '0' } = fields;
  if (document === undefined) return null;
  const stored = documentOf(document);
  return { ...stored, id, count: Number(count), firstSeenMs: Number(first), lastSeenMs: Number(last) };
}

function documentOf(json: string): StoredDocument {
  return storedDifference.parse(JSON.parse(json));
}

/** Null when it is damaged, or of a later version. Sending must go on then. */
export function documentOrNull(json: string): StoredDocument | null {
  try {
    return documentOf(json);
  } catch {
    return null;
  }
}
