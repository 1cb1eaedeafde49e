import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../platform/clock';
import type { Log } from '../../platform/log';
import { makeFolder } from '../../platform/make-folder';
import { ensureServer, recordedProcessId } from './ensure';
import { findServer, type ServerLookup } from './find-server';
import { withFolderLock } from './folder-lock';
import { isServedBy, probe } from './probe';
import { endServer, sendSignal } from './processes';
import { enter, isUsed, leave } from './users';
import { watchServer } from './watch';

/** Longer than an abandoned lock takes to be seen as such. */
const LOCK_WAIT_MS = 60_000;
const END_TIMEOUT_MS = 10_000;

export interface EmbeddedRedisOptions {
  /** The server keeps its data in `redis` under this folder. */
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly lookup: Omit<ServerLookup, 'log' | 'clock'>;
  /** `always`: an acknowledged write survives a power failure. `everysec`: the last second may not. */
  readonly appendFsync?: 'always' | 'everysec';
  /** By default any free one; the same again at the next start, if it is still free. */
  readonly port?: number;
}

export interface EmbeddedRedis {
  readonly url: string;
  readonly port: number;
  /** Changes when the server had to be brought back. */
  readonly processId: number;
  /** Whether a process that lives was using this server already. */
  readonly shared: boolean;
  /** Gives the server up. The last one to do so ends it, with everything written out. */
  stop(): Promise<void>;
  /** Sends the server a signal; for trying out what happens then. */
  kill(signal: NodeJS.Signals): void;
}

/**
 * A Redis server for this machine alone, with everything it holds on disk. All that start one on the same `dataDir` use
 * the same server, one that a killed process left behind is taken over, and one that dies while it is used is brought
 * back on the same port with its data. It ends with the last process that uses it.
 *
 * @throws RedisNotAvailable when there is no server program, RedisDidNotStart with the server's own last words.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { clock, log } = options;
  const folder = await prepareFolder(options.dataDir);
  const lock = { file: join(folder, 'lock'), clock, waitMs: LOCK_WAIT_MS };
  const ensure = (port: number | undefined) =>
    ensureServer({
      folder,
      port,
      findServer: () => findServer({ ...options.lookup, clock, log }),
      settings: { appendfsync: options.appendFsync ?? 'always' },
    });

  const first = await withFolderLock(lock, async () => {
    const server = await ensure(options.port);
    const shared = isUsed(folder);
    return { ...server, shared, user: enter(folder, clock.id()) };
  });
  const { port, shared } = first;
  let { processId } = first;
  log.info('embedded_redis.started', { port, process_id: processId, folder, already_running: first.wasRunning });

  const endWatch = watchServer({
    port,
    log,
    revive: () =>
      withFolderLock(lock, async () => {
        const server = await ensure(port);
        processId = server.processId;
        if (!server.wasRunning) log.error('embedded_redis.revived', { port, process_id: processId, folder });
      }),
  });

  // A process that ends without `stop` has no time to wait; the server gets the word and ends by itself.
  const atExit = () => {
    leave(folder, first.user);
    if (!isUsed(folder) && recordedProcessId(folder) === processId) sendSignal(processId, 'SIGTERM');
  };
  process.once('exit', atExit);

  const endIfUnused = async () => {
    leave(folder, first.user);
    if (isUsed(folder)) return;
    const answer = await probe(port, folder);
    // Another user may have brought it back since.
    if (answer.state === 'ready' || answer.state === 'loading') processId = answer.processId;
    // By process id alone another program might be hit.
    if (await isServedBy(port, processId)) await endServer({ port, folder, processId }, END_TIMEOUT_MS);
  };
  const stop = async () => {
    await endWatch();
    // Where the folder was removed under us nobody else can be using the server.
    await (existsSync(folder) ? withFolderLock(lock, endIfUnused) : endIfUnused());
    process.off('exit', atExit);
    log.info('embedded_redis.stopped', { port, folder });
  };
  let stopping: Promise<void> | null = null;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get processId() {
      return processId;
    },
    shared,
    stop: () => (stopping ??= stop()),
    kill: (signal) => sendSignal(processId, signal),
  };
}

async function prepareFolder(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'redis');
  // It holds what the tows hold, plates and places included.
  await makeFolder(folder, 0o700);
  return realpath(folder);
}

/** Whether an embedded server has kept anything in `dataDir`, whatever its version names its files. */
export async function holdsData(dataDir: string): Promise<boolean> {
  const names = await readdir(join(dataDir, 'redis')).catch(() => []);
  return names.some((name) => /^(appendonlydir|appendonly\.aof|dump\.rdb)$/.test(name));
}
