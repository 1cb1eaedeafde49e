import type { Circuits } from '../../domain/service/stored-circuits';
import type { Redis } from 'ioredis';
import { isRestricted } from '../../contracts/service/stored-budgets';
import { claim, graceOf, type ClaimContext, type ClaimRules, type ClaimStep } from '../../domain/outbox/claim-entry';
import { headOf } from '../../domain/outbox/outbox';
import type { OutboxRecord, RecordKind } from '../../domain/outbox/outbox-record';
import { dueAtMs, isWaitingForPermit } from '../../domain/outbox/outbox-schedule';
import type { Clock } from '../../platform/clock';
import type { Claim } from '../../workflow/outbox/outbox-port';
import { permitLifetimeMs, type RateLimit } from '../service/budgets';
import { SENDING } from '../service/circuits';
import { blockedEffects } from './indexes';
import { givePermitBack, permitFor } from './permits';
import { leavePermitQueue } from './record-effects';
import type { RecordTransaction } from '../redis/transaction';

export interface ClaimSettings extends ClaimRules {
  /** The limit of all calls of the outbox. */
  readonly rateLimit: RateLimit;
}

/** One claim of a record. It is repeated with the same ids, so that a claim whose reply was lost is granted again. */
export class ClaimAttempt {
  readonly leaseToken: string;
  readonly #attemptId: string;
  #grantedAtMs: number | null = null;
  /** Whether the record may have joined the waiting queue for permits. */
  #mayWaitForPermit = false;

  constructor(
    private readonly redis: Redis,
    clock: Clock,
    /** `whenFull` as for the commit that it is part of. */
    private readonly options: { readonly settings: ClaimSettings; readonly whenFull?: true },
  ) {
    this.leaseToken = clock.id();
    this.#attemptId = clock.id();
  }

  /** Decides on a draft within a transaction. The draft gets the lease if it may. */
  async decide<R extends OutboxRecord>(transaction: RecordTransaction, record: R): Promise<Claim<R>> {
    const { settings, whenFull = false } = this.options;
    const { nowMs } = transaction;
    // A report that was refused before its operation was paused must wait for the pause: this may be its last check.
    const circuits = await transaction.circuits({ isFresh: headOf(record.entries)?.forbidden === true });
    const waiting = await transaction.waiting();
    const contextWith = (permit: ClaimContext['permit']): ClaimContext => ({
      settings,
      nowMs,
      leaseToken: this.leaseToken,
      attemptId: this.#attemptId,
      circuits,
      effects: transaction.circuitEffects,
      waiting,
      permit,
    });
    // The reply to this same claim was lost.
    const wasGranted = record.lease?.token === this.leaseToken;
    const grantedAtMs = this.#grantedAtMs;
    const isLimited = settings.rateLimit.limit > 0 || isRestricted(await transaction.budgetState(record.kind), nowMs);
    let step = claim(
      record,
      contextWith(isLimited ? (grantedAtMs === null ? 'not_requested' : { grantedAtMs }) : 'none_needed'),
    );
    if (step.kind === 'permit') {
      this.#mayWaitForPermit = true;
      const permit = await permitFor(this.redis, record, settings.rateLimit, { nowMs, whenFull });
      if ('grantedAtMs' in permit) this.#grantedAtMs = permit.grantedAtMs;
      step = claim(record, contextWith(permit));
    }
    if (!wasGranted && (step.kind === 'send' || step.kind === 'check')) transaction.check(SENDING);
    if (step.kind === 'wait') transaction.effect(...blockedEffects(record));
    // If this worker is lost meanwhile, the record becomes due again after the lease.
    transaction.schedule(record, step.kind === 'cleanup' ? nowMs + settings.leaseMs : dueAtMs(record, nowMs));
    if (this.#mayWaitForPermit && !isWaitingForPermit(record)) transaction.effect(leavePermitQueue(record));
    return this.#claimOf(record, step, circuits);
  }

  #claimOf<R extends OutboxRecord>(record: R, step: ClaimStep, { open }: Circuits): Claim<R> {
    const { leaseToken } = this;
    const { leaseMs, graceMs, rateLimit } = this.options.settings;
    switch (step.kind) {
      case 'send': {
        const grantedAtMs = (record.lease?.untilMs ?? 0) - leaseMs;
        return {
          kind: 'send',
          record,
          entry: step.entry,
          leaseToken,
          attemptId: this.#attemptId,
          connectionFailures: open.connection?.failures ?? 0,
          failedProbes: open.outage?.failures ?? 0,
          grantedAtMs,
          leaseMs,
          proofMs: record.kind === 'tow' ? null : graceOf(record, graceMs),
          permitAtMs: record.lease?.permitAtMs ?? grantedAtMs,
          permitLastsMs: record.lease?.permitAtMs === undefined ? Infinity : permitLifetimeMs(rateLimit),
        };
      }
      case 'check':
        return { kind: 'check', record, entry: step.entry, leaseToken };
      case 'cleanup':
        return { kind: 'cleanup', record };
      case 'permit':
        throw new Error('a claim with a permit requires another one');
      case 'idle':
      case 'needs_action':
      case 'wait':
      case 'busy':
      case 'escalated':
      case 'probe':
        return step;
    }
  }

  /** Returns a permit that no call will use. */
  async end(kind: RecordKind, claimed: Claim<OutboxRecord> | null): Promise<void> {
    if (this.#grantedAtMs === null || claimed?.kind === 'send') return;
    await givePermitBack(this.redis, kind, this.#grantedAtMs);
    this.#grantedAtMs = null;
  }
}
