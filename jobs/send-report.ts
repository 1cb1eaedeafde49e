import type { ReportJob } from '../src/contracts/jobs';
import { OPERATIONS } from '../src/contracts/operations';
import { jsonObject } from '../src/contracts/common';
import { judge, surelyHadNoEffect, type Exchange, type PolicySettings, type Verdict } from '../src/domain/policy';
import { connectionTask, contractBrokenTask, refusedTask, type NewTask } from '../src/domain/tasks';
import type { ReportKind } from '../src/domain/vocabulary';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import type { Metrics } from '../src/platform/metrics';
import type { AttemptResult, Claimed, OutboxStore } from '../src/workflow/outbox-port';
import type { TowStore } from '../src/workflow/ports';
import { reconcileInvoices } from '../src/workflow/reconcile';
import type { CallResult, ServicePort } from '../src/workflow/service-port';
import type { Outcome } from './outcome';

/** A claim older than this is not used: the lease must outlast the call by a wide margin. */
const CLAIM_MAX_AGE_MS = 5000;

export interface SendReportTools {
  readonly outbox: OutboxStore;
  readonly tows: TowStore;
  readonly service: ServicePort;
  readonly settings: PolicySettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Sends the head of one tow's outbox, at most one report per run: claim, send, ack. */
export async function sendReport(payload: ReportJob, tools: SendReportTools): Promise<Outcome> {
  const ref = payload.towing_reference_id;
  const claimStartedMs = tools.clock.monotonicMs();
  const claim = await tools.outbox.claim(ref);
  switch (claim.kind) {
    case 'idle':
    case 'held':
    case 'gone':
    case 'wait':
    case 'busy':
      return { kind: 'done', what: claim.kind };
    case 'reconcile':
      return { kind: 'more', what: await reconcileInvoices(tools.tows, ref), ref };
    case 'send':
      return attempt(claim, claimStartedMs, tools);
  }
}

async function attempt(claimed: Claimed, claimStartedMs: number, tools: SendReportTools): Promise<Outcome> {
  const { clock } = tools;
  const startedAt = new Date(clock.nowMs()).toISOString();
  const maySend = () => clock.monotonicMs() - claimStartedMs < CLAIM_MAX_AGE_MS;
  const call = aboutThisTow(claimed, await callFor(claimed, tools.service, maySend));
  const verdict = judge(
    call.exchange,
    {
      safeToRepeat: OPERATIONS[claimed.reportKind].safeToRepeat,
      failures: claimed.failures,
      notFound: claimed.notFound,
      unanswered: claimed.unanswered,
      connectionFailures: claimed.connectionFailures,
    },
    tools.settings,
    clock.nowMs(),
    clock.random(),
  );
  const stored = await tools.outbox.ack(claimed, resultOf(claimed, { call, verdict, startedAt }));
  report(claimed, { call, verdict, stored: stored.kind }, tools);
  return stored.more ? { kind: 'more', what: verdict.next, ref: claimed.ref } : { kind: 'done', what: verdict.next };
}

function callFor(claimed: Claimed, service: ServicePort, maySend: () => boolean): Promise<CallResult<ReportKind>> {
  const body = OPERATIONS[claimed.reportKind].request.parse(claimed.body);
  return service.call(claimed.reportKind, body, { maySend });
}

/** An answer that names another tow breaks the contract, whatever else it says. */
function aboutThisTow(claimed: Claimed, call: CallResult<ReportKind>): CallResult<ReportKind> {
  const { exchange, data } = call;
  if (exchange.kind !== 'accepted' || data === null || data.towing_reference_id === claimed.ref) return call;
  const issues = ['data.towing_reference_id: names another tow'];
  return { ...call, data: null, exchange: { kind: 'contract_broken', httpStatus: exchange.httpStatus, issues } };
}

interface Attempted {
  readonly call: CallResult<ReportKind>;
  readonly verdict: Verdict;
}

function resultOf(claimed: Claimed, attempted: Attempted & { startedAt: string }): AttemptResult {
  const { call, verdict, startedAt } = attempted;
  const { exchange } = call;
  const httpStatus = httpStatusOf(exchange);
  const isAccepted = verdict.next === 'accepted';
  // A number too large for JSON passes the contract and cannot be stored; the raw body still says it.
  const answer = jsonObject.safeParse(call.data);
  return {
    verdict,
    attempt: {
      started_at: startedAt,
      duration_ms: Math.round(call.durationMs),
      outcome: verdict.next,
      http_status: httpStatus,
      message: wordsOf(exchange),
    },
    error: isAccepted ? null : { http_status: httpStatus, message: wordsOf(exchange) },
    answer: answer.success ? answer.data : null,
    rawBody: isAccepted && !answer.success ? call.rawBody : null,
    hadNoEffect: surelyHadNoEffect(exchange),
    wasAnswered: httpStatus !== null && verdict.next !== 'hold',
    task: taskFor(claimed, exchange, verdict),
  };
}

function taskFor(claimed: Claimed, exchange: Exchange, verdict: Verdict): NewTask | null {
  const report = { id: claimed.reportId, kind: claimed.reportKind };
  const httpStatus = httpStatusOf(exchange) ?? 0;
  switch (verdict.next) {
    case 'accepted':
      return verdict.flag === 'contract_broken' ? contractBrokenTask({ ...report, httpStatus }) : null;
    case 'refused':
      return refusedTask({
        ...report,
        httpStatus,
        words: exchange.kind === 'refused' ? exchange.message : null,
        hint: verdict.hint,
      });
    case 'hold':
      return verdict.because === 'connection'
        ? connectionTask(wordsOf(exchange), { kind: claimed.reportKind, towingReference: claimed.ref })
        : null;
    case 'retry':
    case 'unknown':
      return null;
  }
}

function httpStatusOf(exchange: Exchange): number | null {
  return 'httpStatus' in exchange ? exchange.httpStatus : null;
}

/** What happened in words: the service's own where it had any. */
function wordsOf(exchange: Exchange): string {
  switch (exchange.kind) {
    case 'accepted':
      return 'accepted';
    case 'contract_broken':
      return `the answer breaks the contract: ${exchange.issues.join('; ')}`;
    case 'refused':
      return exchange.message ?? `HTTP ${exchange.httpStatus}`;
    case 'surely_not_sent':
    case 'unanswered':
    case 'connection':
      return exchange.cause;
    case 'dropped':
      return 'not sent: the claim had grown too old';
  }
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
  tools.metrics.reportAttempted(claimed.reportKind, verdict.next, call.durationMs);
}
