import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

const FOLDER = join(__dirname, 'lua');
const INCLUDE = /^--! include (\S+)$/gm;
/** Lets a script write although the memory limit is reached. Redis 7 and newer only. */
const ALLOW_OOM = '#!lua flags=allow-oom\n';

export interface WriteOptions {
  /**
   * Written even if Redis has no memory left for new data. For what finishes work, removes data or announces alarms: a full
   * Redis needs it to free memory. Redis 6.2 rejects it like any other write.
   */
  readonly whenFull?: boolean;
  /** Issues commands that Redis runs right after the script; called each time that it is sent. */
  readonly followedBy?: () => void;
}

/** A Lua script of the lua folder. Its header documents keys, arguments and reply. */
export class Script {
  readonly #text: string;
  readonly #sha: string;
  readonly #textWhenFull: string;
  readonly #shaWhenFull: string;

  constructor(readonly name: string) {
    this.#text = load(`${name}.lua`, new Set());
    this.#sha = shaOf(this.#text);
    this.#textWhenFull = ALLOW_OOM + this.#text;
    this.#shaWhenFull = shaOf(this.#textWhenFull);
  }

  /** Runs the script atomically. The caller parses the reply. */
  async run(
    redis: Redis,
    keys: readonly string[],
    args: readonly (string | number)[],
    { whenFull = false, followedBy }: WriteOptions = {},
  ): Promise<unknown> {
    const run = (text: string, sha: string) => runText(redis, { text, sha, followedBy }, keys, args);
    try {
      return await run(this.#text, this.#sha);
    } catch (error) {
      if (!whenFull || !isOutOfMemory(error)) throw error;
      return run(this.#textWhenFull, this.#shaWhenFull);
    }
  }
}

/**
 * True if Redis rejected a script because the memory limit is reached. Nothing was written then, because Redis checks
 * the limit only until the first write of a script. False for the other message of Redis 6.2.
 */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('OOM ');
}

async function runText(
  redis: Redis,
  { text, sha, followedBy }: { text: string; sha: string; followedBy: (() => void) | undefined },
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const sent = (reply: Promise<unknown>) => {
    followedBy?.();
    return reply;
  };
  try {
    return await sent(redis.evalsha(sha, keys.length, ...keys, ...args));
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return sent(redis.eval(text, keys.length, ...keys, ...args));
  }
}

function shaOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/** The text of a script with its includes inserted, each file once. */
function load(file: string, included: Set<string>): string {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return text.replace(INCLUDE, (_line, name: string) => {
    if (included.has(name)) return '';
    included.add(name);
    return load(name, included);
  });
}

/** JSON.stringify writes this escape, in small letters, only for a lone surrogate. */
const LONE_SURROGATE = /\\ud[89a-f]/;

/** JSON without lone surrogates, which cjson rejects. */
export function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!LONE_SURROGATE.test(json)) return json;
  return JSON.stringify(value, (_name, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item));
}
