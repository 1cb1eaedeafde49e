import type { Redis } from 'ioredis';
import type { Clock } from '../platform/clock';
import { claim, type ClaimStep } from '../domain/claim-entry';
import type { Circuits } from '../domain/circuits';
import { headOf } from '../domain/entry';
import { versionNumber, type OutboxRecord } from '../domain/outbox-record';
import { dueAtMs } from '../domain/outbox-schedule';
import type { Effect } from './commit';
import { slotLastsMs } from './budgets';
import { blockedEffects } from './indexes';
import { givePermitBack, permitFor, type RateLimit } from './permits';
import { leaveLine } from './record-effects';
import { recordsOf } from './records';
import type { Transaction } from './transaction';
import { CLAIM_REPEAT_MS } from './until-answered';

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

/** The right that a claim gave, and what was decided with it. */
export interface Claimed<R> {
  readonly step: ClaimStep;
  readonly record: R;
  readonly circuits: Circuits;
  readonly leaseToken: string;
  readonly attemptId: string;
  /** The version of the record with this right. */
  readonly version: number;
  /** When the right was granted, ms, Redis time. */
  readonly grantedAtMs: number;
  readonly permitAtMs: number;
  readonly permitLastsMs: number;
}

export interface ClaimOptions {
  readonly settings: ClaimSettings;
  readonly hasToken: boolean;
}

/** One try to get the right to work on a record. Repeated with the same ids: a claim whose reply was lost is given again. */
export class ClaimAttempt {
  readonly leaseToken: string;
  readonly attemptId: string;
  #grantedAtMs: number | null = null;
  /** Whether a place in the line for permits may have been taken. */
  #isInLine = false;

  constructor(
    private readonly redis: Redis,
    clock: Clock,
    private readonly options: ClaimOptions,
  ) {
    this.leaseToken = clock.id();
    this.attemptId = clock.id();
  }

  /** Decides on a draft, which takes the right if it may; part of a transaction. */
  async decide<R extends OutboxRecord>(transaction: Transaction, record: R): Promise<Claimed<R>> {
    const { settings, hasToken } = this.options;
    const { leaseToken, attemptId } = this;
    const { nowMs } = transaction;
    // What was refused before its operation was paused waits for that now: no look comes after this one.
    const circuits = await transaction.circuits({ isFresh: headOf(record.entries)?.forbidden === true });
    const waiting = await transaction.waiting();
    const wasMine = record.lease?.token === leaseToken;
    const effects = transaction.circuitEffects;
    const known = { ...settings, nowMs, leaseToken, attemptId, hasToken, circuits, effects, waiting };
    const grantedAtMs = this.#grantedAtMs;
    const isLimited = settings.rateLimit.limit > 0;
    let step = claim(record, {
      ...known,
      permit: isLimited ? (grantedAtMs === null ? 'not_asked' : { grantedAtMs }) : 'none_needed',
    });
    if (step.kind === 'permit') {
      this.#isInLine = true;
      const permit = await permitFor(this.redis, record, settings.rateLimit, {
        nowMs,
        how: hasToken ? 'take' : 'look',
      });
      if (hasToken && 'grantedAtMs' in permit) this.#grantedAtMs = permit.grantedAtMs;
      step = claim(record, { ...known, permit });
    }
    if (step.kind === 'wait') transaction.effect(...blockedEffects(record));
    // Should this worker be lost meanwhile, the record comes up again.
    const isUnderWay = step.kind === 'finish' || step.kind === 'token_first';
    transaction.schedule(record, isUnderWay ? nowMs + settings.leaseMs : dueAtMs(record, nowMs));
    const keepsPlace = step.kind === 'token_first' || headOf(record.entries)?.waitsFor === 'budget';
    if (this.#isInLine && !keepsPlace) transaction.effect(leaveLine(record));
    const atMs = (record.lease?.untilMs ?? nowMs + settings.leaseMs) - settings.leaseMs;
    return {
      step,
      record,
      version: versionNumber(record.version) + (wasMine ? 0 : 1),
      circuits,
      leaseToken,
      attemptId,
      grantedAtMs: atMs,
      permitAtMs: record.lease?.permitAtMs ?? atMs,
      permitLastsMs: slotLastsMs(settings.rateLimit),
    };
  }

  /** Gives a permit back that no call will use. */
  async end(kind: OutboxRecord['kind'], claimed: Claimed<OutboxRecord> | null): Promise<void> {
    if (this.#grantedAtMs === null || claimed?.step.kind === 'send') return;
    const nowMs = await recordsOf(this.redis).nowMs();
    await givePermitBack(this.redis, kind, { grantedAtMs: this.#grantedAtMs, nowMs });
    this.#grantedAtMs = null;
  }
}

/**
 * Decides what may be done with a record now and commits the right to do it. Null when there is no such record; then `due` is
 * taken away, if none was stored meanwhile.
 */
export async function claimRecord<R extends OutboxRecord>(
  redis: Redis,
  clock: Clock,
  options: ClaimOptions & {
    readonly line: string;
    /** Its schedule. */
    readonly due: Effect;
    readonly load: (transaction: Transaction) => Promise<R | null>;
  },
): Promise<Claimed<R> | null> {
  const attempt = new ClaimAttempt(redis, clock, options);
  const reply = await recordsOf(redis).transact(
    options.line,
    async (transaction) => {
      const record = await options.load(transaction);
      if (!record) transaction.effect(options.due);
      return record && attempt.decide(transaction, record);
    },
    { repeatMs: CLAIM_REPEAT_MS },
  );
  if (reply.kind === 'failed') throw new Error('a claim has no checks');
  if (reply.value) await attempt.end(reply.value.record.kind, reply.value);
  return reply.value;
}
