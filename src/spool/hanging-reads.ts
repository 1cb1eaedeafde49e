import type { Clock } from '../platform/clock';

/** A read that lasts longer hangs. */
const HANGS_AFTER_MS = 3000;

/**
 * Runs reads of the disk, but begins none while an earlier one hangs: each holds one of the few threads that Node has for
 * files and names, and callers that no longer wait for it would start one after the other.
 */
export function refuseWhileReadsHang(clock: Pick<Clock, 'monotonicMs'>) {
  const running = new Set<{ readonly startedMs: number }>();
  return async <T>(read: () => Promise<T>): Promise<T> => {
    const startedMs = clock.monotonicMs();
    // The first is the oldest.
    const [oldest] = running;
    if (oldest !== undefined && startedMs - oldest.startedMs >= HANGS_AFTER_MS) throw new DiskHangs();
    const reading = { startedMs };
    running.add(reading);
    try {
      return await read();
    } finally {
      running.delete(reading);
    }
  };
}

class DiskHangs extends Error {
  override readonly name = 'DiskHangs';

  constructor() {
    super('the disk of DATA_DIR does not answer');
  }
}
