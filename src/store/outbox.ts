import type { Redis } from 'ioredis';
import { noteProbe } from '../domain/circuits';
import { openOutcomes } from '../domain/entry';
import { settleAttempt } from '../domain/settle-attempt';
import { dueAtMs } from '../domain/outbox-schedule';
import type { Clock } from '../platform/clock';
import type { Claim, OutboxStore } from '../workflow/outbox-port';
import { ClaimAttempt, claimRecord, type Claimed, type ClaimSettings } from './claims';
import type { RateLimit } from './permits';
import { KEYS } from './keys';
import { recordsOf } from './records';
import type { StoredTow } from '../domain/outbox-record';
import { ACK_REPEAT_MS } from './until-answered';

export interface OutboxSettings extends Omit<ClaimSettings, 'rateLimit' | 'proofMs' | 'checksTicket'> {
  /** Calls that all tows together may make in any window; limit 0 = any number. */
  readonly towBudget: RateLimit;
}

/** Claim and ack of the reports of tows. */
export function createOutboxStore(redis: Redis, clock: Clock, settings: OutboxSettings): OutboxStore {
  const records = recordsOf(redis);
  const claiming = {
    hasToken: true,
    settings: { ...settings, rateLimit: settings.towBudget, proofMs: 0, checksTicket: false },
  };
  return {
    async claim(ref) {
      const claimed = await claimRecord(redis, clock, {
        line: `tow ${ref}`,
        due: ['ZREM', KEYS.dueTows, ref],
        load: async (transaction) => {
          const record = await transaction.tow(ref);
          return record.tow ? record : null;
        },
        ...claiming,
      });
      return claimed ? claimOf(ref, claimed) : { kind: 'gone' };
    },

    async ack(claimed, result, goesOn = false) {
      const { ref } = claimed;
      const next = new ClaimAttempt(redis, clock, claiming);
      const reply = await records.transact(
        `tow ${ref}`,
        async (transaction) => {
          const record = await transaction.tow(ref);
          if (!record.tow) return { kind: 'gone', more: false, next: null } as const;
          if (record.lease?.token === next.leaseToken) {
            // The reply of this very commit was lost, and the record has changed since.
            return { kind: 'done', more: true, next: await next.decide(transaction, record) } as const;
          }
          const { nowMs } = transaction;
          const kind = settleAttempt(record, claimed, result, {
            nowMs,
            giveUpAfterMs: settings.giveUpAfterMs,
            circuits: await transaction.circuits(),
            effects: transaction.circuitEffects,
            keepAnswer: () => {},
          });
          const dueMs = dueAtMs(record, nowMs);
          const more = kind === 'done' && dueMs !== null && dueMs <= nowMs;
          return { kind, more, next: more && goesOn ? await next.decide(transaction, record) : null } as const;
        },
        { repeatMs: ACK_REPEAT_MS, usesKept: true, drains: true },
      );
      if (reply.kind === 'failed') throw new Error('an ack has no checks');
      const { kind, more, next: claimedNext } = reply.value;
      await next.end('tow', claimedNext);
      return { kind, more, next: claimedNext && claimOf(ref, claimedNext) };
    },

    // The claim has opened the task already.
    handOver: () => Promise.resolve(),

    async probed({ service, delayMs }) {
      await records.transact('circuits', async (transaction) => {
        const circuits = await transaction.circuits();
        noteProbe(circuits, { isAlive: service === 'alive', delayMs }, transaction.nowMs, transaction.circuitEffects);
      });
    },
  };
}

function claimOf(ref: string, claimed: Claimed<StoredTow>): Claim {
  const { step, leaseToken, attemptId, circuits } = claimed;
  switch (step.kind) {
    case 'idle':
    case 'held':
      return { kind: step.kind };
    case 'wait':
    case 'busy':
      return { kind: step.kind, untilMs: step.untilMs };
    case 'probe':
      return { kind: 'probe', failedProbes: step.failedProbes };
    case 'escalated': {
      const { seq, id, kind, attempts } = step.entry;
      if (kind === 'violation' || step.why === 'unchecked') throw new Error('not the entry of a tow');
      return { kind: 'hand_over', seq, reportId: id, reportKind: kind, why: step.why, attempts };
    }
    case 'send': {
      const { entry } = step;
      if (entry.kind === 'violation') throw new Error('not the entry of a tow');
      return {
        kind: 'send',
        ref,
        seq: entry.seq,
        reportId: entry.id,
        reportKind: entry.kind,
        body: entry.body,
        revision: entry.revision,
        attemptId,
        leaseToken,
        attempt: entry.attempts,
        failures: entry.failures,
        notFound: entry.notFound,
        unanswered: openOutcomes(entry),
        connectionFailures: circuits.open.connection?.failures ?? 0,
        failedProbes: circuits.open.outage?.failures ?? 0,
        connectionLosses: entry.connectionLosses,
        sinceRecordedMs: claimed.grantedAtMs - entry.createdAtMs,
        permitAtMs: claimed.permitAtMs,
        permitLastsMs: claimed.permitLastsMs,
      };
    }
    case 'permit':
    case 'token_first':
    case 'check':
    case 'finish':
      throw new Error(`a tow has no step ${step.kind}`);
  }
}
