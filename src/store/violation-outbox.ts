import type { Redis } from 'ioredis';
import { restingState, startGiveUpClock, isEntrySettled, unblock } from '../domain/entry';
import { openTask, type StoredViolation } from '../domain/outbox-record';
import { settleAttempt } from '../domain/settle-attempt';
import type { NewTask } from '../domain/tasks';
import { addReference, dropReference } from '../domain/violation-names';
import type { Clock } from '../platform/clock';
import type { ViolationClaim, ViolationLease, ViolationOutbox, ViolationResult } from '../workflow/violation-port';
import { claimRecord, type Claimed, type ClaimSettings } from './claims';
import { KEYS } from './keys';
import { givePermitBack, type RateLimit } from './permits';
import { recordsOf } from './records';
import type { Transaction } from './transaction';
import { ACK_REPEAT_MS } from './until-answered';
import { entryOf, violationRecordOf } from './violation-view';
import { ownerOf } from './violations';

export interface ViolationOutboxSettings extends Omit<ClaimSettings, 'rateLimit' | 'unknownGraceMs'> {
  /** Violations that may be sent in any window; limit 0 = any number. */
  readonly violationBudget: RateLimit;
}

/** Claim and ack of violations. */
export function createViolationOutbox(redis: Redis, clock: Clock, settings: ViolationOutboxSettings): ViolationOutbox {
  const records = recordsOf(redis);

  /** Gives a right back without an attempt, unless it was lost. */
  const giveBack = async (lease: ViolationLease, then: (record: StoredViolation, nowMs: number) => void) => {
    const { id, revision, leaseToken } = lease;
    const reply = await records.transact(
      `violation ${id}`,
      async (transaction) => {
        const record = await transaction.violation(id);
        const entry = record && entryOf(record);
        if (!record || !entry || entry.revision !== revision || record.lease?.token !== leaseToken) return null;
        const permitAtMs = record.lease.permitAtMs ?? null;
        if (entry.attemptId !== null) {
          entry.attempts -= 1;
          entry.attemptId = null;
        }
        record.lease = null;
        then(record, transaction.nowMs);
        return permitAtMs;
      },
      { drains: true },
    );
    if (reply.kind === 'done' && reply.value !== null)
      await givePermitBack(redis, 'violation', { grantedAtMs: reply.value, nowMs: await records.nowMs() });
  };
  const rest = (record: StoredViolation, atMs: number, waitsFor: string | null) => {
    const entry = entryOf(record);
    if (isEntrySettled(entry)) return;
    Object.assign(entry, { state: restingState(entry), nextAtMs: atMs, waitsFor });
  };

  return {
    async claim(id, { hasToken } = { hasToken: true }) {
      const claimed = await claimRecord(redis, clock, {
        line: `violation ${id}`,
        due: ['ZREM', KEYS.dueViolations, id],
        load: (transaction) => transaction.violation(id),
        hasToken,
        settings: { ...settings, rateLimit: settings.violationBudget, unknownGraceMs: 0 },
      });
      return claimed ? claimOf(id, claimed) : { kind: 'gone' };
    },

    async ack(claimed, result) {
      const { id } = claimed;
      const right = { ...claimed, seq: 1 };
      for (;;) {
        const reply = await records.transact(
          `violation ${id}`,
          async (transaction) => {
            const record = await transaction.violation(id);
            if (!record) return { kind: 'gone', permitAtMs: undefined } as const;
            const permitAtMs = record.lease?.permitAtMs;
            const named = await namedBy(redis, transaction, record, result);
            const kind = settleAttempt(record, right, result, {
              nowMs: transaction.nowMs,
              giveUpAfterMs: settings.giveUpAfterMs,
              circuits: await transaction.circuits(),
              effects: transaction.circuitEffects,
              keepAnswer: named,
            });
            return { kind, permitAtMs };
          },
          { repeatMs: ACK_REPEAT_MS, usesKept: true, drains: true },
        );
        if (reply.kind === 'failed') continue;
        const { kind, permitAtMs } = reply.value;
        if (permitAtMs !== undefined && !result.isPermitSpent && kind === 'done') {
          await givePermitBack(redis, 'violation', { grantedAtMs: permitAtMs, nowMs: await records.nowMs() });
        }
        return kind;
      }
    },

    release: (lease, { delayMs, because }) =>
      giveBack(lease, (record, nowMs) => {
        if (because === 'spool') startGiveUpClock(entryOf(record), nowMs, settings.giveUpAfterMs);
        rest(record, nowMs + delayMs, because);
      }),

    unchecked: (lease, { delayMs, error }) =>
      giveBack(lease, (record, nowMs) => {
        const entry = entryOf(record);
        if (isEntrySettled(entry)) return;
        rest(record, nowMs + delayMs, 'ticket_check');
        entry.ticketFailures += 1;
        entry.error = error;
        startGiveUpClock(entry, nowMs, settings.giveUpAfterMs);
      }),

    checked: async (lease, ticket, task) =>
      giveBack(lease, (record, nowMs) => storeCheck(record, { ticket, task, nowMs, localNowMs: clock.nowMs() })),

    // The claim has opened the task already.
    handOver: () => Promise.resolve(),

    async finished(id, version) {
      await records.transact(
        `violation ${id}`,
        async (transaction) => {
          const record = await transaction.violation(id);
          if (!record) return;
          const { unfinishedSince } = record;
          if (isEntrySettled(entryOf(record)) && unfinishedSince !== null && unfinishedSince <= version) {
            record.unfinishedSince = null;
          }
          transaction.schedule(record);
        },
        { drains: true },
      );
    },
  };
}

