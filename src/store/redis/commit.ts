import type { Redis } from 'ioredis';
import { texts, UnexpectedReply } from './parse';
import { RedisClock } from './redis-time';
import { replicated } from './replicas';
import { isOutOfMemory, Script, wellFormedJson, type WriteOptions } from '../scripts';
import { storedCommit } from './at-rest';
import { wakeAll, type DueMember, type Wake } from '../outbox/wake';

/** Commits are the only way to change records. Each is written completely or not at all (lua/commit.lua). */

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
  | 'SET'
  | 'DEL'
  | 'EXPIRE'
  | 'XADD'
  | 'XTRIM'
  | 'AUDIT';

/** A Redis command that is part of a commit: its name, its key and its arguments. */
export type Effect = readonly [command: EffectCommand, key: string, ...args: (string | number)[]];

/** The change of one record by a commit. Without `version` and `isGone`, only its version is checked. */
export interface RecordChange {
  readonly key: string;
  /** The version that the decision was made on; '' for a record that must be absent. */
  readonly expected: string;
  readonly version?: string;
  readonly set?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  readonly isGone?: boolean;
  /** Redis time, Unix ms. Before it nothing is written, and the reply is `early`. */
  readonly notBeforeMs?: number | undefined;
  /** Redis time, Unix ms. After it nothing is written, and the reply is `stale`. */
  readonly notAfterMs?: number | undefined;
}

/** A field that must have this value, '' for none. Otherwise nothing is written, and the reply is `stale`. */
export interface Check {
  readonly key: string;
  readonly field: string;
  readonly value: string;
}

/** A part of a commit that changes no record. A failing check means that another process was faster. */
export interface CommitPart {
  readonly checks: readonly Check[];
  readonly effects: readonly Effect[];
}

export interface Commit {
  readonly records: readonly RecordChange[];
  readonly checks?: readonly Check[];
  readonly effects: readonly Effect[];
  /** What gets a job with this commit. */
  readonly due?: readonly DueMember[];
}

/** `stale`: a record or a check has changed since the decision, or that is too long ago. `early`: see RecordChange.notBeforeMs. */
export type CommitReply = 'done' | 'stale' | 'early';

const script = new Script('commit');
/** Commits per call, so that Redis can serve other clients in between. */
const GROUP_MAX = 50;
/** Calls at a time: a commit that comes alone waits for none, and while Redis writes many, more are put together. */
const CALLS_MAX = 4;
/** Prefix of the reply to a commit that Redis could not execute. */
const ERROR_PREFIX = 'error ';

interface WaitingCommit {
  readonly commit: Commit;
  readonly whenFull: boolean;
  readonly resolve: (reply: CommitReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the commits of one connection in groups: up to four calls run at a time, and the commits that arrive meanwhile
 * share the next one.
 */
export class Committer {
  readonly #waiting: WaitingCommit[] = [];
  #runningCalls = 0;
  #isScheduled = false;
  readonly #redisClock: RedisClock;
  #wake: Wake | null = null;

  constructor(
    private readonly redis: Redis,
    /** The local clock: monotonic, ms. */
    private readonly monotonicMs: () => number,
  ) {
    this.#redisClock = new RedisClock(redis, monotonicMs);
  }

  /**
   * Rejects when the commit was not written, or when that is uncertain. Repeating it is safe if a record gets a new version
   * by it: if it was written, the repetition finds that version and is `done`, or `stale` after a later change. A commit
   * that only deletes records is `stale` then. Without either, its effects are written again unless a check fails.
   */
  commit(commit: Commit, { whenFull = false }: WriteOptions = {}): Promise<CommitReply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, whenFull, resolve, reject });
      this.#flushSoon();
    });
  }

  /** From now on, what commits make due gets jobs. */
  wakeWith(wake: Wake): void {
    this.#wake = wake;
  }

  get wakes(): boolean {
    return this.#wake !== null;
  }

  /** Redis time, Unix ms. */
  nowMs(): Promise<number> {
    return this.#redisClock.nowMs();
  }

  #flushSoon(): void {
    if (this.#isScheduled || this.#runningCalls === CALLS_MAX || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#runningCalls += 1;
      void this.#send(this.#waiting.splice(0, GROUP_MAX)).then(() => {
        this.#runningCalls -= 1;
        return this.#flushSoon();
      });
      this.#flushSoon();
    });
  }

  async #send(group: readonly WaitingCommit[], options: WriteOptions = {}): Promise<void> {
    try {
      await this.#run(group, options);
    } catch (error) {
      const again = !options.whenFull && isOutOfMemory(error) ? group.filter(({ whenFull }) => whenFull) : [];
      group.filter((waiting) => !again.includes(waiting)).forEach(({ reject }) => reject(error));
      if (again.length > 0) await this.#send(again, { whenFull: true });
    }
  }

  async #run(group: readonly WaitingCommit[], options: WriteOptions): Promise<void> {
    const keys = new Map<string, number>();
    const placeOf = (key: string) => {
      const place = keys.get(key) ?? keys.size + 1;
      keys.set(key, place);
      return place;
    };
    const json = wellFormedJson(group.map(({ commit }) => wire(storedCommit(this.redis, commit), placeOf)));
    const sentMs = this.monotonicMs();
    const due = group.flatMap(({ commit }) => commit.due ?? []);
    const followedBy = () => {
      if (this.#wake) wakeAll(this.#wake, due);
    };
    const run = () => script.run(this.redis, [...keys.keys()], [json], { ...options, followedBy });
    const [now = '', ...replies] = texts(await replicated(this.redis, run), 'commit');
    this.#redisClock.measured(Number(now), sentMs);
    group.forEach(({ resolve, reject }, at) => {
      const reply = replies[at] ?? '';
      if (reply.startsWith(ERROR_PREFIX)) reject(new Error(reply.slice(ERROR_PREFIX.length)));
      else resolve(replyOf(reply));
    });
  }
}

/** The commit as lua/commit.lua expects it. JSON.stringify omits undefined values. */
function wire({ records, checks = [], effects }: Commit, placeOf: (key: string) => number) {
  return {
    records: records.map(({ key, expected, version, set = {}, remove = [], isGone, notBeforeMs, notAfterMs }) => ({
      key: placeOf(key),
      expected,
      version,
      set: flatList(set),
      remove,
      gone: isGone,
      not_before: notBeforeMs,
      not_after: notAfterMs,
    })),
    checks: checks.map(({ key, field, value }) => [placeOf(key), field, value]),
    effects: effects.map((effect) => effect.map((part, at) => (at === 1 ? placeOf(effect[1]) : String(part)))),
  };
}

/** Names and values in turn. */
function flatList(fields: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  for (const name in fields) list.push(name, fields[name] ?? '');
  return list;
}

function replyOf(reply: string): CommitReply {
  if (reply === 'done' || reply === 'stale' || reply === 'early') return reply;
  throw new UnexpectedReply('commit');
}
