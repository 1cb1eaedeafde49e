import { ArchiveFailed, createArchiveWriter, type ArchiveWriter } from '../archive/write';
import { throttledLog } from '../platform/log-throttle';
import { repeat, type Repetition } from '../platform/repeat';
import { createDeliveryStore } from '../store/deliveries';
import { createLocks, type HeldLock } from '../store/locks';
import { createArchiveTask, createRetentionStore } from '../store/retention';
import { createTowStore } from '../store/tows';
import { createViolationStore } from '../store/violations';
import { sweep } from '../workflow/retention';
import type { Archive } from '../workflow/retention-port';
import type { Foundation } from './foundation';

const EVERY_MS = 60_000;
/** Outlasts the pause between two sweeps by far: the same process goes on filling the same file. */
const LOCK_MS = 3 * EVERY_MS;
/** An archive that cannot be written is said once in so long. */
const SAY_EVERY_MS = 10 * EVERY_MS;

/** The right to archive, and the files that come with it. */
interface Turn {
  readonly lock: HeldLock;
  readonly writer: ArchiveWriter;
}

/**
 * Moves what is finished from Redis to the archive for as long as the process runs. Of all processes one does it at a
 * time. While the archive cannot be written nothing is deleted, `archive.failed` is logged and a task is open.
 */
export function startRetention(foundation: Foundation, everyMs = EVERY_MS): Repetition {
  const { config, clock, log, metrics, resources, redis } = foundation;
  const locks = createLocks(redis, clock);
  const task = createArchiveTask(redis);
  const alarm = throttledLog(log, { clock, quietMs: SAY_EVERY_MS });
  const stores = {
    tows: createTowStore(redis),
    deliveries: createDeliveryStore(redis),
    violations: createViolationStore(redis),
    retention: createRetentionStore(redis),
  };
  let turn: Turn | null = null;

  const endTurn = async () => {
    const ending = turn;
    turn = null;
    await ending?.writer.close();
    // What cannot be given back runs out by itself.
    await ending?.lock.giveBack().catch(() => {});
  };

  const beginTurn = async (): Promise<Turn | null> => {
    const lock = await locks.take('retention', LOCK_MS);
    return lock && { lock, writer: createArchiveWriter({ dataDir: config.dataDir, epoch: lock.epoch, clock }) };
  };

  const sayItFailed = async ({ code, message }: ArchiveFailed) => {
    await task.open(code);
    alarm.error('archive.failed', { error_code: code, error: message });
  };

  const repetition = repeat({
    name: 'retention',
    everyMs,
    log,
    async work() {
      if (turn && !(await turn.lock.renew())) await endTurn();
      turn ??= await beginTurn();
      if (!turn) return 'rest';
      try {
        const { archived, more } = await sweep({ ...stores, archive: archiveOf(turn), keep: config.keep, log });
        for (const [type, count] of Object.entries(archived)) metrics.archived(type, count);
        if (Object.values(archived).some((count) => count > 0)) await task.close();
        return more ? 'more' : 'rest';
      } catch (error) {
        if (!(error instanceof ArchiveFailed)) throw error;
        // The next turn, here or in another process, begins a file of its own.
        await endTurn();
        await sayItFailed(error);
        return 'rest';
      }
    },
  });
  return resources.add('retention', repetition, async (opened) => {
    await opened.stop();
    await endTurn();
  });
}

/** The archive for as long as the right to it surely lasts. */
function archiveOf({ lock, writer }: Turn): Archive {
  return {
    async append(records) {
      if (!lock.isSurelyHeld()) throw new Error('the right to archive ran out while records were read');
      await writer.append(records);
    },
  };
}
