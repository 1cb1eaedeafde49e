import type { Redis } from 'ioredis';
import { storedJudgement, type StoredJudgement } from '../contracts/judgements';
import { judgementJobId } from '../contracts/jobs';
import { jsonText } from '../domain/stored';
import { transactOnce } from '../workflow/action-result';
import type { JudgementStore } from '../workflow/judgement-port';
import type { Effect } from './commit';
import { differingDeliveriesKey, judgementKey, KEYS } from './keys';
import { mergedRows, pageOf } from './rows';
import { recordsOf } from './records';
import { wellFormedJson } from './scripts';
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
  const count = (id: string, untilMs: number) =>
    redis.zcount(differingDeliveriesKey(id), '-inf', untilMs === Infinity ? '+inf' : untilMs);
  return {
    async read(id) {
      const { judgement } = await load(id);
      return judgement && { ...judgement, remaining: await count(id, judgement.startedAtMs) };
    },

    waiting: (id, receivedUntilMs = Infinity) => count(id, receivedUntilMs),

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
      return { deliveryIds: refs, startedAtMs, from: after, next: nextCursor };
    },

    change: (id, idempotency, decide) =>
      transactOnce(records, { orderKey: judgementKey(id), idempotency }, async (transaction: RecordTransaction) => {
        const { version, judgement: last } = await load(id);
        const save = (judgement: StoredJudgement) => {
          const set = { document: wellFormedJson(judgement) };
          transaction.change({ key: judgementKey(id), expected: version, set });
          transaction.effect(scheduleOf(id, judgement, last, transaction.nowMs));
          transaction.publish('judgement.changed');
        };
        return decide({ transaction, last, save });
      }),
  };
}

/** A run is due when it starts, and later when its worker has recorded nothing for long. */
function scheduleOf(id: string, after: StoredJudgement, before: StoredJudgement | null, nowMs: number): Effect {
  const member = judgementJobId(id);
  if (after.endedAtMs !== null) return ['ZREM', KEYS.dueBulk, member];
  return ['ZADD', KEYS.dueBulk, before?.endedAtMs === null ? nowMs + TAKE_OVER_MS : nowMs, member];
}
