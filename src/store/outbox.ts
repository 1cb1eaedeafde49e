import type { Redis } from 'ioredis';
import { noteProbe } from '../domain/circuits';
import { giveBack } from '../domain/give-back';
import { recordIdOf, type OutboxRecord, type StoredTow, type StoredViolation } from '../domain/outbox-record';
import { dueAtMs } from '../domain/outbox-schedule';
import { endClearingUp } from '../domain/settle-entry';
import { settleAttempt, type Settled } from '../domain/settle-attempt';
import type { Clock } from '../platform/clock';
import type { Claim, Claimant, Leased, Outbox, Stored } from '../workflow/outbox-port';
import { ClaimAttempt, type ClaimSettings } from './claims';
import { TOWS, VIOLATIONS, type OutboxKind } from './outbox-kinds';
import { givePermitBack, type RateLimit } from './permits';
import { recordsOf } from './records';
import type { Transaction } from './transaction';
import { ACK_REPEAT_MS, CLAIM_REPEAT_MS } from './until-answered';

export interface TowOutboxSettings extends Omit<ClaimSettings, 'rateLimit' | 'proofMs' | 'checksTicket'> {
  /** Calls that all tows together may make in any window; limit 0 = any number. */
  readonly towBudget: RateLimit;
}

/** The outboxes of the tows: their reports. */
export function createTowOutbox(redis: Redis, clock: Clock, settings: TowOutboxSettings): Outbox<StoredTow> {
  const rateLimit = settings.towBudget;
  return createOutbox(redis, clock, TOWS, { ...settings, rateLimit, proofMs: 0, checksTicket: false });
}

export interface ViolationOutboxSettings extends Omit<ClaimSettings, 'rateLimit' | 'unknownGraceMs'> {
  /** Violations that may be sent in any window; limit 0 = any number. */
  readonly violationBudget: RateLimit;
}

/** The outboxes of the violations: each has one entry, the violation itself. */
export function createViolationOutbox(
  redis: Redis,
  clock: Clock,
  settings: ViolationOutboxSettings,
): Outbox<StoredViolation> {
  return createOutbox(redis, clock, VIOLATIONS, {
    ...settings,
    rateLimit: settings.violationBudget,
    unknownGraceMs: 0,
  });
}

/** A right that was given back, as far as its commit knows. */
interface GivenBack<R extends OutboxRecord> extends Stored<R> {
  /** When its permit was granted, if it is free again. */
  readonly unusedPermitAtMs: number | null;
}

const GONE = { kind: 'gone', more: false, next: null, unusedPermitAtMs: null } as const;

function createOutbox<R extends OutboxRecord>(
  redis: Redis,
  clock: Clock,
  kind: OutboxKind<R>,
  settings: ClaimSettings,
): Outbox<R> {
  const records = recordsOf(redis);
  const { giveUpAfterMs } = settings;
  const lineOf = (id: string) => `${kind.name} ${id}`;

  /** Decides with `settle` on the record of a right, which ends; with a claimant, claims what it needs next. */
  async function endRight(
    right: Leased<R>,
    claimant: Claimant | undefined,
    settle: (
      transaction: Transaction,
      record: R,
    ) => Promise<{ readonly kind: Settled; readonly isPermitSpent: boolean }>,
  ): Promise<Stored<R>> {
    const id = recordIdOf(right.record);
    const next = new ClaimAttempt(redis, clock, { settings, hasToken: claimant?.hasToken ?? true });
    const decide = async (transaction: Transaction): Promise<GivenBack<R>> => {
      const record = await kind.load(transaction, id);
      if (!record) return GONE;
      if (record.lease?.token === next.leaseToken) {
        // The reply of this very commit was lost, and the record has changed since.
        const again = await next.decide(transaction, record);
        return { kind: 'done', more: true, next: again, unusedPermitAtMs: null };
      }
      const permitAtMs = record.lease?.permitAtMs ?? null;
      const settled = await settle(transaction, record);
      const dueMs = dueAtMs(record, transaction.nowMs);
      const isOurs = settled.kind === 'done' || settled.kind === 'late_accepted';
      const more = isOurs && dueMs !== null && dueMs <= transaction.nowMs;
      return {
        kind: settled.kind,
        more,
        next: more && claimant ? await next.decide(transaction, record) : null,
        unusedPermitAtMs: settled.kind === 'done' && !settled.isPermitSpent ? permitAtMs : null,
      };
    };
    for (;;) {
      const options = { repeatMs: ACK_REPEAT_MS, usesKept: true, drains: true };
      const reply = await records.transact(lineOf(id), decide, options);
      // Another record has changed that the decision was made on.
      if (reply.kind === 'failed') continue;
      const { unusedPermitAtMs, ...stored } = reply.value;
      if (unusedPermitAtMs !== null) await givePermitBack(redis, kind.name, unusedPermitAtMs);
      await next.end(kind.name, stored.next);
      return stored;
    }
  }

  return {
    async claim(id, claimant = { hasToken: true }) {
      const attempt = new ClaimAttempt(redis, clock, { settings, ...claimant });
      const reply = await records.transact(
        lineOf(id),
        async (transaction): Promise<Claim<R>> => {
          const record = await kind.load(transaction, id);
          if (record) return attempt.decide(transaction, record);
          // Nothing is scheduled for what is not there, unless it is stored meanwhile.
          transaction.effect(['ZREM', kind.schedule, id]);
          return { kind: 'gone' };
        },
        { repeatMs: CLAIM_REPEAT_MS },
      );
      if (reply.kind === 'failed') throw new Error('a claim has no checks');
      await attempt.end(kind.name, reply.value);
      return reply.value;
    },

    ack: (claimed, result, claimant) =>
      endRight(claimed, claimant, async (transaction, record) => ({
        kind: settleAttempt(record, claimed, result, {
          nowMs: transaction.nowMs,
          giveUpAfterMs,
          keepAnswer: await kind.answerKeeper(transaction, { record, result }),
          circuits: await transaction.circuits(),
          effects: transaction.circuitEffects,
        }),
        isPermitSpent: result.isPermitSpent,
      })),

    giveBack: (leased, why, claimant) =>
      endRight(leased, claimant, ({ nowMs }, record) =>
        Promise.resolve({ kind: giveBack(record, leased, why, { nowMs, giveUpAfterMs }), isPermitSpent: false }),
      ),

    async finished(seen) {
      const id = recordIdOf(seen);
      await records.transact(
        lineOf(id),
        async (transaction) => {
          const record = await kind.load(transaction, id);
          if (!record) return;
          endClearingUp(record, seen);
          transaction.schedule(record);
        },
        { drains: true },
      );
    },

    async probed({ service, delayMs }) {
      await records.transact('circuits', async (transaction) => {
        const circuits = await transaction.circuits();
        noteProbe(circuits, { isAlive: service === 'alive', delayMs }, transaction.nowMs, transaction.circuitEffects);
      });
    },
  };
}
