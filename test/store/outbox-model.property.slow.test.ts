import * as fc from 'fast-check';
import type { DecisionCommand } from '../../src/domain/decide-report';
import type { FactCommand } from '../../src/domain/fact-command';
import type { Verdict } from '../../src/domain/policy';
import { systemClock } from '../../src/platform/clock';
import { createTowOutbox } from '../../src/store/outbox';
import { decideReport } from '../../src/workflow/decide-report';
import { isSettled } from '../../src/domain/outbox';
import { FAILING, refusedWith } from '../support/exchanges';
import { type ClaimedReport, type TowClaim, type TowOutbox, NO_LIMITS } from '../support/outboxes';
import { useRedis } from '../support/redis';
import { ACCEPTED, INVOICE, mustClaim, oddAnswer, openStores, result, START, type Stores } from '../support/stores';
import {
  claim,
  decide,
  headOf,
  newModel,
  owe,
  settleAttempt,
  type Model,
  type ModelAttempt,
  type Outcome,
} from './outbox-model';
import { steps, type Step } from './outbox-steps';
import { changeEntry } from '../support/stored-records';

/** Random stories of one outbox in Redis, compared with a plain model after every step. */

const REF = 'T1';
/** The facts that follow the start and the invoice request, from where orders of events are difficult. */
const LIFE: readonly FactCommand[] = [
  { event: 'detained' },
  { event: 'payment', paymentStatus: 'PAID' },
  { event: 'released' },
];

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

interface Real {
  readonly steady: TowOutbox;
  /** Its leases expire at once. */
  readonly lost: TowOutbox;
  readonly granted: { readonly claimed: ClaimedReport; readonly attempt: ModelAttempt }[];
  saidCount: number;
  webhooks: number;
}

test('the outbox of a tow behaves like its model for any order of facts, claims, results, webhooks and decisions', async () => {
  const seen = new Map<string, number>();
  const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      await beginAtInvoice();
      const outboxWith = (leaseMs: number) =>
        createTowOutbox(stores.redis, systemClock, { leaseMs, graceMs: 0, ...NO_LIMITS });
      const real: Real = { steady: outboxWith(60_000), lost: outboxWith(0), granted: [], saidCount: 0, webhooks: 0 };
      const model = newModel();
      owe(model, 'started');
      for (const started of model.reports) started.state = 'accepted';
      owe(model, 'invoice');
      for (const step of story) {
        note(`${step.do} ${await take(step, model, real)}`);
        await compare(model);
      }
    }),
    { numRuns: 150 },
  );
  // Each outcome must have occurred, or the test proves little.
  for (const what of ['busy', 'idle', 'needs_action', 'send', 'escalated'])
    expect(seen.get(`claim ${what}`)).toBeGreaterThan(0);
  for (const what of ['done', 'late', 'late_accepted']) expect(seen.get(`settle ${what}`)).toBeGreaterThan(0);
  for (const what of ['done', 'refused']) expect(seen.get(`decide ${what}`)).toBeGreaterThan(0);
}, 600_000);

/** Creates a tow whose started report was accepted and whose invoice report is pending. */
async function beginAtInvoice(): Promise<void> {
  await redis.ask('FLUSHALL');
  await stores.request(REF);
  await stores.say(REF, START);
  await stores.outbox.settle(await mustClaim(stores.outbox, REF), result(ACCEPTED));
  await stores.say(REF, INVOICE);
}

/** Takes a step in Redis and in the model, and compares the outcomes. Returns the outcome. */
async function take(step: Step, model: Model, real: Real): Promise<string> {
  switch (step.do) {
    case 'say':
      return say(model, real);
    case 'webhook':
      real.webhooks += 1;
      model.clock += 1;
      model.provedAt = model.clock;
      await stores.acceptInvoice(REF, `webhook-${real.webhooks}`);
      return 'taken';
    case 'claim':
      return claimBoth(step.isLost, model, real);
    case 'settle':
      return settleBoth(step, model, real);
    case 'decide':
      return decideBoth(step, model);
  }
}

