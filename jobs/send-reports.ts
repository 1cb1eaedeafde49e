import { type JobOutcome, type ReportJob, towsOfJob } from '../src/contracts/ops/jobs';
import type { StoredTow } from '../src/domain/outbox/outbox-record';
import type { ReportCallTools } from './report-calls';
import { CALLS, runOutbox, type RunOutboxTools } from './run-outbox';

/** No tow of a job begins after this time: the next job must not wait long behind a slow service. */
const JOB_MAX_MS = 5000;

/**
 * Runs the tows of a job, one after the other. Those that it leaves are due again by their schedule. A tow whose run
 * fails does not keep the others from theirs; rejects with the first failure.
 */
export async function sendReports(
  job: ReportJob,
  tools: ReportCallTools & RunOutboxTools<StoredTow>,
  /** True once the worker stops. */
  isStopping: () => boolean,
): Promise<JobOutcome> {
  const startedMs = tools.clock.monotonicMs();
  const results = new Set<string>();
  const failures: unknown[] = [];
  for (const ref of towsOfJob(job)) {
    const isFirst = results.size === 0 && failures.length === 0;
    if (!isFirst && (isStopping() || tools.clock.monotonicMs() - startedMs >= JOB_MAX_MS)) break;
    try {
      // One at a time: the worker runs as many jobs at once as tows may be sent at once.
      // oxlint-disable-next-line eslint/no-await-in-loop
      results.add((await runOutbox(CALLS.tow, ref, tools, isStopping)).what);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { kind: 'done', what: [...results].join(', ') };
}
