import { type JobOutcome, type ReportJob, towsOfJob } from '../src/contracts/ops/jobs';
import type { OperationName } from '../src/contracts/service/operations';
import type { Entry } from '../src/domain/outbox/entry';
import { refusedTask } from '../src/domain/outbox/escalate-entry';
import { refusalMessage } from '../src/domain/outbox/exchange-message';
import type { OutboxRecord, StoredTow } from '../src/domain/outbox/outbox-record';
import {
  historyOf,
  httpStatusOf,
  judge,
  type Exchange,
  type PolicySettings,
  type Verdict,
} from '../src/domain/service/policy';
import { outageDelayMs, serviceHealth } from '../src/domain/service/service-health';
import type { NewTask } from '../src/domain/ops/tasks';
import { startAge, type Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log/log';
import type { Metrics } from '../src/platform/log/metrics';
import type { Tracing } from '../src/platform/log/tracing';
import type { Claim, Claimed, Outbox } from '../src/workflow/outbox/outbox-port';
import { reportProbe } from '../src/workflow/outbox/prove-connection';
import type { CallResult, ServicePort } from '../src/workflow/service/service-port';
import { differenceOfAnswer } from '../src/workflow/service/differences';
import type { RecordStore } from '../src/workflow/transaction-port';
import { attemptResultOf, countAttempt, spanOfAttempt, type StoredAttempt } from './attempt-result';
import type { EntryCalls, Prepared, RunStep } from './entry-calls';
import { holdLease, type Uploads } from './renew-lease';
import { reportCalls, type ReportCallTools } from './report-calls';
import { violationCalls } from './violation-calls';

export const CALLS = { tow: reportCalls, violation: violationCalls } as const;

/** The tools of a run, besides those of the calls. */
export interface RunOutboxTools<R extends OutboxRecord> {
  readonly outbox: Outbox<R>;
  readonly records: RecordStore;
  readonly service: ServicePort;
  readonly settings: PolicySettings;
  /** An older claim is not used: the lease must outlast the call. That of a call with images is renewed. */
  readonly claimMaxAgeMs: number;
  /** Absent: no record has images, or renewals are not observed. */
  readonly uploads?: Uploads;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

/** The steps of a run before other records get their turn. */
const STEPS_PER_RUN = 10;
/** No step begins after this time. */
const RUN_MAX_MS = 5000;

/** A claim, and how long ago it began, ms. */
interface TimedClaim<R extends OutboxRecord> {
  readonly claim: Claim<R>;
  readonly ageMs: () => number;
}

/** Runs the outbox of a record step by step: claim, call, and store the result together with the next claim. */
export async function runOutbox<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  id: string,
  tools: T & RunOutboxTools<R>,
  /** Once true, no further step begins. */
  isStopping: () => boolean,
): Promise<JobOutcome> {
  const { clock } = tools;
  const startedMs = clock.monotonicMs();
  let timed: TimedClaim<R> = { ageMs: startAge(clock), claim: await tools.outbox.claim(id) };
  for (let steps = 1; ; steps += 1) {
    const mayGoOn = () => !isStopping() && steps < STEPS_PER_RUN && clock.monotonicMs() - startedMs < RUN_MAX_MS;
    const { what, next, ageMs } = await takeStep(calls, timed, tools, mayGoOn);
    if (!next) return { kind: 'done', what };
    timed = { claim: next, ageMs };
  }
}

function takeStep<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  timed: TimedClaim<R>,
  tools: T & RunOutboxTools<R>,
  mayGoOn: () => boolean,
): Promise<RunStep<R>> {
  const { claim } = timed;
  switch (claim.kind) {
    case 'idle':
    case 'needs_action':
    case 'gone':
    case 'wait':
    case 'busy':
      return lastStep(claim.kind);
    case 'escalated':
      return lastStep(claim.why);
    case 'probe':
      return lastStep(probeOutage(claim.failedProbes, tools));
    case 'cleanup':
      if (calls.cleanUp) return lastStep(calls.cleanUp(claim.record, tools));
      break;
    case 'check':
      if (calls.check) return calls.check(claim, tools, mayGoOn);
      break;
    case 'send':
      return attempt(calls, { claim, ageMs: timed.ageMs }, tools, mayGoOn);
  }
  throw new Error(`records of this kind have no step '${claim.kind}'`);
}

async function lastStep<R extends OutboxRecord>(what: string | Promise<string>): Promise<RunStep<R>> {
  return { what: await what, next: null, ageMs: () => 0 };
}

