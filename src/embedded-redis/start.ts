import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Log } from '../platform/log/log';
import { makeFolder } from '../platform/folders';
import { pause } from '../platform/timers';
import { ensureServer } from './ensure';
import { findServer, type ServerLookup } from './find-server';
import { withFolderLock } from './folder-lock';
import { ask, isServedBy } from './probe';
import { endServer, END_TIMEOUT_MS } from './probe';
import { ConfigurationError, type Config } from '../platform/config/config';
import type { Resources } from '../platform/resources';

/** Longer than a server takes to start and load its data. */
const LOCK_WAIT_MS = 60_000;

export interface EmbeddedRedisOptions {
  /** The server keeps its data in `redis` under this folder. */
  readonly dataDir: string;
  readonly log: Log;
  readonly lookup: Omit<ServerLookup, 'log'>;
  /** Default: a free port, and the same port at the next start if it is still free. */
  readonly port?: number;
}

export interface EmbeddedRedis {
  readonly url: string;
  readonly port: number;
  readonly processId: number;
  /** True if the server ran already. */
  readonly wasRunning: boolean;
  /** Stops using the server. The last user stops it, with its data written to disk. */
  stop(): Promise<void>;
}

/**
 * Starts a Redis server for this machine only, with its data on disk, or connects to the running one of the same
 * `dataDir`: processes share it, and one that a killed process left running is taken over. A server that dies is started
 * again by the next process that starts. It stops with the last process that uses it.
 *
 * @throws RedisNotAvailable without a server program, RedisDidNotStart with the end of the server's log.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { log } = options;
  const folder = await prepareFolder(options.dataDir);
  const lock = { file: join(folder, 'lock'), waitMs: LOCK_WAIT_MS };
  const { port, processId, wasRunning, connection } = await withFolderLock(lock, async () => {
    const findProgram = () => findServer({ ...options.lookup, log });
    const server = await ensureServer({ folder, port: options.port, findServer: findProgram, settings: {} });
    return { ...server, connection: await stayConnected(server.port) };
  });
  log.info('embedded_redis.started', { port, process_id: processId, folder, already_running: wasRunning });

  /** Returns whether the server ended. */
  const endIfUnused = async () => {
    connection.destroy();
    if (await isUsed(port)) return false;
    // A process id alone could belong to another program.
    if (await isServedBy(port, processId)) await endServer({ port, folder, processId }, END_TIMEOUT_MS);
    return true;
  };
  const stop = async () => {
    // If the folder was removed, no other process can use the server.
    const hasEnded = await (existsSync(folder) ? withFolderLock(lock, endIfUnused) : endIfUnused());
    log.info(hasEnded ? 'embedded_redis.stopped' : 'embedded_redis.left', { port, folder });
  };
  let stopping: Promise<void> | null = null;
  return { url: `redis://127.0.0.1:${port}`, port, processId, wasRunning, stop: () => (stopping ??= stop()) };
}

/** A connection that shows the server that this process uses it, from the start on. It ends with the process. */
async function stayConnected(port: number): Promise<Socket> {
  const socket = createConnection({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  socket.on('error', () => {}).unref();
  return socket;
}

/** Whether other connections to the server exist. Those that this process has just closed may still be listed. */
async function isUsed(port: number): Promise<boolean> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const info = await ask(port, ['INFO', 'clients']).catch(() => '');
    const [, clients = '0'] = /^connected_clients:(\d+)/m.exec(String(info)) ?? [];
    if (Number(clients) <= 1) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}

const LOOKS = 10;
const LOOK_EVERY_MS = 20;

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
export async function openEmbedded(config: Config, tools: { log: Log; resources: Resources }): Promise<string> {
  const { log, resources } = tools;
  if (config.isProduction) {
    throw new ConfigurationError([{ variable: 'REDIS_URL', rule: 'is required when NODE_ENV is production' }]);
  }
  const embedded = await startEmbeddedRedis({
    dataDir: config.dataDir,
    log,
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
