import type { OutboxRecord } from '../src/domain/outbox-record';
import { historyOf, judge, type Exchange, type PolicySettings, type Verdict } from '../src/domain/policy';
import type { NewTask } from '../src/domain/tasks';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import type { Metrics } from '../src/platform/metrics';
import type { Claim, Claimed, Outbox } from '../src/workflow/outbox-port';
import type { CallResult, ServicePort } from '../src/workflow/service-port';
import type { OperationName } from '../src/contracts/operations';
import { httpStatusOf, refusalWords, resultOf, type Attempted } from './attempt-result';
import { countAttempt } from './count-attempt';
import type { EntryCalls, NextClaimant, Step } from './entry-calls';
import type { Outcome } from './outcome';
import { probeOutage } from './probe-outage';
import { reportCalls } from './report-calls';
import { violationCalls } from './violation-calls';

/** How the entries of each kind of record are sent. */
export const CALLS = { tow: reportCalls, violation: violationCalls } as const;

/** What a run needs, besides what the calls of its kind of record need. */
export interface SendEntryTools<R extends OutboxRecord> {
  readonly outbox: Outbox<R>;
  readonly service: ServicePort;
  readonly settings: PolicySettings;
  /** A claim older than this is not used: the lease must outlast the call. */
  readonly claimMaxAgeMs: number;
  /** A run ends after so many steps, so that records take turns; 10 when left out. */
  readonly stepsPerRun?: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const STEPS_PER_RUN = 10;
/** A run that has lasted so long begins no other step. */
const RUN_MAX_MS = 5000;

/** A claim, when it began by the monotonic clock, and why there is no token for it; null when there is one. */
interface Made<R extends OutboxRecord> {
  readonly claim: Claim<R>;
  readonly startedMs: number;
  readonly noToken: Exchange | null;
}

/** Does what one record needs, step after step: claim, call, and store the result together with the next claim. */
export async function sendEntry<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  id: string,
  tools: T & SendEntryTools<R>,
): Promise<Outcome> {
  const { clock, stepsPerRun = STEPS_PER_RUN } = tools;
  const startedMs = clock.monotonicMs();
  let made = await firstClaim(calls, id, tools);
  for (let steps = 1; ; steps += 1) {
    const mayGoOn = () => steps < stepsPerRun && clock.monotonicMs() - startedMs < RUN_MAX_MS;
    // Asked while an answer waits to be stored: that must not depend on it.
    const hasToken = () => calls.hasToken(tools).catch(() => false);
    const nextClaimant = async () => (mayGoOn() ? { hasToken: await hasToken() } : undefined);
    const { what, more, next, storedMs } = await takeStep(calls, made, tools, nextClaimant);
    if (!next) return more ? { kind: 'more', what, ref: id } : { kind: 'done', what };
    made = await withToken(calls, id, { claim: next, startedMs: storedMs, noToken: null }, tools);
  }
}

async function firstClaim<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  id: string,
  tools: T & SendEntryTools<R>,
): Promise<Made<R>> {
  const hasToken = await calls.hasToken(tools);
  const startedMs = tools.clock.monotonicMs();
  const claim = await tools.outbox.claim(id, { hasToken });
  return withToken(calls, id, { claim, startedMs, noToken: null }, tools);
}

/**
 * Gets the token that a claim waits for, and claims again. Without one the claim is made too, so that the failure is stored
 * like that of any other attempt.
 */
async function withToken<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  id: string,
  made: Made<R>,
  tools: T & SendEntryTools<R>,
): Promise<Made<R>> {
  if (made.claim.kind !== 'token_first') return made;
  const noToken = await calls.getToken(tools);
  const startedMs = tools.clock.monotonicMs();
  return { claim: await tools.outbox.claim(id, { hasToken: true }), startedMs, noToken };
}

