import { hostname } from 'node:os';
import type { BeatingRole, ProcessDocument } from '../contracts/figures';
import { repeat, type Repetition } from '../platform/repeat';
import { within } from '../platform/within';
import { createProcessStore } from '../store/processes';
import { openSampling } from './figures';
import type { Foundation } from './foundation';
import { spoolCheck, type Check } from './health';
import { ownVersion } from './own-version';
import { workerHealth, type SupervisedWorker } from './supervise';

const EVERY_MS = 5000;
/** A disk that hangs must not keep a process from saying that it lives. */
const CHECK_MS = 2000;

/** What a process tells about itself beside that it lives. */
export interface Standing {
  /** What it needs besides Redis, by name: a beat that arrives has found Redis in order. */
  readonly checks: Readonly<Record<string, Check>>;
  readonly worker: SupervisedWorker | null;
}

/** What the checks of a role are called: those of its `/readyz`, Redis left out. */
export function standingOf(
  foundation: Foundation,
  { hasSpool, worker }: { hasSpool: boolean; worker: SupervisedWorker | null },
): Standing {
  return {
    checks: {
      ...(hasSpool ? { spool: spoolCheck(foundation) } : {}),
      ...(worker ? { worker: () => workerHealth(worker) } : {}),
    },
    worker,
  };
}

export interface Beats {
  /** Beats from now on. Before, and when the process never got so far, nobody hears of it. */
  begin(standing: Standing): void;
  /** Beats once more, at once. Rejects when Redis cannot take it. */
  beat(): Promise<void>;
}

/**
 * Tells all processes every 5 s that this one lives, what is wrong with it, and what it has counted since: one script a
 * beat, no other write. Opened before the parts of a role, so that it ends after them: the last of what they counted is
 * told, and the process takes itself out. While Redis is away a line is logged now and then, and what was counted is lost.
 */
export function openBeats(foundation: Foundation, role: BeatingRole): Beats {
  const { clock, redis, resources, tally, troubleLog } = foundation;
  const store = createProcessStore(redis);
  const sample = openSampling(foundation);
  const id = clock.id();
  const startedMs = clock.monotonicMs();
  const self = {
    role,
    hostName: hostname(),
    processId: process.pid,
    version: ownVersion(),
    nodeVersion: process.version,
  };
  let standing: Standing | null = null;
  let repetition: Repetition | null = null;

  const beat = async () => {
    if (standing === null) return;
    const document: ProcessDocument = {
      ...self,
      problems: await problemsOf(standing),
      queues: (standing.worker?.queues() ?? []).map(({ name, lastTookMs, standsStill }) => ({
        name,
        lastTookMs: lastTookMs === null ? null : Math.round(lastTookMs - startedMs),
        standsStill,
      })),
    };
    const { maySample } = await store.beat({ id, uptimeMs: clock.monotonicMs() - startedMs, document }, tally.take());
    if (maySample) await sample();
  };
  resources.add('beats', null, async () => {
    if (repetition === null) return;
    await repetition.stop();
    await store.leave(id, tally.take());
  });
  return {
    begin(given) {
      standing = given;
      repetition ??= repeat({
        name: 'beat',
        everyMs: EVERY_MS,
        log: troubleLog,
        async work() {
          await beat();
          return 'rest';
        },
      });
    },
    beat,
  };
}

/** Names of the checks that fail; one that cannot be made, or does not end, fails. */
async function problemsOf({ checks }: Standing): Promise<string[]> {
  const made = Object.entries(checks).map(async ([name, check]) => {
    const said = await within(CHECK_MS, check());
    return said?.value.ready === true ? [] : [name];
  });
  return (await Promise.all(made)).flat();
}
