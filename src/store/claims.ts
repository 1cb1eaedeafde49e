import type { Redis } from 'ioredis';
import type { Circuits } from '../domain/circuits';
import { claim, type ClaimStep } from '../domain/claim-entry';
import { headOf } from '../domain/entry';
import type { OutboxRecord } from '../domain/outbox-record';
import { dueAtMs } from '../domain/outbox-schedule';
import type { Clock } from '../platform/clock';
import type { Claim, Claimant } from '../workflow/outbox-port';
import { slotLastsMs } from './budgets';
import { blockedEffects } from './indexes';
import { givePermitBack, permitFor, type RateLimit } from './permits';
import { leaveLine } from './record-effects';
import type { Transaction } from './transaction';

export interface ClaimSettings {
  /** How long a claim lasts; longer than the deadline of a call, equal to the lock of its queue job. */
  readonly leaseMs: number;
  readonly unknownGraceMs: number;
  readonly proofMs: number;
  /** How long an entry may keep failing before a person must decide. */
  readonly giveUpAfterMs: number;
  readonly rateLimit: RateLimit;
  /** Whether an active ticket is looked for before a violation that depends on one is sent. */
  readonly checksTicket: boolean;
}

/** One try to get the right to work on a record. Repeated with the same ids: a claim whose reply was lost is given again. */
export class ClaimAttempt {
  readonly leaseToken: string;
  readonly #attemptId: string;
  #grantedAtMs: number | null = null;
  /** Whether a place in the line for permits may have been taken. */
  #isInLine = false;

  constructor(
    private readonly redis: Redis,
    clock: Clock,
    private readonly options: Claimant & { readonly settings: ClaimSettings },
  ) {
    this.leaseToken = clock.id();
    this.#attemptId = clock.id();
  }

  /** Decides on a draft, which takes the right if it may; part of a transaction. */
  async decide<R extends OutboxRecord>(transaction: Transaction, record: R): Promise<Claim<R>> {
    const { settings, hasToken } = this.options;
    const { nowMs } = transaction;
    // What was refused before its operation was paused waits for that now: no look comes after this one.
    const circuits = await transaction.circuits({ isFresh: headOf(record.entries)?.forbidden === true });
    const known = {
      ...settings,
      nowMs,
      leaseToken: this.leaseToken,
      attemptId: this.#attemptId,
      hasToken,
      circuits,
      effects: transaction.circuitEffects,
      waiting: await transaction.waiting(),
    };
    const grantedAtMs = this.#grantedAtMs;
    const isLimited = settings.rateLimit.limit > 0;
    let step = claim(record, {
      ...known,
      permit: isLimited ? (grantedAtMs === null ? 'not_asked' : { grantedAtMs }) : 'none_needed',
    });
    if (step.kind === 'permit') {
      this.#isInLine = true;
      const how = hasToken ? 'take' : 'look';
      const permit = await permitFor(this.redis, record, settings.rateLimit, { nowMs, how });
      if (hasToken && 'grantedAtMs' in permit) this.#grantedAtMs = permit.grantedAtMs;
      step = claim(record, { ...known, permit });
    }
    if (step.kind === 'wait') transaction.effect(...blockedEffects(record));
    // Should this worker be lost meanwhile, the record comes up again.
    const isUnderWay = step.kind === 'finish' || step.kind === 'token_first';
    transaction.schedule(record, isUnderWay ? nowMs + settings.leaseMs : dueAtMs(record, nowMs));
    const keepsPlace = step.kind === 'token_first' || headOf(record.entries)?.waitsFor === 'budget';
    if (this.#isInLine && !keepsPlace) transaction.effect(leaveLine(record));
    return this.#claimOf(record, step, circuits);
  }

  #claimOf<R extends OutboxRecord>(record: R, step: ClaimStep, { open }: Circuits): Claim<R> {
    const { leaseToken } = this;
    const { leaseMs, rateLimit } = this.options.settings;
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
          permitAtMs: record.lease?.permitAtMs ?? grantedAtMs,
          permitLastsMs: slotLastsMs(rateLimit),
        };
      }
      case 'check':
        return { kind: 'check', record, entry: step.entry, leaseToken };
      case 'finish':
        return { kind: 'finish', record };
      case 'permit':
        throw new Error('a claim that was given its permit asks for another one');
      case 'idle':
      case 'held':
      case 'wait':
      case 'busy':
      case 'escalated':
      case 'probe':
      case 'token_first':
        return step;
    }
  }

  /** Gives a permit back that no call will use. */
  async end(kind: OutboxRecord['kind'], claimed: Claim<OutboxRecord> | null): Promise<void> {
    if (this.#grantedAtMs === null || claimed?.kind === 'send') return;
    await givePermitBack(this.redis, kind, this.#grantedAtMs);
    this.#grantedAtMs = null;
  }
}
