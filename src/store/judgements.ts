import type { Redis } from 'ioredis';
import { storedJudgement, type StoredJudgement } from '../contracts/judgements';
import { judgementJobId } from '../contracts/jobs';
import { jsonText } from '../contracts/stored';
import { shownDecision } from '../domain/difference';
import { differenceTask, differenceTaskId } from '../domain/tasks';
import { done, refused, transactOnce } from '../workflow/action-result';
import { JUDGEMENT_RUNNING, type JudgementStore } from '../workflow/judgement-port';
import { createDifferenceStore } from './differences';
import { differingDeliveriesKey, judgementKey, KEYS } from './keys';
import { mergedRows, pageOf } from './rows';
import { recordsOf } from './records';
import { wellFormedJson } from './scripts';
import { openGeneralTask } from './tasks';
import type { RecordTransaction } from './transaction';

/** Runs that judge deliveries again, one record per kind of difference. A delivery that is acted on leaves its list. */

/** A worker that has recorded nothing for this long is replaced. */
const TAKE_OVER_MS = 15_000;

const storedDocument = jsonText(storedJudgement);

interface LoadedJudgement {
  readonly version: string;
  readonly judgement: StoredJudgement | null;
}

export function createJudgementStore(redis: Redis): JudgementStore {
  const records = recordsOf(redis);
  const load = async (id: string): Promise<LoadedJudgement> => {
    const [version, document] = await redis.hmget(judgementKey(id), 'v', 'document');
    return { version: version ?? '', judgement: document ? storedDocument.parse(document) : null };
  };
  const write = (
    transaction: RecordTransaction,
    { id, version, judgement }: { id: string; version: string; judgement: StoredJudgement },
  ) => {
    const set = { document: wellFormedJson(judgement) };
    transaction.change({ key: judgementKey(id), expected: version, set });
    const member = judgementJobId(id);
    const isOver = judgement.endedAtMs !== null;
    const atMs = judgement.after === null ? transaction.nowMs : transaction.nowMs + TAKE_OVER_MS;
    transaction.effect(isOver ? ['ZREM', KEYS.dueBulk, member] : ['ZADD', KEYS.dueBulk, atMs, member]);
    transaction.publish('judgement.changed');
  };
  const count = (id: string, untilMs: number | '+inf') => redis.zcount(differingDeliveriesKey(id), '-inf', untilMs);
  return {
    async read(id) {
      const { judgement } = await load(id);
      return judgement && { ...judgement, remaining: await count(id, judgement.startedAtMs) };
    },

    waiting: (id) => count(id, '+inf'),

    start(id, { actor, audit, idempotency }) {
      return transactOnce(records, { orderKey: judgementKey(id), idempotency }, async (transaction) => {
        const { version, judgement } = await load(id);
        if (judgement?.endedAtMs === null) return refused(JUDGEMENT_RUNNING);
        const startedAtMs = transaction.nowMs;
        const total = await count(id, startedAtMs);
        const { id: actorId, name, role } = actor;
        const by = { id: actorId, name, role };
        write(transaction, { id, version, judgement: { by, startedAtMs, endedAtMs: null, total, after: null } });
        transaction.audit(audit);
        return done(null);
      });
    },

    async next(id, limit) {
      const { version, judgement } = await load(id);
      if (!judgement || judgement.endedAtMs !== null) {
        // The version is checked, so that the schedule of a run that was started meanwhile stays.
        await records.commit({
          records: [{ key: judgementKey(id), expected: version }],
          effects: [['ZREM', KEYS.dueBulk, judgementJobId(id)]],
        });
        return null;
      }
      const { after, startedAtMs } = judgement;
      const rows = mergedRows(redis, [differingDeliveriesKey(id)], 'oldest');
      const { refs, nextCursor } = await pageOf(rows, { cursor: after, limit }, (found) =>
        Promise.resolve(found.filter(({ place }) => place.score <= startedAtMs)),
      );
      return { deliveryIds: refs, from: after, next: nextCursor };
    },

    async advance(id, { from, next }) {
      const continues = await records.transact(judgementKey(id), async (transaction) => {
        const { version, judgement } = await load(id);
        // Otherwise another worker has come further, and continues.
        if (!judgement || judgement.endedAtMs !== null || judgement.after !== from) return false;
        const isOver = next === null;
        const changed = isOver ? { endedAtMs: transaction.nowMs } : { after: next };
        write(transaction, { id, version, judgement: { ...judgement, ...changed } });
        if (isOver && (await count(id, '+inf')) === 0) await transaction.closeGeneralTask(differenceTaskId(id));
        return !isOver;
      });
      // A webhook with this difference may have come between the count and the commit.
      if (!continues && (await count(id, '+inf')) > 0) await reopenTask(redis, id);
      return continues;
    },
  };
}

/** Opens the task of an open kind unless it is open. */
async function reopenTask(redis: Redis, id: string): Promise<void> {
  const difference = await createDifferenceStore(redis).read(id);
  if (difference && shownDecision(difference) === 'open') await openGeneralTask(redis, differenceTask(difference));
}
