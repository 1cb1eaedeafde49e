import type { BulkResult } from '../src/contracts/bulk';
import type { BulkJob, JobOutcome } from '../src/contracts/jobs';
import type { Actor } from '../src/domain/audit';
import { backoffMs } from '../src/domain/backoff';
import type { Clock } from '../src/platform/clock';
import { errorFacts } from '../src/platform/errors';
import type { Log } from '../src/platform/log';
import { decideItem, NOT_DECIDED, bulkResultOf, type BulkItemTools, type BulkItemTry } from '../src/workflow/bulk-item';
import type { BulkStore, CurrentItem, StoredBulk } from '../src/workflow/bulk-port';
import { interrupt, settle } from '../src/workflow/bulk-rules';

export interface DecideTasksTools extends BulkItemTools {
  readonly store: BulkStore;
  /** The person with this id as long as their API key is valid; null once it was revoked. */
  readonly holder: (actor: Actor) => Promise<Actor | null>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A run gives way to other work after this many tasks, or after this time. */
const SLICE_TASKS = 20;
const SLICE_MS = 5000;
/** A decision that has failed this often is left to a person, so that it does not block the rest. */
const TRIES_MAX = 8;
const RETRY = { retryBaseMs: 500, retryCapMs: 60_000 };

/**
 * Decides the next tasks of a bulk run, one after the other. Needs no lock: a second worker on the same run decides under
 * the same Idempotency-Keys, and the version of the run lets one of them record each result. Every commit reschedules the
 * run, so that another worker continues it when this one dies.
 */
export async function decideTasks({ bulk_id: id }: BulkJob, tools: DecideTasksTools): Promise<JobOutcome> {
  const startedMs = tools.clock.monotonicMs();
  for (let count = 0; count < SLICE_TASKS; count += 1) {
    // Each task comes after the result of the one before: it may be the last one before an abort.
    // oxlint-disable-next-line eslint/no-await-in-loop
    const what = await decideNext(id, tools);
    if (what !== 'continue') return { kind: 'done', what };
    if (tools.clock.monotonicMs() - startedMs >= SLICE_MS) break;
  }
  return { kind: 'continue', what: 'continue', ref: id };
}

async function decideNext(id: string, tools: DecideTasksTools): Promise<string> {
  const { store, log, clock } = tools;
  const found = await store.next(id);
  if (!found) {
    await store.unschedule(id);
    return 'expired';
  }
  const { run, item } = found;
  const { document, head } = run;
  if (!item || (head.state !== 'running' && head.state !== 'aborted')) return head.state;
  if (head.state === 'aborted') {
    const skipped = { outcome: 'skipped', words: null } as const;
    return recordResult(tools, {
      id,
      item,
      result: await bulkResultOf(tools, { document, target: item.target }, skipped),
    });
  }
  const actor = head.runBy && (await tools.holder(head.runBy));
  if (!actor) return interruptRun(id, tools);
  const tried = await decideItem(tools, { document, target: item.target, actor }).catch(
    (error: unknown): BulkItemTry => {
      log.warn('bulk.not_decided', {
        bulk_id: id,
        failures: head.failures + 1,
        ...errorFacts(error),
        stack: undefined,
      });
      return { kind: 'later', afterMs: 0 };
    },
  );
  if (tried.kind === 'settled') return recordResult(tools, { id, item, result: tried.result });
  if (head.failures + 1 < TRIES_MAX) return postpone(id, { run, item, afterMs: tried.afterMs }, { store, clock });
  const refused = { outcome: 'refused', words: NOT_DECIDED } as const;
  return recordResult(tools, {
    id,
    item,
    result: await bulkResultOf(tools, { document, target: item.target }, refused),
  });
}

/** Records a result. Returns whether the run continues. */
async function recordResult(
  { store, log }: DecideTasksTools,
  { id, item, result }: { id: string; item: CurrentItem; result: BulkResult },
): Promise<string> {
  const state = await store.change(id, async ({ head, nowMs }, resultAt) => {
    const before = await resultAt(item.position);
    const change = settle(head, { item, before, result, nowMs });
    return { value: (change?.head ?? head).state, change };
  });
  if (state === 'running') return 'continue';
  log.info('bulk.ended', { bulk_id: id, state });
  return state ?? 'expired';
}

/** The API key of the person who started the run was revoked: the rest waits for a person. */
async function interruptRun(id: string, { store, log }: DecideTasksTools): Promise<string> {
  await store.change(id, (run) => {
    const head = interrupt(run.head);
    return Promise.resolve({ value: null, change: head && { head } });
  });
  log.info('bulk.ended', { bulk_id: id, state: 'interrupted' });
  return 'interrupted';
}

/** Tries the current task again after a backoff, at the earliest after `afterMs`. */
async function postpone(
  id: string,
  { run, item, afterMs }: { run: StoredBulk; item: CurrentItem; afterMs: number },
  { store, clock }: Pick<DecideTasksTools, 'store' | 'clock'>,
): Promise<string> {
  const { nowMs } = run;
  const failures = run.head.failures + 1;
  const notBeforeMs = nowMs + Math.min(afterMs, RETRY.retryCapMs);
  const againInMs = backoffMs({ failures: failures - 1, notBeforeMs, nowMs, jitter: clock.random() }, RETRY);
  await store.change(id, ({ head }) =>
    Promise.resolve({
      value: null,
      change: head.current === item.position ? { head: { ...head, failures }, againInMs } : null,
    }),
  );
  return 'postponed';
}
