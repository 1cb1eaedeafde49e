import { join } from 'node:path';
import type { Clock } from '../../platform/clock';
import type { Log } from '../../platform/log';
import { projectFolder } from '../../platform/project-folder';
import { privateCopy } from './private-copy';
import { RedisNotAvailable, type Attempt } from './redis-not-available';
import { checkServer, findExecutable, type ServerBinary } from './server-binary';
import { messageOf } from '../../platform/system-error';

/** Where to look for a Redis server. */
export interface ServerLookup {
  /** `REDIS_SERVER_BIN`: this one and no other. */
  readonly binary?: string | null;
  /** Folders to look in, joined as in `PATH`. */
  readonly searchPath: string;
  /** Where the private copy is kept; by default `.cache/redis` in the project. */
  readonly cacheFolder?: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Valkey speaks and stores what Redis does. */
const NAMES = ['redis-server', 'valkey-server'];

/**
 * A Redis server that starts on this machine: the one that was named, else an installed one, else a private copy that
 * is fetched once and needs neither root nor an installation.
 *
 * @throws RedisNotAvailable with all that was tried and what to do.
 */
export async function findServer(lookup: ServerLookup): Promise<ServerBinary> {
  if (typeof lookup.binary === 'string') return checkNamed(lookup.binary);
  const attempts: Attempt[] = [];
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
  const attempts: Attempt[] = [];
  const found = await attempt(attempts, 'REDIS_SERVER_BIN', () => checkServer(binary, null));
  if (found === null) throw new RedisNotAvailable(attempts);
  return found;
}

async function attempt(
  attempts: Attempt[],
  tried: string,
  find: () => Promise<ServerBinary>,
): Promise<ServerBinary | null> {
  try {
    return await find();
  } catch (error) {
    attempts.push({ tried, problem: messageOf(error) });
    return null;
  }
}
