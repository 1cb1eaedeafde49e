import type { BulkDocument, BulkInterruption } from '../contracts/bulk';
import type { Actor } from '../domain/audit';
import type { Clock } from '../platform/clock';
import { errorFacts, type Log } from '../platform/log';
import { repeat } from '../platform/repeat';
import { decideItem, type DecideTools } from './bulk-item';
import { ComeBackLater, createPatience, type PatienceSettings } from './bulk-patience';
import type { BegunItem, BulkResult, HeldRun } from './bulk-port';

/** Running a bulk run: a few lanes side by side, each with one task at a time. */

export interface LaneTools extends DecideTools {
  /** Who holds the key now that lets the run run; null once it is revoked. */
  readonly holder: () => Promise<Actor | null>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LaneSettings extends PatienceSettings {
  readonly lanes: number;
  /** How often the process says that it lives. */
  readonly heartbeatMs: number;
}

export const LANE_SETTINGS: LaneSettings = {
  lanes: 4,
  triesMax: 5,
  retry: { retryBaseMs: 250, retryCapMs: 4000 },
  heartbeatMs: 3000,
};

export interface Running {
  readonly held: HeldRun;
  readonly document: BulkDocument;
  /** Asks for an end in good order: no further task is begun. */
  readonly signal: AbortSignal;
}

/**
 * Decides the tasks of a run until none waits, it is aborted or taken away, or it cannot go on; says why it cannot. What
 * was begun is written down, unless that is what cannot be done.
 */
export async function runLanes(tools: LaneTools, settings: LaneSettings, run: Running): Promise<BulkInterruption> {
  const ending = new AbortController();
  let why: BulkInterruption = 'not_answering';
  const stop = (because: BulkInterruption) => {
    if (!ending.signal.aborted) why = because;
    ending.abort();
  };
  const onSignal = () => stop('console_stopped');
  run.signal.addEventListener('abort', onSignal);
  if (run.signal.aborted) onSignal();
  const heartbeat = repeat({
    name: 'bulk.heartbeat',
    everyMs: settings.heartbeatMs,
    work: async () => {
      if (!(await run.held.renew())) ending.abort();
      return 'rest';
    },
    log: tools.log,
  });
  const lane = createLane(tools, settings, { ...run, ending: ending.signal });
  const lanes = Array.from({ length: settings.lanes }, async (_, number) => {
    const stopped = await lane(number).catch((error: unknown): BulkInterruption | null => {
      if (ending.signal.aborted) return null;
      tools.log.warn('bulk.not_answered', { bulk_id: run.document.id, ...errorFacts(error), stack: undefined });
      return 'not_answering';
    });
    if (stopped) stop(stopped);
  });
  await Promise.all(lanes);
  run.signal.removeEventListener('abort', onSignal);
  await heartbeat.stop();
  return why;
}

/** What one lane does until it ends: null when there is nothing more for it, else why the run cannot go on. */
function createLane(
  tools: LaneTools,
  settings: LaneSettings,
  { held, document, ending }: Running & { ending: AbortSignal },
): (lane: number) => Promise<BulkInterruption | null> {
  const patiently = createPatience(tools.clock, settings, ending);
  const toTheLast = createPatience(tools.clock, settings);

  const decide = (item: BegunItem) =>
    patiently(async (triesBefore): Promise<BulkResult | BulkInterruption | null> => {
      const actor = await tools.holder();
      if (!actor) return 'key_ended';
      const mayHaveRun = item.mayHaveRun || triesBefore > 0;
      const isOurs = () => held.isSurelyHeld() && !ending.aborted;
      const tried = await decideItem(tools, { document, target: item.target, actor, mayHaveRun, isOurs });
      switch (tried.kind) {
        case 'settled':
          return tried.result;
        case 'later':
          throw new ComeBackLater(tried.afterMs);
        case 'not_ours':
          return null;
      }
    });

  return async (lane) => {
    while (!ending.aborted) {
      // A lane has one task at a time.
      /* oxlint-disable eslint/no-await-in-loop */
      const item = await patiently(() => held.begin(lane));
      const result = item && (await decide(item));
      if (item === null || result === null) return null;
      if (typeof result === 'string') return result;
      // Also when the run is to end: this was begun, and what is known of it is worth more than a moment.
      await toTheLast(() => held.note(item.position, result));
      /* oxlint-enable eslint/no-await-in-loop */
    }
    return null;
  };
}
