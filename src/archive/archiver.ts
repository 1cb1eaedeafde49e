import type { Clock } from '../platform/clock';
import type { DataKeys } from '../platform/data-keys';
import { errorFacts } from '../platform/errors';
import { throttledLog } from '../platform/log/log-throttle';
import type { Metrics } from '../platform/log/metrics';
import { pause, repeat, type Repetition } from '../platform/timers';
import type { Locks, OwnedLock } from '../workflow/ports';
import { sweep, type RetentionTools } from '../workflow/ops/retention';
import type { Archive } from '../workflow/ops/retention';
import { ArchiveFailed, ArchiveFileExists, createArchiveWriter, type ArchiveWriter } from './write';

const EVERY_MS = 60_000;
/** After an error of Redis that may be over soon. */
const RETRY_MS = 3000;
/** Much longer than the pause between two sweeps, so that the same process keeps writing the same file. */
const LOCK_MS = 3 * EVERY_MS;
/** The name of the lock; its fencing number is part of the names of the files that are written under it. */
export const ARCHIVE_LOCK = 'retention';
/** A failing archive is logged at most this often. */
const ALARM_EVERY_MS = 10 * EVERY_MS;

export interface ArchiverTools extends Omit<RetentionTools, 'archive'> {
  readonly locks: Locks;
  /** The task that is open while the archive cannot be written. */
  readonly task: { open(errorCode: string): Promise<void>; close(): Promise<void> };
  readonly dataDir: string;
  readonly keys: DataKeys | null;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * Moves finished records from Redis to the archive until it is stopped. A lock lets one process at a time do it. While
 * the archive cannot be written, nothing is deleted, `archive.failed` is logged and a task is open. A timeout of Redis ends
 * a sweep, and the next one follows after 3 s, so that it does not stop the archiving of later kinds of records.
 */
export function startArchiver(tools: ArchiverTools, everyMs = EVERY_MS): Repetition {
  const { locks, task, dataDir, keys, clock, log, metrics, isTransient } = tools;
  const alarm = throttledLog(log, { clock, quietMs: ALARM_EVERY_MS });
  let session: ArchiveSession | null = null;

  const endSession = async () => {
    const ending = session;
    session = null;
    // All that was archived is on the disk already.
    await ending?.writer.close().catch(() => {});
    // A lock that cannot be released expires.
    await ending?.lock.release().catch(() => {});
  };

  const beginSession = async (): Promise<ArchiveSession | null> => {
    const lock = await locks.acquire(ARCHIVE_LOCK, LOCK_MS);
    const keyId = keys?.first ?? null;
    return lock && { lock, keyId, writer: createArchiveWriter({ dataDir, epoch: lock.epoch, clock, keys }) };
  };

  const reportFailure = async ({ code, message }: ArchiveFailed) => {
    // First, because the task cannot be opened while Redis takes no writes.
    alarm.error('archive.failed', { error_code: code, error: message });
    await task.open(code);
  };

  const archiveSome = async (): Promise<'continue' | void> => {
    // With another key a new file begins, so that the one before may be rewritten.
    if (session && session.keyId !== (keys?.first ?? null)) await endSession();
    if (session && !(await session.lock.renew())) await endSession();
    session ??= await beginSession();
    if (!session) return;
    try {
      const { archived, more } = await sweep({ ...tools, archive: archiveOf(session) });
      for (const [type, count] of Object.entries(archived)) metrics.archived(type, count);
      if (Object.values(archived).some((count) => count > 0)) await task.close();
      if (more) return 'continue';
    } catch (error) {
      if (!(error instanceof ArchiveFailed)) throw error;
      // The next session, in this process or another, begins a new file.
      await endSession();
      if (error instanceof ArchiveFileExists) return 'continue';
      await reportFailure(error);
    }
  };

  const repetition = repeat({
    name: 'retention',
    everyMs,
    log,
    async work(signal) {
      try {
        return await archiveSome();
      } catch (error) {
        if (!isTransient(error)) throw error;
        alarm.warn('retention.failed', { ...errorFacts(error), stack: undefined });
        await pause(Math.min(RETRY_MS, everyMs), signal);
        return 'continue';
      }
    },
  });
  return {
    async stop() {
      await repetition.stop();
      await endSession();
    },
  };
}

/** The lock and the files that are written under it. */
interface ArchiveSession {
  readonly lock: OwnedLock;
  /** The id of the first key when it began. */
  readonly keyId: string | null;
  readonly writer: ArchiveWriter;
}

/** The archive while the lock has surely not expired. */
function archiveOf({ lock, writer }: ArchiveSession): Archive {
  return {
    async append(records) {
      if (!lock.isSurelyOwned()) throw new Error('the archive lock expired while records were read');
      await writer.append(records);
    },
  };
}
