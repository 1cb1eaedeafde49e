import { platform } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../platform/log/log';
import { projectFolder } from '../platform/process';
import { privateCopy } from './private-copy';
import { checkServer, findExecutable, type ServerBinary } from './server-binary';
import { errorMessage } from '../platform/errors';

/** A way to get a Redis server that failed, and why. */
export interface FailedSearch {
  readonly tried: string;
  readonly problem: string;
}

/** No Redis server was found. The message for the terminal lists what was tried and what to do, own system first. */
export class RedisNotAvailable extends Error {
  override readonly name = 'RedisNotAvailable';

  constructor(readonly attempts: readonly FailedSearch[]) {
    super(
      [
        'No Redis server was found on this machine.',
        'Tried:',
        ...attempts.map(({ tried, problem }) => `  - ${tried}: ${problem}`),
        'Do one of these, then start again:',
        ...remedies().map((remedy) => `  - ${remedy}`),
      ].join('\n'),
    );
  }
}

function remedies(): readonly string[] {
  const apt = 'Debian, Ubuntu: apt-get install redis-server';
  const brew = 'macOS: brew install redis';
  const apk = 'Alpine: apk add redis';
  const anywhere = [
    'with Docker: docker run -d -p 127.0.0.1:6379:6379 redis:8-alpine --appendonly yes --maxmemory-policy noeviction, ' +
      'and set REDIS_URL=redis://127.0.0.1:6379',
    'set REDIS_URL to a Redis you have, or REDIS_SERVER_BIN to a redis-server binary',
  ];
  return platform() === 'darwin' ? [brew, apt, apk, ...anywhere] : [apt, apk, brew, ...anywhere];
}

/** Where to search for a Redis server. */
export interface ServerLookup {
  /** `REDIS_SERVER_BIN`: the only server that is tried. */
  readonly binary?: string | null;
  /** Folders, joined as in `PATH`. */
  readonly searchPath: string;
  /** Folder of the private copy; by default `.cache/redis` in the project. */
  readonly cacheFolder?: string;
  readonly log: Log;
}

/** Valkey has the same protocol and files as Redis. */
const NAMES = ['redis-server', 'valkey-server'];

/**
 * Finds a Redis server that starts on this machine: the configured one, else an installed one, else a private copy that
 * is downloaded once and needs neither root nor an installation.
 *
 * @throws RedisNotAvailable
 */
export async function findServer(lookup: ServerLookup): Promise<ServerBinary> {
  if (typeof lookup.binary === 'string') return checkNamed(lookup.binary);
  const attempts: FailedSearch[] = [];
  for (const name of NAMES) {
    const path = await findExecutable(name, lookup.searchPath);
    const found = await attempt(attempts, `${name} on the PATH`, async () => {
      if (path === null) throw new Error('not installed');
      return checkServer(path, null);
    });
    if (found !== null) return found;
  }
  const cacheFolder = lookup.cacheFolder ?? join(projectFolder(), '.cache', 'redis');
  const copy = await attempt(attempts, `a private copy in ${cacheFolder}`, () => privateCopy(cacheFolder, lookup));
  if (copy !== null) return copy;
  throw new RedisNotAvailable(attempts);
}

async function checkNamed(binary: string): Promise<ServerBinary> {
  const attempts: FailedSearch[] = [];
  const found = await attempt(attempts, 'REDIS_SERVER_BIN', () => checkServer(binary, null));
  if (found === null) throw new RedisNotAvailable(attempts);
  return found;
}

async function attempt(
  attempts: FailedSearch[],
  tried: string,
  find: () => Promise<ServerBinary>,
): Promise<ServerBinary | null> {
  try {
    return await find();
  } catch (error) {
    attempts.push({ tried, problem: errorMessage(error) });
    return null;
  }
}
