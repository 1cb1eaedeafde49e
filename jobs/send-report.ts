import type { ReportJob } from '../src/contracts/jobs';
import { OPERATIONS } from '../src/contracts/operations';
import { FOREIGN_BODY_WORDS, judge, type Exchange, type PolicySettings, type Verdict } from '../src/domain/policy';
import { contractBrokenTask, givenUpTask, refusedTask, unknownOutcomeTask, type NewTask } from '../src/domain/tasks';
import type { ReportKind } from '../src/domain/vocabulary';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import type { Metrics } from '../src/platform/metrics';
import type { Claim, Claimed, HandedOver, OutboxStore } from '../src/workflow/outbox-port';
import type { TowStore } from '../src/workflow/ports';
import type { CallOptions, CallResult, ServicePort } from '../src/workflow/service-port';
import { httpStatusOf, resultOf, type Attempted } from './attempt-result';
import type { Outcome } from './outcome';
import { countAttempt } from './count-attempt';
import { probeOutage } from './probe-outage';

export interface SendReportTools {
  readonly outbox: OutboxStore;
  readonly tows: TowStore;
  readonly service: ServicePort;
  readonly settings: PolicySettings;
  /** A claim older than this is not used: the lease must outlast the call. */
  readonly claimMaxAgeMs: number;
  /** A run ends after so many calls, so that tows take turns; 10 when left out. */
  readonly callsPerRun?: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const CALLS_PER_RUN = 10;
/** A run that has lasted so long begins no other call. */
const RUN_MAX_MS = 5000;

/** Sends what one tow owes, report after report: claim, send, and store the answer together with the next claim. */
export async function sendReport(payload: ReportJob, tools: SendReportTools): Promise<Outcome> {
  const { outbox, clock, callsPerRun = CALLS_PER_RUN } = tools;
  const ref = payload.towing_reference_id;
  const startedMs = clock.monotonicMs();
  let claimStartedMs = startedMs;
  let claim = await outbox.claim(ref);
  for (let calls = 1; claim.kind === 'send'; calls += 1) {
    const mayGoOn = () => calls < callsPerRun && clock.monotonicMs() - startedMs < RUN_MAX_MS;
    const sent = await attempt(claim, { claimStartedMs, mayGoOn }, tools);
    if (!sent.next) return sent.more ? { kind: 'more', what: sent.what, ref } : { kind: 'done', what: sent.what };
    claimStartedMs = sent.storedMs;
    claim = sent.next;
  }
  switch (claim.kind) {
    case 'idle':
    case 'held':
    case 'gone':
    case 'wait':
    case 'busy':
      return { kind: 'done', what: claim.kind };
    case 'hand_over':
      await tools.outbox.handOver(ref, claim, handOverTask(claim));
      return { kind: 'done', what: claim.why };
    case 'probe':
      return { kind: 'done', what: await probeOutage(claim.failedProbes, tools) };
  }
}

function handOverTask({ why, reportId: id, reportKind: kind, attempts }: HandedOver): NewTask {
  switch (why) {
    case 'unknown':
      return unknownOutcomeTask({ id, kind });
    case 'given_up':
      return givenUpTask({ id, kind, attempts });
  }
}

/** One attempt that was made and stored. */
interface Sent {
  readonly what: string;
  readonly more: boolean;
  readonly next: Claim | null;
  /** When its result, and with it the next claim, began to be stored, by the monotonic clock. */
  readonly storedMs: number;
}

async function attempt(
  claimed: Claimed,
  run: { readonly claimStartedMs: number; readonly mayGoOn: () => boolean },
  tools: SendReportTools,
): Promise<Sent> {
  const { clock } = tools;
  const { claimStartedMs } = run;
  const startedAt = new Date(clock.nowMs()).toISOString();
  const ageMs = () => clock.monotonicMs() - claimStartedMs;
  const maySend = () => ageMs() < tools.claimMaxAgeMs;
  const permit = { atMs: claimed.permitAtMs, isFresh: () => ageMs() < claimed.permitLastsMs };
  const call = aboutThisTow(claimed, await callFor(claimed, tools.service, { maySend, permit }));
  const pace = { startedAt, nowMs: clock.nowMs(), jitter: clock.random(), settings: tools.settings };
  const { failures, notFound, unanswered, connectionFailures, connectionLosses } = claimed;
  const { safeToRepeat } = OPERATIONS[claimed.reportKind];
  const history = { safeToRepeat, failures, notFound, unanswered, connectionFailures, connectionLosses };
  const verdict = judge(call.exchange, history, tools.settings, pace.nowMs, pace.jitter);
  const task = taskFor(claimed, call.exchange, verdict);
  const storedMs = clock.monotonicMs();
  const stored = await tools.outbox.ack(claimed, resultOf(claimed, { call, verdict, task }, pace), run.mayGoOn());
  report(claimed, { call, verdict, stored: stored.kind }, tools);
  const sinceRecordedMs = claimed.sinceRecordedMs + clock.monotonicMs() - claimStartedMs;
  countAttempt(claimed.reportKind, { call, verdict, stored: stored.kind, sinceRecordedMs }, tools.metrics);
  return { what: verdict.next, more: stored.more, next: stored.next, storedMs };
}

function taskFor(claimed: Claimed, exchange: Exchange, verdict: Verdict): NewTask | null {
  const report = { id: claimed.reportId, kind: claimed.reportKind };
  // Refused without a status of its own is a report whose fresh token was refused, again and again.
  const httpStatus = httpStatusOf(exchange) ?? 401;
  switch (verdict.next) {
    case 'accepted':
      return verdict.flag === 'contract_broken' ? contractBrokenTask({ ...report, httpStatus }) : null;
    case 'refused':
      return refusedTask({
        ...report,
        httpStatus,
        words: wordsIn(exchange),
        hint: verdict.hint,
      });
    case 'hold':
    case 'retry':
    case 'unknown':
      return null;
  }
}

/** The words of a refusal: the service's own, or what a page in its place was. */
function wordsIn(exchange: Exchange): string | null {
  if (exchange.kind === 'not_the_service') return FOREIGN_BODY_WORDS[exchange.cause];
  return exchange.kind === 'refused' ? exchange.message : null;
}

function callFor(claimed: Claimed, service: ServicePort, options: CallOptions): Promise<CallResult<ReportKind>> {
  const body = OPERATIONS[claimed.reportKind].request.parse(claimed.body);
  return service.call(claimed.reportKind, body, options);
}

/** An answer that names another tow breaks the contract, whatever else it says. */
function aboutThisTow(claimed: Claimed, call: CallResult<ReportKind>): CallResult<ReportKind> {
  const { exchange, data } = call;
  if (exchange.kind !== 'accepted' || data === null || data.towing_reference_id === claimed.ref) return call;
  const issues = ['data.towing_reference_id: names another tow'];
  return { ...call, data: null, exchange: { kind: 'contract_broken', httpStatus: exchange.httpStatus, issues } };
}

/** One wide line per attempt. The service's words stay out of it: they may name a plate. */
function report(claimed: Claimed, attempted: Attempted & { stored: string }, tools: SendReportTools): void {
  const { call, verdict, stored } = attempted;
  const level = verdict.next === 'accepted' ? 'info' : 'warn';
  tools.log[level]('report.attempted', {
    towing_reference_id: claimed.ref,
    report_id: claimed.reportId,
    kind: claimed.reportKind,
    attempt: claimed.attempt,
    attempt_id: claimed.attemptId,
    exchange: call.exchange.kind,
    http_status: httpStatusOf(call.exchange),
    outcome: verdict.next,
    because: 'because' in verdict ? verdict.because : null,
    next_attempt_in_ms: 'delayMs' in verdict ? verdict.delayMs : null,
    duration_ms: Math.round(call.durationMs),
    stored,
  });
}
