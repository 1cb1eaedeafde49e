import type { JobOutcome, RunJob } from '../src/contracts/ops/jobs';
import { UnusableRecord } from '../src/domain/outbox/unusable-record';
import type { Clock } from '../src/platform/clock';
import { errorFacts } from '../src/platform/errors';
import type { Log } from '../src/platform/log/log';
import { carryOutItem, NOT_DECIDED, type ItemOutcome, type RunItemTools } from '../src/workflow/run/run-item';
import type { RunStore } from '../src/workflow/run/run-port';

export interface CarryOutRunTools extends RunItemTools {
  readonly runs: RunStore;
  /** True for an error of Redis that may be over later. */
  readonly isTransient: (error: unknown) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** A run gives way to other work after this long. */
const TURN_MS = 5000;
/** Items at a time; those of one record are in order. */
const SLICE = 20;
/** When items are tried again that could not be carried out now. */
const AGAIN_MS = 2000;

/**
 * Carries out the items of a run that have no result. Needs no lock: the commit of an effect stores the result of its item
 * unless it has one, or the run was aborted. So a job may be lost, or run twice at a time.
 */
export async function carryOutRun({ run_id: runId }: RunJob, tools: CarryOutRunTools): Promise<JobOutcome> {
  const { runs, clock, log } = tools;
  const startedMs = clock.monotonicMs();
  const taken = await runs.take(runId);
  const startedBy = taken?.run.startedBy;
  if (!taken || !startedBy) return { kind: 'done', what: 'not running' };
  const { run, undecided } = taken;
  for (let from = 0; from < undecided.length; from += SLICE) {
    if (clock.monotonicMs() - startedMs >= TURN_MS) return { kind: 'continue', what: 'continue', ref: runId };
    // oxlint-disable-next-line eslint/no-await-in-loop
    const items = await runs.targets(runId, undecided.slice(from, from + SLICE));
    if (!items) return { kind: 'done', what: 'aborted' };
    // oxlint-disable-next-line eslint/no-await-in-loop
    await Promise.all(
      items.map(async ({ position, target }) => {
        const place = { runId, position };
        const carryOut = carryOutItem(tools, { document: run.document, startedBy, place, target });
        const outcome = await carryOut.catch((error: unknown) => failed(error, runId, tools));
        if (outcome !== 'stored' && outcome !== 'later') await runs.settle(place, outcome);
      }),
    );
  }
  const hasEnded = await runs.end(runId, AGAIN_MS);
  if (hasEnded) log.info('run.ended', { run_id: runId });
  return { kind: 'done', what: hasEnded ? 'ended' : 'some later' };
}

/** An item is tried again while Redis is away, and when another process may be able to read its record. */
function failed(error: unknown, runId: string, { isTransient, log }: CarryOutRunTools): ItemOutcome {
  const isLater = isTransient(error) || error instanceof UnusableRecord;
  log.warn('run.item_failed', { run_id: runId, is_tried_again: isLater, ...errorFacts(error), stack: undefined });
  return isLater ? 'later' : NOT_DECIDED;
}
