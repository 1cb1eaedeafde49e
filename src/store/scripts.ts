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