async function say(model: Model, real: Real): Promise<string> {
  const fact = LIFE[real.saidCount];
  // A waived invoice or payment changes the allowed facts, which is the subject of the domain rules.
  const isBarred = model.reports.some(
    ({ kind, state }) => state === 'waived' && (kind === 'invoice' || kind === 'payment'),
  );
  if (!fact || isBarred) return 'nothing';
  real.saidCount += 1;
  owe(model, fact.event);
  await stores.say(REF, fact);
  return 'said';
}

/** Claims without the growing wait after lost workers: the model has no time. */
async function claimPastWaits(outbox: TowOutbox): Promise<TowClaim> {
  const claimed = await outbox.claim(REF);
  if (claimed.kind !== 'wait') return claimed;
  const head = (await stores.read(REF)).reports.find(({ state }) => !isSettled(state));
  await changeEntry(stores.redis, { ref: REF }, head?.seq ?? 0, { nextAtMs: 1 });
  return outbox.claim(REF);
}

async function claimBoth(isLost: boolean, model: Model, real: Real): Promise<string> {
  const expected = claim(model, isLost);
  const claimed = await claimPastWaits(isLost ? real.lost : real.steady);
  const shown = claimed.kind === 'send' ? `send ${claimed.entry.id}` : claimed.kind;
  expect(shown).toBe(expected.kind === 'send' ? `send ${expected.attempt.report.id}` : expected.kind);
  if (claimed.kind === 'send' && expected.kind === 'send') {
    real.granted.push({ claimed, attempt: expected.attempt });
  }
  if (claimed.kind === 'escalated') {
    const head = headOf(model);
    if (head) head.isHandedOver = true;
  }
  return expected.kind;
}

async function settleBoth(step: Extract<Step, { do: 'settle' }>, model: Model, real: Real): Promise<string> {
  const granted = real.granted.at(-1 - step.pick);
  if (!granted) return 'nothing';
  const expected = settleAttempt(model, granted.attempt, step.outcome);
  const stored = await real.steady.settle(granted.claimed, resultOf(step.outcome, granted.attempt));
  expect(stored.kind).toBe(expected);
  return expected;
}

async function decideBoth(step: Extract<Step, { do: 'decide' }>, model: Model): Promise<string> {
  const report = model.reports[step.pick];
  if (!report) return 'nothing';
  const actor = { id: 'k1', name: 'tester', role: 'ops' } as const;
  const command: DecisionCommand =
    step.action === 'retry' ? { action: 'retry' } : { action: step.action, reason: 'a test' };
  const effect = await decideReport(stores.progress, { ref: REF, reportId: report.id, command, actor });
  expect(effect.kind).toBe(decide(model, report, step.action) ? 'done' : 'refused');
  return effect.kind;
}

/** The policy's result for an outcome, without delays. */
function resultOf(outcome: Outcome, { report }: ModelAttempt) {
  const isUnknown = report.kind === 'invoice';
  const retry = (because: 'throttled' | 'failed' | 'unanswered'): Verdict => ({ next: 'retry', delayMs: 0, because });
  const unknown: Verdict = { next: 'unknown', delayMs: 0 };
  switch (outcome) {
    case 'accepted':
      return result(ACCEPTED);
    case 'drift':
      return result({ next: 'accepted' }, { difference: oddAnswer(report.kind) });
    case 'refused':
      return result({ next: 'refused', hint: null }, { exchange: refusedWith(400) });
    case 'throttled':
      return result(retry('throttled'), { exchange: refusedWith(429) });
    case 'failed':
      return result(isUnknown && report.unanswered > 1 ? unknown : retry('failed'), { exchange: FAILING });
    case 'unanswered':
      return result(isUnknown ? unknown : retry('unanswered'));
  }
}

/** Compares the reports, and whether the tow is scheduled. */
async function compare(model: Model): Promise<void> {
  const [{ reports }, dueAt] = await Promise.all([stores.read(REF), stores.dueAt(REF)]);
  expect(reports.map(({ id, state, attemptId }) => ({ id, state, inFlight: attemptId !== null }))).toEqual(
    model.reports.map(({ id, state, attempt }) => ({ id, state, inFlight: attempt !== null })),
  );
  const head = headOf(model);
  const needsWorker = head !== null && head.state !== 'refused' && !head.isHandedOver;
  const isDue = dueAt !== null;
  expect({ needsWorker, isDue }).toEqual({ needsWorker, isDue: isDue || needsWorker });
}
