import type { Redis } from 'ioredis';
import { texts } from './parse';
import { isOutOfMemory, Script } from './scripts';
import { wellFormedJson } from './well-formed';

/** The one way to change records: commits, each written all or nothing, if no record has changed meanwhile (lua/commit.lua). */

export type EffectCommand =
  | 'ZADD'
  | 'ZREM'
  | 'ZINCRBY'
  | 'ZREMRANGEBYSCORE'
  | 'SADD'
  | 'SREM'
  | 'HSET'
  | 'HDEL'
  | 'HINCRBY'
  | 'RPUSH'
  | 'SET'
  | 'DEL'
  | 'EXPIRE'
  | 'PUBLISH'
  | 'AUDIT';

/** A Redis command that is part of a commit: its name, its key and its arguments. */
export type Effect = readonly [command: EffectCommand, key: string, ...args: (string | number)[]];

/** What a commit changes on one record. Without `version` the record is only looked at. */
export interface RecordChange {
  readonly key: string;
  /** The version the decision was made on; '' for a record that must be absent. */
  readonly expected: string;
  readonly version?: string;
  readonly set?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  readonly isGone?: boolean;
  /** Redis time, ms: nothing is written before, and the reply is `early`. */
  readonly notBeforeMs?: number | undefined;
}

/** A field that must have this value, '' for none; otherwise nothing is written and the reply is `failed`. */
export interface Check {
  readonly key: string;
  readonly field: string;
  readonly value: string;
  readonly name: string;
}

export interface Commit {
  readonly records: readonly RecordChange[];
  readonly checks?: readonly Check[];
  readonly effects: readonly Effect[];
}

export type CommitReply =
  | { readonly kind: 'done' | 'stale' | 'early' }
  | { readonly kind: 'failed'; readonly check: string; readonly value: string };

const script = new Script('commit');
/** So many commits go in one call, at most; Redis serves others in between. */
const GROUP_MAX = 50;
const OFFSET_LASTS_MS = 60_000;
/** How the reply to a commit begins that Redis could not carry out. */
const ERROR = 'error ';

export interface CommitOptions {
  /** Finishes work or removes data, and is written even if Redis has no memory left for new data. */
  readonly drains?: boolean;
}

interface Waiting {
  readonly commit: Commit;
  readonly drains: boolean;
  readonly resolve: (reply: CommitReply) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes commits of one connection, one call at a time: what comes meanwhile goes in the next, all together. */
export class Committer {
  readonly #waiting: Waiting[] = [];
  #isFlushing = false;
  #offsetMs: number | null = null;
  #askedAtMs = 0;

  constructor(
    private readonly redis: Redis,
    /** A clock that never jumps: a change of the time of day must not end a lease. */
    private readonly monotonicMs: () => number,
  ) {}

  /** Rejects when it is not certain whether the commit was written; repeating it then is safe. */
  commit(commit: Commit, { drains = false }: CommitOptions = {}): Promise<CommitReply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, drains, resolve, reject });
      this.#flushSoon();
    });
  }

  /** Redis time, ms. The difference to the local clock is learnt with every commit, and asked for once a minute at most. */
  async nowMs(): Promise<number> {
    const localMs = this.monotonicMs();
    if (this.#offsetMs === null || Math.abs(localMs - this.#askedAtMs) > OFFSET_LASTS_MS) {
      const [seconds, micros] = await this.redis.time();
      this.#learn(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000));
    }
    // Never behind for its fraction alone: what is due now is due.
    return Math.ceil(this.monotonicMs() + (this.#offsetMs ?? 0));
  }

  #learn(redisMs: number): void {
    this.#askedAtMs = this.monotonicMs();
    this.#offsetMs = redisMs - this.#askedAtMs;
  }

  #flushSoon(): void {
    if (this.#isFlushing || this.#waiting.length === 0) return;
    this.#isFlushing = true;
    setImmediate(() => {
      const group = this.#waiting.splice(0, GROUP_MAX);
      void this.#send(group).then(() => {
        this.#isFlushing = false;
        return this.#flushSoon();
      });
    });
  }

  async #send(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#run(group, (keys, args) => script.run(this.redis, keys, args));
    } catch (error) {
      const draining = isOutOfMemory(error) ? group.filter(({ drains }) => drains) : [];
      group.filter((waiting) => !draining.includes(waiting)).forEach(({ reject }) => reject(error));
      if (draining.length > 0) await this.#drain(draining);
    }
  }

  async #drain(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#run(group, (keys, args) => script.runWhenFull(this.redis, keys, args));
    } catch (error) {
      group.forEach(({ reject }) => reject(error));
    }
  }

  async #run(
    group: readonly Waiting[],
    run: (keys: readonly string[], args: readonly string[]) => Promise<unknown>,
  ): Promise<void> {
    const keys = new Map<string, number>();
    const placeOf = (key: string) => {
      const place = keys.get(key) ?? keys.size + 1;
      keys.set(key, place);
      return place;
    };
    const json = wellFormedJson(group.map(({ commit }) => wire(commit, placeOf)));
    const [now = '', ...replies] = texts(await run([...keys.keys()], [json]), 'commit');
    this.#learn(Number(now));
    group.forEach(({ resolve, reject }, at) => {
      const reply = replies[at] ?? '';
      if (reply.startsWith(ERROR)) reject(new Error(reply.slice(ERROR.length)));
      else resolve(replyOf(reply));
    });
  }
}

function wire({ records, checks = [], effects }: Commit, placeOf: (key: string) => number) {
  return {
    records: records.map(({ key, expected, version, set = {}, remove = [], isGone, notBeforeMs }) => ({
      key: placeOf(key),
      expected,
      ...(version === undefined ? {} : { version }),
      set: Object.entries(set).flat(),
      remove,
      ...(isGone ? { gone: true } : {}),
      ...(notBeforeMs === undefined ? {} : { not_before: notBeforeMs }),
    })),
    checks: checks.map(({ key, field, value, name }) => [placeOf(key), field, value, name]),
    effects: effects.map(([command, key, ...args]) => [command, placeOf(key), ...args.map(String)]),
  };
}

function replyOf(reply: string): CommitReply {
  if (reply === 'done' || reply === 'stale' || reply === 'early') return { kind: reply };
  const [, check = '', value = ''] = /^failed (\S+) ([^]*)$/.exec(reply) ?? [];
  return { kind: 'failed', check, value };
}