/** Stores what was found before sending: the answer about a ticket, or a task that a person must decide. */
function storeCheck(
  record: StoredViolation,
  found: { ticket: { hasActiveTicket: boolean } | null; task: NewTask | null; nowMs: number; localNowMs: number },
): void {
  const { ticket, task, nowMs } = found;
  const entry = entryOf(record);
  // Without an attempt the claim was one to ask for a ticket; giving it back has cleared the attempt of any other.
  const isAboutTicket = ticket !== null || entry.sentRevision === null;
  if (ticket) {
    const checkedAt = new Date(found.localNowMs).toISOString();
    record.ticket = { checked_at: checkedAt, has_active_ticket: ticket.hasActiveTicket };
    entry.ticketFailures = 0;
    if (entry.failures === 0) Object.assign(entry, { firstFailedAtMs: null, giveUpAtMs: null, error: null });
  }
  if (isEntrySettled(entry)) return;
  entry.waitsFor = null;
  if (!task) {
    Object.assign(entry, { state: restingState(entry), nextAtMs: nowMs });
    return;
  }
  unblock(entry, nowMs);
  Object.assign(entry, { state: 'held', nextAtMs: null });
  record.heldForTicket = isAboutTicket && task.type !== 'images_missing';
  openTask(record, task, nowMs);
}

/** Prepares what an accepted answer says of the service's name of a violation; another violation may have to give it up. */
async function namedBy(
  redis: Redis,
  transaction: Transaction,
  record: StoredViolation,
  { named, verdict }: ViolationResult,
): Promise<() => void> {
  if (!named || verdict.next !== 'accepted') return () => {};
  const owner = await ownerOf(redis, transaction, named.reference);
  return () => {
    record.serviceStatus = named.serviceStatus;
    record.canTow = named.canTow;
    const isOthers = owner !== null && owner.id !== record.id;
    if (!isOthers || dropReference(owner, named.reference)) {
      transaction.effect(['HSET', KEYS.violationReferences, named.reference, record.id]);
    }
    addReference(record, named.reference, { isTold: true, isMain: true });
  };
}

function claimOf(id: string, claimed: Claimed<StoredViolation>): ViolationClaim {
  const { step, leaseToken, attemptId, circuits } = claimed;
  const record = violationRecordOf({ ...claimed.record, version: String(claimed.version) });
  const { revision } = record;
  switch (step.kind) {
    case 'idle':
    case 'held':
    case 'token_first':
      return { kind: step.kind };
    case 'wait':
    case 'busy':
      return { kind: step.kind, untilMs: step.untilMs };
    case 'probe':
      return { kind: 'probe', failedProbes: step.failedProbes };
    case 'escalated':
      return { kind: 'hand_over', why: step.why, attempts: step.entry.attempts, version: record.version };
    case 'check':
      return { kind: 'check', id, revision, leaseToken, record };
    case 'finish':
      return { kind: 'finish', record: violationRecordOf(claimed.record) };
    case 'send': {
      const { entry } = step;
      return {
        kind: 'send',
        id,
        revision,
        leaseToken,
        record,
        attemptId,
        attempt: entry.attempts,
        failures: entry.failures,
        notFound: entry.notFound,
        unanswered: entry.unanswered,
        connectionFailures: circuits.open.connection?.failures ?? 0,
        failedProbes: circuits.open.outage?.failures ?? 0,
        connectionLosses: entry.connectionLosses,
        sinceRecordedMs: claimed.grantedAtMs - entry.createdAtMs,
        permitAtMs: claimed.permitAtMs,
        permitLastsMs: claimed.permitLastsMs,
      };
    }
    case 'permit':
      throw new Error(`a violation has no step ${step.kind}`);
  }
}
