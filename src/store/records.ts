import type { Redis } from 'ioredis';
import { systemClock, type Clock } from '../platform/clock';
import { within } from '../platform/within';
import { letGoOn } from './circuits';
import { Committer, type Commit, type CommitOptions, type CommitReply } from './commit';
import { Transaction, type Memory } from './transaction';
import { untilAnswered } from './until-answered';

/**
 * Reads records, lets a decision change drafts of them, and commits what changed, if the versions are the same; otherwise reads and
 * decides again.
 */

/** More than any real contention on one record; reaching it means that something writes without end. */
const TRIES_MAX = 50;

/** Longer than any decision takes while Redis answers. */
const LINE_WAIT_MS = 1000;
const CIRCUITS_LINE = 'changes of circuits';

/** A check of a commit that did not hold: what was there instead. */
export interface Failed {
  readonly check: string;
  readonly value: string;
}

export interface TransactOptions extends CommitOptions {
  /** How long reads and an uncertain commit are repeated while Redis cannot be reached, ms. */
  readonly repeatMs?: number;
  /** True for a caller that holds a lease: the first decision is made on the record as this process wrote it last. */
  readonly usesKept?: boolean;
}

/** What the decision returned, once it is written; or the check that failed, and nothing is written. */
type Transacted<T> = { readonly kind: 'done'; readonly value: T } | ({ readonly kind: 'failed' } & Failed);

/** The records of one Redis. */
export class Records {
  readonly #committer: Committer;
  readonly #lines = new Map<string, Promise<unknown>>();
  readonly #memory: Memory = { leased: new Map(), circuits: null };

  constructor(
    private readonly redis: Redis,
    private readonly clock: Clock,
  ) {
    this.#committer = new Committer(redis, () => clock.monotonicMs());
  }

  nowMs(): Promise<number> {
    return this.#committer.nowMs();
  }

  /** Makes the next decision read the circuits again. */
  forgetCircuits(): void {
    this.#memory.circuits = null;
  }

  /** Writes a commit that no transaction made. */
  commit(commit: Commit, options: CommitOptions = {}): Promise<CommitReply> {
    return this.#committer.commit(commit, options);
  }

  /**
   * Decides and commits, again on fresh records while other processes change them. In one process, decisions of one `line` are
   * made one after the other. Resolves with what the decision returned, or with the check that failed.
   */
  transact<T>(
    line: string,
    decide: (transaction: Transaction) => Promise<T>,
    options: TransactOptions = {},
  ): Promise<Transacted<T>> {
    return this.#inLine(line, () => this.#untilDecided(decide, options));
  }

  /** Versions guard what is done out of line, so that work that hangs is waited for only for a moment. */
  #inLine<T>(line: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(line);
    const result = before ? within(LINE_WAIT_MS, before).then(work) : work();
    this.#lines.set(line, result);
    const leave = () => {
      if (this.#lines.get(line) === result) this.#lines.delete(line);
    };
    result.then(leave, leave);
    return result;
  }

  async #untilDecided<T>(
    decide: (transaction: Transaction) => Promise<T>,
    options: TransactOptions,
  ): Promise<Transacted<T>> {
    const startedMs = this.clock.monotonicMs();
    const isTimeUp = () => this.clock.monotonicMs() - startedMs >= (options.repeatMs ?? 0);
    let tried = await this.#attempt(decide, options);
    for (let tries = 1; tried.kind === 'stale'; tries += 1) {
      if (tries >= TRIES_MAX && isTimeUp()) {
        throw new Error('the record kept changing while a decision was made on it');
      }
      const again = () => this.#attempt(decide, { ...options, usesKept: false });
      // All that fail together change the circuits together: out of line each of them would win against all others in turn.
      tried = tried.changesCircuits ? await this.#inLine(CIRCUITS_LINE, again) : await again();
    }
    return tried;
  }

  async #attempt<T>(
    decide: (transaction: Transaction) => Promise<T>,
    { repeatMs = 0, usesKept = false, drains = false }: TransactOptions,
  ): Promise<Transacted<T> | { readonly kind: 'stale'; readonly changesCircuits: boolean }> {
    const { transaction, value } = await this.#untilRead(decide, { repeatMs, usesKept });
    const commit = transaction.commit();
    if (!commit) return { kind: 'done', value };
    const reply = await this.#untilCertain(commit, { repeatMs, drains });
    switch (reply.kind) {
      case 'done':
        transaction.remembered();
        await letGoOn(this.redis, transaction.circuitEffects);
        return { kind: 'done', value };
      case 'failed':
        return reply;
      case 'stale':
      case 'early':
        transaction.forget();
        return { kind: 'stale', changesCircuits: transaction.changesCircuits };
    }
  }

  /** Reads and decides, again for a while when Redis does not answer. */
  #untilRead<T>(
    decide: (transaction: Transaction) => Promise<T>,
    { repeatMs, usesKept }: Required<Pick<TransactOptions, 'repeatMs' | 'usesKept'>>,
  ): Promise<{ transaction: Transaction; value: T }> {
    const newTag = () => this.clock.id().slice(0, 8);
    const read = async () => {
      const transaction = new Transaction(this.redis, newTag, await this.nowMs(), this.#memory, usesKept);
      return { transaction, value: await decide(transaction) };
    };
    return untilAnswered(read, { clock: this.clock, limitMs: repeatMs });
  }

  #untilCertain(
    commit: Commit,
    { repeatMs, drains }: Required<Pick<TransactOptions, 'repeatMs' | 'drains'>>,
  ): Promise<CommitReply> {
    const write = () => this.#committer.commit(commit, { drains });
    return untilAnswered(write, { clock: this.clock, limitMs: repeatMs });
  }
}

const opened = new WeakMap<Redis, Records>();

/** The records behind a connection: one per connection, so that decisions of one process are made one after the other. */
export function recordsOf(redis: Redis, clock: Clock = systemClock): Records {
  const records = opened.get(redis) ?? new Records(redis, clock);
  opened.set(redis, records);
  return records;
}