async function attempt<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  { claim: claimed, ageMs: claimAgeMs }: TimedClaim<R> & { readonly claim: Claimed<R> },
  tools: T & RunOutboxTools<R>,
  mayGoOn: () => boolean,
): Promise<RunStep<R>> {
  const { clock, settings } = tools;
  const prepared = await calls.prepare(claimed, tools);
  if (prepared.kind === 'given_back') return lastStep(prepared.what);
  const startedAt = new Date(clock.nowMs()).toISOString();
  const call = await sendWithin(prepared, claimed, claimAgeMs, tools);
  const nowMs = clock.nowMs();
  const jitter = clock.random();
  const { entry, failedProbes } = claimed;
  const { exchange } = call;
  const judged = judge(exchange, historyOf(entry, claimed.connectionFailures), settings, nowMs, jitter);
  const verdict = withProofTime(judged, claimed.proofMs);
  const operation = calls.operation(claimed);
  const result = attemptResultOf(call, {
    verdict,
    startedAt,
    acceptedViolation: calls.acceptedViolationIn?.(claimed, call) ?? null,
    outageDelayMs: outageDelayMs(exchange, { failedProbes, nowMs, jitter }, settings),
    task: taskFor(entry, exchange, verdict),
    difference: differenceOfAnswer(operation, call),
  });
  const ageMs = startAge(clock);
  const stored = await tools.outbox.settle(claimed, result, mayGoOn());
  const attempted = { call, verdict, stored: stored.kind };
  logAttempt(calls, claimed, attempted, tools.log);
  const sinceRecordedMs = claimed.grantedAtMs - entry.createdAtMs + claimAgeMs();
  countAttempt(entry.kind, attempted, sinceRecordedMs, tools.metrics);
  tools.tracing.ended(spanOfAttempt(claimed, operation, attempted, nowMs));
  return { what: verdict.next, next: stored.next, ageMs };
}

/** Makes the call within its lease; a call that may outlast it renews it, and ends when that fails. */
async function sendWithin<R extends OutboxRecord>(
  prepared: Extract<Prepared, { readonly kind: 'ready' }>,
  claimed: Claimed<R>,
  ageMs: () => number,
  tools: RunOutboxTools<R>,
): Promise<CallResult<OperationName>> {
  const permit = { atMs: claimed.permitAtMs, isFresh: () => ageMs() < claimed.permitLastsMs };
  const { maySend, keepRenewed } = holdLease(claimed, ageMs, tools);
  if (!prepared.mayOutlastLease) return prepared.send({ maySend, permit });
  const { lost, mayGoOn, end } = keepRenewed();
  try {
    return await prepared.send({ maySend, permit, stop: lost, mayGoOn });
  } finally {
    end();
  }
}

function withProofTime(verdict: Verdict, proofMs: number | null): Verdict {
  return verdict.next === 'unknown' && proofMs !== null ? { ...verdict, delayMs: proofMs } : verdict;
}

function taskFor({ id, kind }: Entry, exchange: Exchange, verdict: Verdict): NewTask | null {
  if (verdict.next !== 'refused') return null;
  // A refusal without a status comes from a fresh token that was refused repeatedly.
  const httpStatus = httpStatusOf(exchange) ?? 401;
  return refusedTask({ id, kind, httpStatus, message: refusalMessage(exchange), hint: verdict.hint });
}

/** Writes one log line per attempt, without the service's message, which may contain a plate. */
function logAttempt<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  claimed: Claimed<R>,
  { call, verdict, stored }: StoredAttempt,
  log: Log,
): void {
  const level = verdict.next === 'accepted' ? 'info' : 'warn';
  const { event, facts } = calls.logLine(claimed);
  log[level](event, {
    attempt: claimed.entry.attempts,
    attempt_id: claimed.attemptId,
    exchange: call.exchange.kind,
    http_status: httpStatusOf(call.exchange),
    outcome: verdict.next,
    because: 'because' in verdict ? verdict.because : null,
    next_attempt_in_ms: 'delayMs' in verdict ? verdict.delayMs : null,
    duration_ms: Math.round(call.durationMs),
    stored,
    ...facts,
  });
}

/** Makes a token call to probe an outage when no entry that is safe to repeat can do so. */
async function probeOutage<R extends OutboxRecord>(failedProbes: number, tools: RunOutboxTools<R>): Promise<string> {
  const { clock, settings } = tools;
  const { exchange, durationMs } = await tools.service.call('token', null);
  const service = serviceHealth(exchange);
  const facts = { failedProbes, nowMs: clock.nowMs(), jitter: clock.random() };
  const delayMs = outageDelayMs(exchange, facts, settings);
  await reportProbe(tools.records, { service, delayMs });
  tools.log.info('outage.probed', { service, exchange: exchange.kind, duration_ms: Math.round(durationMs) });
  return `outage ${service}`;
}

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
