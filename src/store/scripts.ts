import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

const FOLDER = join(__dirname, 'lua');
const INCLUDE = /^--! include (\S+)$/gm;

/** One Lua script of the lua folder; what it takes and returns stands in its header. */
export class Script {
  readonly #text: string;
  readonly #sha: string;

  constructor(readonly name: string) {
    this.#text = load(`${name}.lua`, new Set());
    this.#sha = createHash('sha1').update(this.#text).digest('hex');
  }

  /** Runs a script that only reads many times in one round trip. The replies stand in the order of the runs. */
  async readEach(
    redis: Redis,
    runs: readonly { keys: readonly string[]; args: readonly string[] }[],
  ): Promise<unknown[]> {
    const [first, ...others] = runs;
    if (!first) return [];
    // The first run makes sure that Redis knows the script; in a pipeline nothing could be done about that any more.
    const replies = [await this.run(redis, first.keys, first.args)];
    const pipeline = redis.pipeline();
    for (const { keys, args } of others) pipeline.evalsha(this.#sha, keys.length, ...keys, ...args);
    for (const [error, reply] of (await pipeline.exec()) ?? []) {
      if (error) throw error;
      replies.push(reply);
    }
    return replies;
  }

  /** Runs the script atomically. The reply is to be parsed by the caller. */
  async run(redis: Redis, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.#sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(this.#text, keys.length, ...keys, ...args);
    }
  }
}

/** The text of a script with what it includes put in its place, each file once. */
function load(file: string, included: Set<string>): string {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return text.replace(INCLUDE, (_line, name: string) => {
    if (included.has(name)) return '';
    included.add(name);
    return load(name, included);
  });
}
