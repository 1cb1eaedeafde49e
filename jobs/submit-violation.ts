import type { ViolationJob } from '../src/contracts/jobs';
import { violationForm, guideViolationForm } from '../src/contracts/service';
import type { ViolationRecord } from '../src/contracts/violations';
import { judge, type Exchange, type PolicySettings, type Verdict } from '../src/domain/policy';
import type { NewTask } from '../src/domain/tasks';
import * as tasks from '../src/domain/violation-tasks';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import type { Metrics } from '../src/platform/metrics';
import { joinTows, type JoinTools } from '../src/workflow/join';
import type { OutboxStore } from '../src/workflow/outbox-port';
import type {
  CallOptions,
  CallResult,
  ImageOnDisk,
  ServicePort,
  ViolationOperation,
  ViolationService,
} from '../src/workflow/service-port';
import type { Spool } from '../src/workflow/spool-port';
import type { TicketCheck } from '../src/workflow/lookups';
import type {
  ViolationClaim,
  ViolationClaimed,
  ViolationHandedOver,
  ViolationOutbox,
} from '../src/workflow/violation-port';
import { httpStatusOf, resultOf } from './attempt-result';
import { checkTicket } from './check-ticket';
import { countAttempt } from './count-attempt';
import { areImagesGone, imagesOf } from './violation-images';
import type { Outcome } from './outcome';
import { probeOutage } from './probe-outage';
import { nameIn } from './violation-name';

