import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { ask } from './ask';
import { ensureServer, recordedProcessId } from './ensure';
import { findServer, type ServerLookup } from './find-server';
import { END_TIMEOUT_MS, endServer, sendSignal } from './processes';

/** A private Redis server with the data of a snapshot. */
export interface SnapshotServer {
  /** With a password that only this process knows. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a Redis server for this machine only on a snapshot file (RDB). It writes nothing to the disk; changes are lost
 * when it stops. It also stops when this process exits.
 *
 * @throws RedisNotAvailable without a server program; RedisDidNotStart when the file is damaged or of a later Redis, or
 *   the server was killed while it loaded it.
 */
export async function serveSnapshot(file: string, lookup: ServerLookup): Promise<SnapshotServer> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'towhook-snapshot-')));
  const atExit = () => {
    const processId = recordedProcessId(folder);
    if (processId !== null) sendSignal(processId, 'SIGKILL');
  };
  const atSignal = () => process.exit(1);
  process.once('exit', atExit).once('SIGINT', atSignal).once('SIGTERM', atSignal);
  const removeAll = async () => {
    process.off('exit', atExit).off('SIGINT', atSignal).off('SIGTERM', atSignal);
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
        await removeAll();
      },
    };
  } catch (error) {
    atExit();
    await removeAll();
    throw error;
  }
}

const SNAPSHOT = 'snapshot.rdb';
