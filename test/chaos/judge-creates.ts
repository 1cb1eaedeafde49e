import { GRACE_MS } from './stage';
import type { PersonDecision } from './person';
import type { Call, Webhook } from './record';

/** Everything seen of one tow. */
export interface Evidence {
  readonly calls: readonly Call[];
  /** The invoice webhooks of the tow. */
  readonly invoices: readonly Webhook[];
  readonly decisions: readonly PersonDecision[];
}

/** How many automatic creates of an invoice were one too many, by the two rules that forbid one. */
export interface CreateFindings {
  /** A create after the invoice webhook of an earlier one was acknowledged within the time for proof. */
  readonly second: number;
  /** A create after two whose outcome the operator could not know. */
  readonly third: number;
  readonly problems: readonly string[];
}

/** From the claim of a create to its arrival: some moments, unless the worker froze in between, which may take 5 s. */
const CLAIM_TO_ARRIVAL_MS = 2000;
const FROZEN_CLAIM_TO_ARRIVAL_MS = 6000;

/** Judges the creates between the decisions of a person: one who says "again" has looked. */
export function forbiddenCreates({ calls, invoices, decisions }: Evidence): CreateFindings {
  const creates = calls.filter(({ operation }) => operation === 'invoice');
  const retriesMs = decisions
    .filter(({ action, reportId }) => action === 'retry' && reportId.startsWith('invoice-'))
    .map(({ atMs }) => atMs);
  const stretches = stretchesOf(creates, retriesMs);
  const second = stretches
    .flatMap((stretch) => stretch.filter((create) => wasProved(create, creates, invoices)))
    .filter(isOnTime);
  const third = stretches.flatMap(beyondTheSecond).filter(isOnTime);
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
export function stretchesOf(creates: readonly Call[], retriesMs: readonly number[]): Call[][] {
  const stretches = [-Infinity, ...retriesMs].map((fromMs, index) => {
    const toMs = retriesMs[index] ?? Infinity;
    return creates.filter(({ at }) => Date.parse(at) >= fromMs && Date.parse(at) < toMs);
  });
  for (const [index, stretch] of stretches.entries()) {
    const before = stretches[index - 1];
    const [first] = stretch;
    if (before?.length === 0 && first?.hung_up === true) before.push(...stretch.splice(0, 1));
  }
  return stretches;
}

/** When a call was sent that was read late, nobody can tell. */
export function isOnTime({ hung_up: hungUp }: Call): boolean {
  return !hungUp;
}

/** Whether the webhook of an earlier create had been acknowledged when there was still time to know it. */
function wasProved(create: Call, creates: readonly Call[], invoices: readonly Webhook[]): boolean {
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

/** When each webhook was acknowledged for the first time: only the first time it says something new. */
function acknowledgedMs(invoices: readonly Webhook[]): number[] {
  const firstMs = new Map<string, number>();
  for (const { webhook_id: id, status, answered_at: answeredAt } of invoices) {
    if (status !== 200 || answeredAt === null) continue;
    firstMs.set(id, Math.min(firstMs.get(id) ?? Infinity, Date.parse(answeredAt)));
  }
  return [...firstMs.values()];
}

/**
 * Once the operator may not know what came of a create, one more is allowed that may have worked. A create that was
 * answered may count as unknown too, since its worker may have died before hearing it.
 */
function beyondTheSecond(stretch: readonly Call[]): Call[] {
  const possible = stretch.filter(mayHaveWorked);
  const first = possible.findIndex(isUncertain);
  return first < 0 ? [] : possible.slice(first + 2);
}

/** Everything but a refusal before any effect. */
function mayHaveWorked({ status }: Call): boolean {
  return status === null || status < 300 || status === 408 || status >= 500;
}

/** No answer, one that says nothing about the effect, or an acceptance after which another create followed. */
export function isUncertain({ status }: Call): boolean {
  return status === null || status < 300 || status === 408 || status === 502 || status === 504;
}