export interface SubmitViolationTools extends JoinTools {
  readonly violationOutbox: ViolationOutbox;
  readonly outbox: Pick<OutboxStore, 'probed'>;
  readonly service: ServicePort & ViolationService;
  readonly spool: Pick<Spool, 'pathOf' | 'drop' | 'state'>;
  readonly tickets: TicketCheck;
  readonly settings: PolicySettings;
  /** How long a tow request may take to prove a violation whose answer was lost. */
  readonly proofMs: number;
  /** A claim older than this is not used: the lease must outlast the call. */
  readonly claimMaxAgeMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Does what one violation needs next: asks for a ticket, sends it, or clears up behind it; at most one call per run. */
export async function submitViolation(payload: ViolationJob, tools: SubmitViolationTools): Promise<Outcome> {
  const id = payload.violation_id;
  const { claim, startedMs, noToken } = await claimWithToken(id, tools);
  switch (claim.kind) {
    case 'idle':
    case 'held':
    case 'gone':
    case 'wait':
    case 'busy':
    case 'token_first':
      return { kind: 'done', what: claim.kind };
    case 'check':
      return checkTicket(claim, tools);
    case 'finish':
      return finish(claim.record, tools);
    case 'hand_over':
      await tools.violationOutbox.handOver(id, claim, handOverTask(id, claim));
      return { kind: 'done', what: claim.why };
    case 'probe':
      return { kind: 'done', what: await probeOutage(claim.failedProbes, tools) };
    case 'send':
      return attempt(claim, { startedMs, noToken }, tools);
  }
}

/** When a claim began, and why there is no token for it; null when there is one. */
interface ClaimMade {
  readonly startedMs: number;
  readonly noToken: Exchange | null;
}

/**
 * Claims with a token at hand: while a token is got, the slot of the budget that a claim takes would grow too old. Without
 * one the claim is made all the same, so that what stands in the way is stored like any other attempt.
 */
async function claimWithToken(
  id: string,
  { violationOutbox, service, clock }: SubmitViolationTools,
): Promise<ClaimMade & { readonly claim: ViolationClaim }> {
  const hasToken = await service.hasToken();
  const startedMs = clock.monotonicMs();
  const claim = await violationOutbox.claim(id, { hasToken });
  if (claim.kind !== 'token_first') return { claim, startedMs, noToken: null };
  const noToken = await service.getToken();
  const againMs = clock.monotonicMs();
  return { claim: await violationOutbox.claim(id, { hasToken: true }), startedMs: againMs, noToken };
}

/** First the tows, then the files: while one is left to do, all of it is done again. */
async function finish(record: ViolationRecord, tools: SubmitViolationTools): Promise<Outcome> {
  await joinTows(tools, record);
  // While a person is asked about its answer it may have to be sent again, with its images. Else the claim has made it due
  // again for a worker that sees the disk.
  if (!record.isAnswerQuestioned && !(await areImagesGone(record, tools)))
    return { kind: 'done', what: 'images unseen' };
  await tools.violationOutbox.finished(record.violation.id, record.version);
  return { kind: 'done', what: 'finished' };
}

function handOverTask(id: string, { why, attempts }: ViolationHandedOver): NewTask {
  switch (why) {
    case 'unknown':
      return tasks.violationUnknownTask(id);
    case 'given_up':
      return tasks.violationGivenUpTask({ id, attempts });
    case 'unchecked':
      return tasks.ticketUnknownTask(id);
  }
}

async function attempt(
  claimed: ViolationClaimed,
  { startedMs, noToken }: ClaimMade,
  tools: SubmitViolationTools,
): Promise<Outcome> {
  const { clock } = tools;
  const images = await imagesOf(claimed, tools);
  if (images.kind === 'put_back') return { kind: 'done', what: images.what };
  const startedAt = new Date(clock.nowMs()).toISOString();
  const ageMs = () => clock.monotonicMs() - startedMs;
  const maySend = () => ageMs() < tools.claimMaxAgeMs;
  const permit = { atMs: claimed.permitAtMs, isFresh: () => ageMs() < claimed.permitLastsMs };
  const call = noToken
    ? notSent(noToken)
    : await send(claimed, { images: images.files, service: tools.service, options: { maySend, permit } });
  const pace = { startedAt, nowMs: clock.nowMs(), jitter: clock.random(), settings: tools.settings };
  const { failures, notFound, unanswered, connectionFailures, connectionLosses } = claimed;
  const history = { safeToRepeat: false, failures, notFound, unanswered, connectionFailures, connectionLosses };
  const judged = judge(call.exchange, history, tools.settings, pace.nowMs, pace.jitter);
  const verdict = withProofTime(judged, claimed, tools.proofMs);
  const task = taskFor(claimed.id, call.exchange, verdict);
  const result = { ...resultOf(claimed, { call, verdict, task }, pace), named: nameIn(call) };
  const stored = await tools.violationOutbox.ack(claimed, result);
  report(claimed, { call, verdict, stored }, tools);
  const sinceRecordedMs = claimed.sinceRecordedMs + clock.monotonicMs() - startedMs;
  countAttempt('violation', { call, verdict, stored, sinceRecordedMs }, tools.metrics);
  if (verdict.next === 'accepted') return { kind: 'more', what: verdict.next, ref: claimed.id };
  return { kind: 'done', what: verdict.next };
}

function notSent(exchange: Exchange): CallResult<ViolationOperation> {
  return { exchange, data: null, rawBody: null, wasSent: false, isPermitSpent: false, durationMs: 0 };
}

/** The form as it was taken in; of the guide form only its four fields, and no images (service-api 4.5). */
function send(
  { record }: ViolationClaimed,
  how: {
    images: readonly ImageOnDisk[];
    service: ViolationService;
    options: CallOptions;
  },
): Promise<CallResult<ViolationOperation>> {
  const { api, form, metadataText } = record.violation;
  switch (api) {
    case 'reference':
      return how.service.submitViolation(
        'violation',
        { form: violationForm.parse(form), metadataText, images: how.images },
        how.options,
      );
    case 'guide': {
      const { plateNumber, plateType, zoneId, violationType } = form;
      const guideForm = guideViolationForm.parse({ plateNumber, plateType, zoneId, violationType });
      return how.service.submitViolation('violation_guide', { form: guideForm, images: [] }, how.options);
    }
  }
}

/** Proof is a tow request that echoes our id; the guide form carries none, so that nothing is waited for. */
function withProofTime(verdict: Verdict, { record }: ViolationClaimed, proofMs: number): Verdict {
  if (verdict.next !== 'unknown') return verdict;
  return { ...verdict, delayMs: record.violation.api === 'guide' ? 0 : proofMs };
}

function taskFor(id: string, exchange: Exchange, verdict: Verdict): NewTask | null {
  // Refused without a status of its own is one whose fresh token was refused, again and again.
  const httpStatus = httpStatusOf(exchange) ?? 401;
  switch (verdict.next) {
    case 'accepted':
      return verdict.flag === 'contract_broken' ? tasks.violationContractTask({ id, httpStatus }) : null;
    case 'refused': {
      const words = exchange.kind === 'refused' ? exchange.message : null;
      return tasks.violationRefusedTask({ id, httpStatus, words, hint: verdict.hint });
    }
    case 'hold':
    case 'retry':
    case 'unknown':
      return null;
  }
}

/** One wide line per attempt. The service's words stay out of it: they may name a plate. */
function report(
  claimed: ViolationClaimed,
  { call, verdict, stored }: { call: CallResult<ViolationOperation>; verdict: Verdict; stored: string },
  tools: SubmitViolationTools,
): void {
  const level = verdict.next === 'accepted' ? 'info' : 'warn';
  tools.log[level]('violation.attempted', {
    violation_id: claimed.id,
    api: claimed.record.violation.api,
    images: claimed.record.violation.images.length,
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
