import type { Redis } from 'ioredis';
import { systemClock, type Clock } from '../../platform/clock';
import type { Log } from '../../platform/log/log';
import { within } from '../../platform/timers';
import type { RecordStore } from '../../workflow/transaction-port';
import { logTurned, releaseClosed } from '../service/circuits';
import { Committer, type Commit, type CommitReply } from '../redis/commit';
import type { WriteOptions } from '../scripts';
import { RecordTransaction, type TransactionMemory } from '../redis/transaction';
import { isRefusal, untilAnswered } from '../redis/until-answered';
import type { Wake } from './wake';

/** More than contention on one record can cause. Reaching it means that a process writes in a loop. */
const ATTEMPTS_MAX = 50;

/** Longer than a decision takes while Redis answers. */
const ORDER_WAIT_MS = 1000;
const CIRCUIT_RETRY_ORDER_KEY = 'changes of circuits';

interface TransactOptions extends WriteOptions {
  /** How long reads and an uncertain commit are repeated while Redis cannot be reached, ms. */
  readonly repeatMs?: number;
  /** Set by a caller with a lease: the first decision uses the record as this process last wrote it. */
  readonly usesKept?: boolean;
}

/**
 * The records of one Redis. A transaction reads records, lets a decision change drafts of them, and commits the changes
 * if no version and no check has changed meanwhile. Otherwise it reads and decides again.
 */
export class Records implements RecordStore {
  readonly #committer: Committer;
  /** The last transaction of each order key. */
  readonly #running = new Map<string, Promise<unknown>>();
  #log: Log | null = null;
  readonly #memory: TransactionMemory = { leased: new Map(), circuits: { kept: null, sendsNothing: false } };

  constructor(
    private readonly redis: Redis,
    private readonly clock: Clock,
  ) {
    this.#committer = new Committer(redis, () => clock.monotonicMs());
  }

  /** Redis time, Unix ms. */
  nowMs(): Promise<number> {
    return this.#committer.nowMs();
  }

  /** Makes the next decision read the circuits from Redis. */
  forgetCircuits(): void {
    this.#memory.circuits.kept = null;
  }

  /** From now on, no decision of this process lets a call out, and each opens the circuit that blocks those of others. */
  sendNothing(): void {
    this.#memory.circuits.sendsNothing = true;
  }

  /** From now on, each circuit that a transaction of this process opens or closes has a line in the log. */
  logCircuits(log: Log): void {
    this.#log = log;
  }

  /** From now on, what a commit makes due gets a job with it (wake.ts). Without, the scheduler adds it. */
  wakeWith(wake: Wake): void {
    this.#committer.wakeWith(wake);
  }

  /** Writes a commit that is not made by a transaction. */
  commit(commit: Commit, options: WriteOptions = {}): Promise<CommitReply> {
    return this.#committer.commit(commit, options);
  }

  /**
   * Decides and commits, again while other processes change what the decision was made on. Within this process,
   * transactions with the same `orderKey` run one after the other; null: in no order. Resolves with the result of the
   * committed decision.
   */
  transact<T>(
    orderKey: string | null,
    decide: (transaction: RecordTransaction) => Promise<T>,
    options: TransactOptions = {},
  ): Promise<T> {
    const work = () => this.#untilCommitted(decide, options);
    return orderKey === null ? work() : this.#inOrder(orderKey, work);
  }

  /** Valid for `transact` without `repeatMs`: an earlier call of a repeated commit may have been written. */
  isUnwritten(error: unknown): boolean {
    return isRefusal(error);
  }

  /**
   * Waits a bounded time for the work before, which may hang: versions protect records that are changed out of order.
   */
  #inOrder<T>(orderKey: string, work: () => Promise<T>): Promise<T> {
    const before = this.#running.get(orderKey);
    const result = before ? within(ORDER_WAIT_MS, before).then(work) : work();
    this.#running.set(orderKey, result);
    const leave = () => {
      if (this.#running.get(orderKey) === result) this.#running.delete(orderKey);
    };
    result.then(leave, leave);
    return result;
  }

  async #untilCommitted<T>(
    decide: (transaction: RecordTransaction) => Promise<T>,
    options: TransactOptions,
  ): Promise<T> {
    const startedMs = this.clock.monotonicMs();
    const isTimeUp = () => this.clock.monotonicMs() - startedMs >= (options.repeatMs ?? 0);
    let attempted = await this.#attempt(decide, options);
    for (let attempts = 1; attempted.kind === 'stale'; attempts += 1) {
      if (attempts >= ATTEMPTS_MAX && isTimeUp()) {
        throw new Error('the record kept changing while a decision was made on it');
      }
      const again = () => this.#attempt(decide, { ...options, usesKept: false });
      // Calls that fail together change the circuits together. Without an order, all but one would be stale each time.
      attempted = attempted.changesCircuits ? await this.#inOrder(CIRCUIT_RETRY_ORDER_KEY, again) : await again();
    }
    return attempted.value;
  }

  async #attempt<T>(
    decide: (transaction: RecordTransaction) => Promise<T>,
    { repeatMs = 0, usesKept = false, whenFull = false }: TransactOptions,
  ): Promise<
    { readonly kind: 'done'; readonly value: T } | { readonly kind: 'stale'; readonly changesCircuits: boolean }
  > {
    const whileAway = { clock: this.clock, limitMs: repeatMs };
    const newId = () => this.clock.id();
    const { transaction, value } = await untilAnswered(async () => {
      const begun = new RecordTransaction(this.redis, newId, await this.nowMs(), this.#memory, usesKept);
      return { transaction: begun, value: await decide(begun) };
    }, whileAway);
    const commit = transaction.commit({ wakes: this.#committer.wakes });
    if (!commit) return { kind: 'done', value };
    const reply = await untilAnswered(() => this.#committer.commit(commit, { whenFull }), whileAway);
    switch (reply) {
      case 'done':
        transaction.keepWritten();
        if (this.#log) logTurned(this.#log, transaction.turnedCircuits, transaction.nowMs);
        await releaseClosed(this.redis, transaction.circuitEffects);
        return { kind: 'done', value };
      case 'stale':
      case 'early':
        transaction.forget();
        return { kind: 'stale', changesCircuits: transaction.changesCircuits };
    }
  }
}

const opened = new WeakMap<Redis, Records>();

/**
 * The records behind a connection. One instance per connection, so that transactions of a process keep their order:
 * only the clock of the first call counts.
 */
export function recordsOf(redis: Redis, clock: Clock = systemClock): Records {
  const records = opened.get(redis) ?? new Records(redis, clock);
  opened.set(redis, records);
  return records;
}
