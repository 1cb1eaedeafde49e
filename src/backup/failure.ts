import { resolve, sep } from 'node:path';
import { BackupProblem } from '../cli';
import { errorCode, errorMessage } from '../platform/errors';
import { isReply } from '../store/redis/connect';
import { isTransient } from '../store/redis/until-answered';

/** What a command reads and writes. */
export interface Places {
  /** A restore is a `preparation` until it has taken its Redis, which may be the one of the installation until then. */
  readonly kind: 'backup' | 'verification' | 'preparation' | 'restore';
  /** The folder of the backup; null without one. */
  readonly folder: string | null;
  readonly dataDir: string;
}

/** The problem of a command that a disk or Redis ended; any other error as it is. */
export function backupFailure(error: unknown, places: Places): unknown {
  if (error instanceof BackupProblem) return error;
  const [path, remedy] = [pathOf(error), DISK_REMEDIES.get(errorCode(error) ?? '')];
  if (path !== null || remedy !== undefined) {
    // The rest of the message may be a path with the reference of a tow.
    const [why] = errorMessage(error).split(',');
    return new BackupProblem('disk_failed', `${placeOf(path, places)} cannot be used: ${why}.`, remedy);
  }
  if (isReply(error)) {
    const reply = errorMessage(error);
    return new BackupProblem('redis_refused', `Redis refused a command: ${reply}`, redisRemedy(reply, places));
  }
  if (isTransient(error)) {
    return new BackupProblem(
      'redis_unreachable',
      `Redis no longer answers: ${errorMessage(error)}`,
      [...stateOfTarget(places), 'Run the command again.'].join(' '),
    );
  }
  return error;
}

/** What `work` resolves with. @throws the problem of the command in place of an error of a disk or Redis. */
export async function explained<T>(work: Promise<T>, places: Places): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw backupFailure(error, places);
  }
}

const MAKE_ROOM = 'Make room on its disk, and run the command again.';
const OTHER_USER = 'Run the command again as a user who may read and write there.';
const NO_FOLDER = 'Name another folder: a part of this path is a file, or cannot be a folder.';

/** What to do when a disk refuses, by the code of the error. */
const DISK_REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', MAKE_ROOM],
  ['EDQUOT', MAKE_ROOM],
  ['EACCES', OTHER_USER],
  ['EPERM', OTHER_USER],
  ['EROFS', 'Mount its disk with the permission to write, or name another folder.'],
  ['ENOTDIR', NO_FOLDER],
  ['EEXIST', NO_FOLDER],
  ['ENOENT', NO_FOLDER],
  ['ENAMETOOLONG', NO_FOLDER],
  ['ELOOP', NO_FOLDER],
  ['EIO', 'Check its disk, and run the command again.'],
]);

/** The path of a file system error; null for a failed read or write, and for any other error. */
function pathOf(error: unknown): string | null {
  const hasPath = typeof error === 'object' && error !== null && 'path' in error && typeof error.path === 'string';
  return hasPath ? String(error.path) : null;
}

/** Without a path: a restore writes to DATA_DIR, the others use the folder. */
function placeOf(path: string | null, { kind, folder, dataDir }: Places): string {
  const ofData = `DATA_DIR (${dataDir})`;
  if (path === null) return folder === null || kind === 'restore' ? ofData : folder;
  const isBelow = (place: string) => `${resolve(path)}${sep}`.startsWith(`${resolve(place)}${sep}`);
  if (folder !== null && isBelow(folder)) return folder;
  return isBelow(dataDir) ? ofData : path;
}

/** What a restore has done to its Redis; nothing for the other commands. */
function stateOfTarget({ kind }: Places): string[] {
  if (kind === 'preparation') return ['Nothing was restored.'];
  if (kind === 'restore')
    return [
      'The Redis of the environment may hold a part of the backup: empty it, with FLUSHDB if no other installation uses it.',
    ];
  return [];
}

function redisRemedy(reply: string, places: Places): string | null {
  const isRestore = places.kind === 'preparation' || places.kind === 'restore';
  const advice = [
    ...stateOfTarget(places),
    ...(/(?:^|-)OOM /.test(reply) ? ['Give Redis more memory (maxmemory), and run the command again.'] : []),
    ...(isRestore && reply.includes('NOPERM ')
      ? ['A restore needs an empty Redis, and a user without limits there: docs/operations/backup.md.']
      : []),
  ];
  return advice.length > 0 ? advice.join(' ') : null;
}
