import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../platform/log';
import { throttledLog } from '../platform/log-throttle';
import { repeat, type Repetition } from '../platform/repeat';
import { createConservationStore } from '../store/conservation';
import type { ConservationStore } from '../workflow/conservation-port';
import { totalOf } from '../workflow/conservation-view';
import type { Foundation } from './foundation';

/** A step that fails is taken again after this. */
const AFTER_FAILURE_MS = 5000;
/** What stays lost is said again once a minute by each process. */
const SAY_EVERY_MS = 60_000;

/**
 * Walks over everything acknowledged for as long as the process runs, together with all other processes that do. What a
 * walk found lost is logged as `conservation.lost`.
 */
export function startConservation({ redis, clock, log, resources }: Foundation): Repetition {
  const conservation = createConservationStore(redis);
  const alarm = throttledLog(log, { clock, quietMs: SAY_EVERY_MS });
  const repetition = repeat({
    name: 'conservation',
    everyMs: AFTER_FAILURE_MS,
    async work(signal) {
      const { isLast, waitMs } = await conservation.step();
      if (isLast) await sayWhatIsLost(conservation, alarm);
      await sleep(waitMs, undefined, { signal }).catch(() => {});
      return 'more';
    },
    log,
  });
  return resources.add('conservation', repetition, (opened) => opened.stop());
}

async function sayWhatIsLost(conservation: ConservationStore, log: Log): Promise<void> {
  const walk = await conservation.lastWalk();
  if (!walk || walk.lostNames.length === 0) return;
  const { lost, repaired } = totalOf(walk);
  log.error('conservation.lost', { lost, repaired, names: walk.lostNames });
}
