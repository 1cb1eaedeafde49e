import type { Redis } from 'ioredis';
import { giveBack } from '../../domain/outbox/give-back';
import { UnusableRecord } from '../../domain/outbox/unusable-record';
import { recordIdOf, type OutboxRecord, type StoredTow, type StoredViolation } from '../../domain/outbox/outbox-record';
import { dueAtMs } from '../../domain/outbox/outbox-schedule';
import { renewLease, type LeaseRight } from '../../domain/outbox/lease';
import { completeCleanup } from '../../domain/outbox/settle-entry';
import { isApplied, settleAttempt, type StoredResult } from '../../domain/outbox/settle-attempt';
import type { Clock } from '../../platform/clock';
import { TOWS, VIOLATIONS, type OutboxKind } from '../../workflow/outbox/outbox-kinds';
import type { Claim, Outbox, EndedLease } from '../../workflow/outbox/outbox-port';
import { orderKeyOf } from '../../workflow/transaction-port';
import { ClaimAttempt, type ClaimSettings } from './claims';
import { givePermitBack } from './permits';
import { RECORD_KEYS } from './record-kinds';
import { recordsOf } from './records';
import type { RecordTransaction } from '../redis/transaction';
import {
  OUTCOME_REPEAT_MS,
  RENEW_REPEAT_MS,
  isTransient,
  untilUsable,
  USABLE_REPEAT_MS,
} from '../redis/until-answered';

/** The outboxes of tows. Their entries are reports. */
export function createTowOutbox(redis: Redis, clock: Clock, settings: ClaimSettings): Outbox<StoredTow> {
  return createOutbox(redis, clock, TOWS, settings);
}

/** The outboxes of violations. Each has one entry, the violation itself. */
export function createViolationOutbox(redis: Redis, clock: Clock, settings: ClaimSettings): Outbox<StoredViolation> {
  return createOutbox(redis, clock, VIOLATIONS, settings);
}

/** When the permit of the ended lease was granted, if no call has used it; else null. */
interface UnusedPermit {
  readonly unusedPermitAtMs: number | null;
}

const GONE = { kind: 'gone', next: null, unusedPermitAtMs: null } as const;

function createOutbox<R extends OutboxRecord>(
  redis: Redis,
  clock: Clock,
  kind: OutboxKind<R>,
  settings: ClaimSettings,
): Outbox<R> {
  const records = recordsOf(redis);
  const { giveUpAfterMs } = settings;

  /** Ends a lease with `settle`. With `claimsNext`, the same commit claims the next work of the record. */
  async function endLease(
    right: LeaseRight<R>,
    claimsNext: boolean,
    settle: (
      transaction: RecordTransaction,
      record: R,
    ) => Promise<{ readonly kind: StoredResult; readonly isPermitSpent: boolean }>,
  ): Promise<EndedLease<R>> {
    const id = recordIdOf(right.record);
    const next = new ClaimAttempt(redis, clock, { settings, whenFull: true });
    const decide = async (transaction: RecordTransaction): Promise<EndedLease<R> & UnusedPermit> => {
      const record = await kind.load(transaction, id);
      if (!record) return GONE;
      if (record.lease?.token === next.leaseToken) {
        // This commit was already written, its reply was lost, and the record has changed since.
        const again = await next.decide(transaction, record);
        return { kind: 'done', next: again, unusedPermitAtMs: null };
      }
      const permitAtMs = record.lease?.permitAtMs ?? null;
      const settled = await settle(transaction, record);
      const dueMs = dueAtMs(record, transaction.nowMs);
      const isDue = isApplied(settled.kind) && dueMs !== null && dueMs <= transaction.nowMs;
      return {
        kind: settled.kind,
        next: isDue && claimsNext ? await next.decide(transaction, record) : null,
        unusedPermitAtMs: settled.kind === 'done' && !settled.isPermitSpent ? permitAtMs : null,
      };
    };
    const options = { repeatMs: OUTCOME_REPEAT_MS, usesKept: true, whenFull: true };
    const { unusedPermitAtMs, ...stored } = await records
      .transact(orderKeyOf(kind.name, id), decide, options)
      .catch(async (error: unknown) => {
        if (claimsNext && !isTransient(error)) {
          // An answer must not be lost because the next claim fails. In an unusable record it cannot be stored either.
          const ending = error instanceof UnusableRecord ? [] : [endLease(right, false, settle)];
          await Promise.allSettled([...ending, next.end(kind.name, null)]);
        }
        throw error;
      });
    if (unusedPermitAtMs !== null) await givePermitBack(redis, kind.name, unusedPermitAtMs);
    await next.end(kind.name, stored.next);
    return stored;
  }

  return {
    async claim(id) {
      const attempt = new ClaimAttempt(redis, clock, { settings });
      const claimed = await records.transact(
        orderKeyOf(kind.name, id),
        async (transaction): Promise<Claim<R>> => {
          const [record] = await Promise.all([kind.load(transaction, id), transaction.preloadCircuits()]);
          if (record) return attempt.decide(transaction, record);
          // A schedule entry without a record is removed. The commit is stale if the record is stored meanwhile.
          transaction.effect(['ZREM', RECORD_KEYS[kind.name].due, id]);
          return { kind: 'gone' };
        },
        { repeatMs: OUTCOME_REPEAT_MS },
      );
      await attempt.end(kind.name, claimed);
      return claimed;
    },

    settle(claimed, result, claimsNext = false) {
      const store = () =>
        endLease(claimed, claimsNext, async (transaction, record) => {
          const stored = settleAttempt(record, claimed, result, {
            nowMs: transaction.nowMs,
            giveUpAfterMs,
            keepAnswer: await kind.answerKeeper(transaction, { record, result }),
            circuits: await transaction.circuitsForResult(),
            effects: transaction.circuitEffects,
          });
          if (result.difference && isApplied(stored)) await transaction.recordDifference(result.difference);
          return { kind: stored, isPermitSpent: result.isPermitSpent };
        });
      // During a change of data keys, another process may have written the record under a key that this one reads later.
      const isAccepted = result.verdict.next === 'accepted';
      return isAccepted ? untilUsable(store, { clock, limitMs: USABLE_REPEAT_MS }) : store();
    },

    renew: (claimed) =>
      records.transact(
        orderKeyOf(kind.name, recordIdOf(claimed.record)),
        async (transaction) => {
          const record = await kind.load(transaction, recordIdOf(claimed.record));
          return (
            record !== null && renewLease(record, claimed, { nowMs: transaction.nowMs, leaseMs: settings.leaseMs })
          );
        },
        { repeatMs: RENEW_REPEAT_MS, usesKept: true },
      ),

    giveBack: (right, why, claimsNext = false) =>
      endLease(right, claimsNext, ({ nowMs }, record) =>
        Promise.resolve({ kind: giveBack(record, right, why, { nowMs, giveUpAfterMs }), isPermitSpent: false }),
      ),

    async completeCleanup(seen) {
      const id = recordIdOf(seen);
      await records.transact(
        orderKeyOf(kind.name, id),
        async (transaction) => {
          const record = await kind.load(transaction, id);
          if (!record) return;
          completeCleanup(record, seen);
          transaction.schedule(record);
        },
        { whenFull: true },
      );
    },
  };
}
