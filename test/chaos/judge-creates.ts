import { GRACE_MS } from './environment';
import type { ReportDecision } from './dispatcher';
import type { RecordedCall, RecordedWebhook } from './record';

/** Everything that was observed of one tow. */
export interface InvoiceEvidence {
  readonly calls: readonly RecordedCall[];
  readonly invoices: readonly RecordedWebhook[];
  readonly decisions: readonly ReportDecision[];
}

/** Automatic invoice creates that a rule forbids. */
export interface CreateFindings {
  /** Creates after the invoice webhook of an earlier create was acknowledged in time to prove it. */
  readonly second: number;
  /** Creates after two whose outcome was unknown to the operator. */
  readonly third: number;
  readonly problems: readonly string[];
}

/** From the claim of a create to its arrival; up to 5 s longer when the worker froze in between. */
const CLAIM_TO_ARRIVAL_MS = 2000;
const FROZEN_CLAIM_TO_ARRIVAL_MS = 6000;

/** Judges the creates between manual retries: a dispatcher who retries has looked at the service. */
export function forbiddenCreates({ calls, invoices, decisions }: InvoiceEvidence): CreateFindings {
  const creates = calls.filter(({ operation }) => operation === 'invoice');
  const retriesMs = decisions
    .filter(({ action, reportId }) => action === 'retry' && reportId.startsWith('invoice-'))
    .map(({ atMs }) => atMs);
  const groups = createsBetweenRetries(creates, retriesMs);
  const second = groups
    .flatMap((group) => group.filter((create) => wasProved(create, creates, invoices)))
    .filter(isOnTime);
  const third = groups.flatMap(afterTheSecond).filter(isOnTime);
  return {
    second: second.length,
    third: third.length,
    problems: [
      ...second.map(({ at }) => `the create of ${at} was already proved`),
      ...third.map(({ at }) => `the create of ${at} is one after two of unknown outcome`),
    ],
  };
}

/**
 * The creates before the first manual retry, between each retry and the next, and after the last. A create is placed by the
 * time at which the service read it. One whose sender had hung up by then was sent earlier: it belongs before the retry
 * when no other create does, because a person retries only what was sent.
 */
export function createsBetweenRetries(
  creates: readonly RecordedCall[],
  retriesMs: readonly number[],
): RecordedCall[][] {
  const groups = [-Infinity, ...retriesMs].map((fromMs, index) => {
    const toMs = retriesMs[index] ?? Infinity;
    return creates.filter(({ at }) => Date.parse(at) >= fromMs && Date.parse(at) < toMs);
  });
  for (const [index, group] of groups.entries()) {
    const before = groups[index - 1];
    const [first] = group;
    if (before?.length === 0 && first?.hung_up === true) before.push(...group.splice(0, 1));
  }
  return groups;
}

/** The sending time of a call that was read late is unknown. */
export function isOnTime({ hung_up: hungUp }: RecordedCall): boolean {
  return !hungUp;
}

/** Whether the webhook of an earlier create was acknowledged early enough to prevent this one. */
function wasProved(
  create: RecordedCall,
  creates: readonly RecordedCall[],
  invoices: readonly RecordedWebhook[],
): boolean {
  const createdMs = Date.parse(create.at);
  return creates
    .filter((earlier) => Date.parse(earlier.at) < createdMs && mayHaveWorked(earlier))
    .some((earlier) => {
      const sentMs = Date.parse(earlier.at);
      return acknowledgedMs(invoices).some((provedMs) => {
        if (provedMs < sentMs) return false;
        const isWithinGrace = provedMs <= sentMs + GRACE_MS;
        return provedMs + (isWithinGrace ? CLAIM_TO_ARRIVAL_MS : FROZEN_CLAIM_TO_ARRIVAL_MS) < createdMs;
      });
    });
}

/** The first acknowledgement of each webhook; later ones prove nothing new. */
function acknowledgedMs(invoices: readonly RecordedWebhook[]): number[] {
  const firstMs = new Map<string, number>();
  for (const { webhook_id: id, status, answered_at: answeredAt } of invoices) {
    if (status !== 200 || answeredAt === null) continue;
    firstMs.set(id, Math.min(firstMs.get(id) ?? Infinity, Date.parse(answeredAt)));
  }
  return [...firstMs.values()];
}

/**
 * After a create of unknown outcome one more is allowed that may have taken effect. An answered create may count as
 * unknown too: its worker may have died before it read the answer.
 */
function afterTheSecond(group: readonly RecordedCall[]): RecordedCall[] {
  const possible = group.filter(mayHaveWorked);
  const first = possible.findIndex(isUncertain);
  return first < 0 ? [] : possible.slice(first + 2);
}

/** Any call except one that was refused before it took effect. */
function mayHaveWorked({ status }: RecordedCall): boolean {
  return status === null || status < 300 || status === 408 || status >= 500;
}

/** No answer, an answer that does not tell the effect, or an acceptance that was followed by another create. */
export function isUncertain({ status }: RecordedCall): boolean {
  return status === null || status < 300 || status === 408 || status === 502 || status === 504;
}
