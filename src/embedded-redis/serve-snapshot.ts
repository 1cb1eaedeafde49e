import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ask } from './probe';
import { ensureServer, recordedProcessId } from './ensure';
import { findServer, type ServerLookup } from './find-server';
import { pidFile } from './ensure';
import { END_TIMEOUT_MS, endServer, sendSignal } from './probe';

/** A private Redis server with the data of a snapshot. */
export interface SnapshotServer {
  /** With a password that only this process knows. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a Redis server for this machine only on a snapshot file (RDB). It writes nothing to the disk; changes are lost
 * when it stops. It also stops when this process ends, however it ends, and leaves no folder behind.
 *
 * @throws RedisNotAvailable without a server program; RedisDidNotStart when the file is damaged or of a later Redis, or
 *   the server was killed while it loaded it.
 */
export async function serveSnapshot(file: string, lookup: ServerLookup): Promise<SnapshotServer> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'towhook-snapshot-')));
  const endWatchdog = startWatchdog(folder);
  const removeFolder = async () => {
    endWatchdog();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await symlink(resolve(file), join(folder, SNAPSHOT));
    const server = await ensureServer({
      folder,
      findServer: () => findServer(lookup),
      settings: { appendonly: 'no', dbfilename: SNAPSHOT },
    });
    const password = randomBytes(32).toString('base64url');
    await ask(server.port, ['CONFIG', 'SET', 'requirepass', password]);
    return {
      url: `redis://:${password}@127.0.0.1:${server.port}`,
      async stop() {
        await endServer(server, END_TIMEOUT_MS);
        await removeFolder();
      },
    };
  } catch (error) {
    const processId = recordedProcessId(folder);
    if (processId !== null) sendSignal(processId, 'SIGKILL');
    await removeFolder();
    throw error;
  }
}

/**
 * Starts a process that kills the server and removes the folder when this process ends, however it ends: the pipe to the
 * watchdog closes then. Returns how to end it.
 */
function startWatchdog(folder: string): () => void {
  const watchdog = spawn('sh', ['-c', WATCHDOG, 'sh', pidFile(folder), folder], {
    // Neither Ctrl-C nor the end of the terminal must end it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // A machine without a shell keeps both when this process is ended early.
  watchdog.on('error', () => {});
  watchdog.unref();
  return () => watchdog.kill('SIGKILL');
}

/** `read` returns when the pipe closes. */
const WATCHDOG = 'read -r _; kill -KILL "$(cat "$1")"; rm -rf "$2"';

const SNAPSHOT = 'snapshot.rdb';
