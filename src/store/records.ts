import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { systemClock, type Clock } from '../platform/clock';
import { letGoOn } from './circuits';
import { Committer, type Commit, type CommitOptions, type CommitReply } from './commit';
import { Transaction, type Memory } from './transaction';

/**
 * Reads records, lets a decision change drafts of them, and commits what changed, if nobody was faster; otherwise reads and
 * decides again.
 */

/** More than any real contention on one record; reaching it means that something writes without end. */
const TRIES_MAX = 50;
const REPEAT_PAUSE_MS = 200;

/** A check of a commit that did not hold: what was there instead. */
export interface Failed {
  readonly check: string;
  readonly value: string;
}

export interface TransactOptions extends CommitOptions {
  /** How long an uncertain commit is repeated, ms. */
  readonly repeatMs?: number;
  /** True for a caller that holds a lease: the first decision is made on the record as this process wrote it last. */
  readonly usesKept?: boolean;
}

/** The records of one Redis. */
export class Records {
  readonly #committer: Committer;
  readonly #lines = new Map<string, Promise<unknown>>();
  readonly #memory: Memory = { leased: new Map(), circuits: null };

  constructor(
    private readonly redis: Redis,
    private readonly clock: Clock,
  ) {
    this.#committer = new Committer(redis, () => clock.nowMs());
  }

  nowMs(): Promise<number> {
    return this.#committer.nowMs();
  }

  /** Reads the circuits anew with the next decision. */
  forgetCircuits(): void {
    this.#memory.circuits = null;
  }

  /** Writes a commit that no transaction made. */
  commit(commit: Commit): Promise<CommitReply> {
    return this.#committer.commit(commit);
  }

  /**
   * Decides and commits, again on fresh records while somebody else was faster. In one process, decisions of one `line` stand
   * in line. Resolves with what the decision returned, or with the check that failed.
   */
  transact<T>(
    line: string,
    decide: (transaction: Transaction) => Promise<T>,
    options: TransactOptions = {},
  ): Promise<{ readonly kind: 'done'; readonly value: T } | ({ readonly kind: 'failed' } & Failed)> {
    const before = this.#lines.get(line) ?? Promise.resolve();
    const result = before.catch(() => {}).then(() => this.#attempt(decide, options));
    this.#lines.set(line, result);
    const leave = () => {
      if (this.#lines.get(line) === result) this.#lines.delete(line);
    };
    result.then(leave, leave);
    return result;
  }

  async #attempt<T>(
    decide: (transaction: Transaction) => Promise<T>,
    { repeatMs = 0, usesKept = false, drains = false }: TransactOptions,
  ): Promise<{ readonly kind: 'done'; readonly value: T } | ({ readonly kind: 'failed' } & Failed)> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const { transaction, value } = await this.#untilRead(decide, { repeatMs, usesKept: usesKept && tries === 0 });
      const commit = transaction.commit();
      if (!commit) return { kind: 'done', value };
      const reply = await this.#untilCertain(commit, { repeatMs, drains });
      if (reply.kind === 'done') {
        transaction.remembered();
        await letGoOn(this.redis, transaction.circuitEffects);
        return { kind: 'done', value };
      }
      if (reply.kind === 'failed') return reply;
      transaction.forget();
    }
    throw new Error('the record kept changing while a decision was made on it');
  }

  /** Reads and decides, again for a while when Redis does not answer. */
  async #untilRead<T>(
    decide: (transaction: Transaction) => Promise<T>,
    { repeatMs, usesKept }: Required<Pick<TransactOptions, 'repeatMs' | 'usesKept'>>,
  ): Promise<{ transaction: Transaction; value: T }> {
    const startedMs = this.clock.monotonicMs();
    for (;;) {
      try {
        const nowMs = await this.nowMs();
        const transaction = new Transaction(
          this.redis,
          () => this.clock.id().slice(0, 8),
          nowMs,
          this.#memory,
          usesKept,
        );
        return { transaction, value: await decide(transaction) };
      } catch (error) {
        if (this.clock.monotonicMs() - startedMs >= repeatMs) throw error;
        await sleep(REPEAT_PAUSE_MS);
      }
    }
  }

  async #untilCertain(
    commit: Commit,
    { repeatMs, drains }: Required<Pick<TransactOptions, 'repeatMs' | 'drains'>>,
  ): Promise<CommitReply> {
    const startedMs = this.clock.monotonicMs();
    for (;;) {
      try {
        return await this.#committer.commit(commit, { drains });
      } catch (error) {
        if (this.clock.monotonicMs() - startedMs >= repeatMs) throw error;
        await sleep(REPEAT_PAUSE_MS);
      }
    }
  }
}

const opened = new WeakMap<Redis, Records>();

/** The records behind a connection: one per connection, so that decisions of one process stand in line. */
export function recordsOf(redis: Redis, clock: Clock = systemClock): Records {
  const records = opened.get(redis) ?? new Records(redis, clock);
  opened.set(redis, records);
  return records;
}