function takeStep<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  made: Made<R>,
  tools: T & SendEntryTools<R>,
  nextClaimant: NextClaimant,
): Promise<Step<R>> {
  const { claim } = made;
  switch (claim.kind) {
    case 'idle':
    case 'held':
    case 'gone':
    case 'wait':
    case 'busy':
    case 'token_first':
      return last(claim.kind);
    case 'escalated':
      return last(claim.why);
    case 'probe':
      return last(probeOutage(claim.failedProbes, tools));
    case 'finish':
      return last(calls.finish(claim.record, tools));
    case 'check':
      return calls.check(claim, tools, nextClaimant);
    case 'send':
      return attempt(calls, { ...made, claim }, tools, nextClaimant);
  }
}

/** A step that no other follows in this run. */
async function last<R extends OutboxRecord>(what: string | Promise<string>): Promise<Step<R>> {
  return { what: await what, more: false, next: null, storedMs: 0 };
}

async function attempt<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  { claim: claimed, startedMs, noToken }: Made<R> & { readonly claim: Claimed<R> },
  tools: T & SendEntryTools<R>,
  nextClaimant: NextClaimant,
): Promise<Step<R>> {
  const { clock, settings } = tools;
  const prepared = await calls.prepare(claimed, tools);
  if (prepared.kind === 'given_back') return last(prepared.what);
  const startedAt = new Date(clock.nowMs()).toISOString();
  const ageMs = () => clock.monotonicMs() - startedMs;
  const maySend = () => ageMs() < tools.claimMaxAgeMs;
  const permit = { atMs: claimed.permitAtMs, isFresh: () => ageMs() < claimed.permitLastsMs };
  const call = noToken ? notSent(noToken) : await prepared.send({ maySend, permit });
  const pace = { startedAt, nowMs: clock.nowMs(), jitter: clock.random(), settings };
  const history = historyOf(claimed.entry, claimed.connectionFailures);
  const judged = judge(call.exchange, history, settings, pace.nowMs, pace.jitter);
  const verdict = withProofTime(judged, calls.proofMs(claimed, tools));
  const task = taskFor(calls, claimed, { call, verdict });
  const result = resultOf(claimed, { call, verdict, task, named: calls.nameIn(call) }, pace);
  const claimant = await nextClaimant();
  const storedMs = clock.monotonicMs();
  const stored = await tools.outbox.ack(claimed, result, claimant);
  report(calls, claimed, { call, verdict, stored: stored.kind }, tools.log);
  const sinceRecordedMs = claimed.grantedAtMs - claimed.entry.createdAtMs + ageMs();
  countAttempt(claimed.entry.kind, { call, verdict, stored: stored.kind, sinceRecordedMs }, tools.metrics);
  return { what: verdict.next, more: stored.more, next: stored.next, storedMs };
}

function notSent(exchange: Exchange): CallResult<OperationName> {
  return { exchange, data: null, rawBody: null, wasSent: false, isPermitSpent: false, durationMs: 0 };
}

function withProofTime(verdict: Verdict, proofMs: number | null): Verdict {
  return verdict.next === 'unknown' && proofMs !== null ? { ...verdict, delayMs: proofMs } : verdict;
}

function taskFor<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  { entry }: Claimed<R>,
  { call: { exchange }, verdict }: Attempted,
): NewTask | null {
  // Refused without a status of its own is an entry whose fresh token was refused, again and again.
  const httpStatus = httpStatusOf(exchange) ?? 401;
  switch (verdict.next) {
    case 'accepted':
      return verdict.flag === 'contract_broken' ? calls.contractTask(entry, httpStatus) : null;
    case 'refused':
      return calls.refusedTask(entry, { httpStatus, words: refusalWords(exchange), hint: verdict.hint });
    case 'hold':
    case 'retry':
    case 'unknown':
      return null;
  }
}

/** One wide line per attempt. The service's words stay out of it: they may name a plate. */
function report<R extends OutboxRecord, T>(
  calls: EntryCalls<R, T>,
  claimed: Claimed<R>,
  { call, verdict, stored }: Attempted & { readonly stored: string },
  log: Log,
): void {
  const level = verdict.next === 'accepted' ? 'info' : 'warn';
  const { event, facts } = calls.logLine(claimed);
  log[level](event, {
    ...facts,
    attempt: claimed.entry.attempts,
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
