import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import { makeFolder } from '../platform/folders';
import { ensureServer, recordedProcessId } from './ensure';
import { findServer, type ServerLookup } from './find-server';
import { withFolderLock } from './folder-lock';
import { isServedBy, probe } from './probe';
import { endServer, END_TIMEOUT_MS, sendSignal, enter, isUsed, leave } from './processes';
import { watchServer } from './watch';
import { ConfigurationError, type Config } from '../platform/config';
import type { Resources } from '../platform/resources';

/** Longer than the lock of a dead process takes to become stale. */
const LOCK_WAIT_MS = 60_000;

export interface EmbeddedRedisOptions {
  /** The server keeps its data in `redis` under this folder. */
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly lookup: Omit<ServerLookup, 'log' | 'clock'>;
  /** Default: a free port, and the same port at the next start if it is still free. */
  readonly port?: number;
}

export interface EmbeddedRedis {
  readonly url: string;
  readonly port: number;
  /** Changes when the server was restarted. */
  readonly processId: number;
  /** True if another live process already used this server. */
  readonly shared: boolean;
  /** Stops using the server. The last user stops it, with its data written to disk. */
  stop(): Promise<void>;
}

/**
 * Starts a Redis server for this machine only, with its data on disk. Processes with the same `dataDir` share one server.
 * A server that a killed process left running is taken over. A server that dies is restarted on the same port with its
 * data. The server stops with the last process that uses it.
 *
 * @throws RedisNotAvailable without a server program, RedisDidNotStart with the end of the server's log.
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
      settings: {},
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

  // An exit handler cannot wait, so it only signals the server to stop.
  const atExit = () => {
    leave(folder, first.user);
    if (!isUsed(folder) && recordedProcessId(folder) === processId) sendSignal(processId, 'SIGTERM');
  };
  process.once('exit', atExit);

  /** Returns whether the server ended. */
  const endIfUnused = async () => {
    leave(folder, first.user);
    if (isUsed(folder)) return false;
    const answer = await probe(port, folder);
    // Another user may have restarted it.
    if (answer.state === 'ready' || answer.state === 'loading') processId = answer.processId;
    // A process id alone could belong to another program.
    if (await isServedBy(port, processId)) await endServer({ port, folder, processId }, END_TIMEOUT_MS);
    return true;
  };
  const stop = async () => {
    await endWatch();
    // If the folder was removed, no other process can use the server.
    const hasEnded = await (existsSync(folder) ? withFolderLock(lock, endIfUnused) : endIfUnused());
    process.off('exit', atExit);
    log.info(hasEnded ? 'embedded_redis.stopped' : 'embedded_redis.left', { port, folder });
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
  };
}

async function prepareFolder(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'redis');
  // The data contains plates and locations.
  await makeFolder(folder);
  return realpath(folder);
}

/** True if an embedded server of any version has stored data in `dataDir`. */
async function holdsData(dataDir: string): Promise<boolean> {
  const names = await readdir(join(dataDir, 'redis')).catch(() => []);
  return names.some((name) => /^(appendonlydir|appendonly\.aof|dump\.rdb)$/.test(name));
}

/**
 * Starts the embedded Redis of DATA_DIR, or joins the running one. Returns its address; stops it with `resources`.
 *
 * @throws ConfigurationError in production, where REDIS_URL is required.
 */
export async function openEmbedded(
  config: Config,
  tools: { log: Log; clock: Clock; resources: Resources },
): Promise<string> {
  const { log, clock, resources } = tools;
  if (config.isProduction) {
    throw new ConfigurationError([{ variable: 'REDIS_URL', rule: 'is required when NODE_ENV is production' }]);
  }
  const embedded = await startEmbeddedRedis({
    dataDir: config.dataDir,
    log,
    clock,
    lookup: { searchPath: config.searchPath, binary: config.redis.serverBinary },
  });
  resources.add('embedded redis', embedded, (opened) => opened.stop());
  return embedded.url;
}

/** No embedded Redis has stored data in DATA_DIR. */
export class NoEmbeddedData extends Error {
  override readonly name = 'NoEmbeddedData';
}

/**
 * As `openEmbedded`, but only if an embedded Redis has stored data: a check or backup of an empty one would prove
 * nothing.
 *
 * @throws NoEmbeddedData; ConfigurationError in production.
 */
export async function openExisting(config: Config, tools: Parameters<typeof openEmbedded>[1]): Promise<string> {
  if (!config.isProduction && !(await holdsData(config.dataDir))) {
    throw new NoEmbeddedData('there is nothing to check: DATA_DIR has no embedded Redis and REDIS_URL is not set');
  }
  return openEmbedded(config, tools);
}
