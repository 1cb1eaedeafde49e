import * as fc from 'fast-check';
import { advance } from '../../src/domain/tow/facts';
import type { Hold } from '../../src/domain/tow/dispatch';
import { RELEASE_ITEMS, releaseBlockers, releaseChecklist } from '../../src/domain/tow/release-checklist';
import type { Tow } from '../../src/domain/tow/tow';
import { after, contextOf, newWorld, stories } from './stories';
import { context, INVOICE_WEBHOOK, report, RULES, towAs } from './tows';

const HOLD: Hold = { id: 'h1', reason: 'police', at: '2026-03-10T11:00:00Z', by: 'x', lifted: null };
const held = (tow: Tow): Tow => ({ ...tow, dispatch: { ...tow.dispatch, holds: [HOLD] } });
const PAYMENT = { paymentStatus: 'PAID', externalReference: null };

/** What is needed and not met. */
const openItems = (tow: Tow, changes = {}) =>
  releaseChecklist(tow, context(changes))
    .filter(({ needed, met }) => needed && !met)
    .map(({ item }) => item);

const checkOf = (item: (typeof RELEASE_ITEMS)[number], tow: Tow, changes = {}) => {
  const { met, needed } = releaseChecklist(tow, context(changes)).find((check) => check.item === item) ?? {};
  return { met, needed };
};

test('the release checklist contains every item once, in the usual order of work', () => {
  expect(releaseChecklist(towAs('detained'), context()).map(({ item }) => item)).toEqual(RELEASE_ITEMS);
});

test('a tow without an invoice needs no payment for its release, unless the rules always require one', () => {
  expect(openItems(towAs('detained'))).toEqual([]);
  const rules = { ...RULES, releaseRequiresPayment: 'always' } as const;
  expect(openItems(towAs('detained'), { rules })).toEqual(['invoice_requested', 'payment_recorded']);
});

test('an invoiced tow needs its payment for its release, unless the rules never require one', () => {
  const reports = [report('invoice', 'accepted')];
  expect(openItems(towAs('detained'), { reports })).toEqual(['payment_recorded']);
  const rules = { ...RULES, releaseRequiresPayment: 'never' } as const;
  expect(openItems(towAs('detained'), { reports, rules })).toEqual([]);
  const paid = { ...towAs('detained'), payments: [PAYMENT] };
  expect(openItems(paid, { reports: [...reports, report('payment', 'pending')] })).toEqual([]);
});

test('an open hold, or a state that allows no release, is an open item of the release checklist', () => {
  expect(openItems(held(towAs('detained')))).toEqual(['no_open_hold']);
  for (const state of ['requested', 'released', 'canceled'] as const)
    expect(openItems(towAs(state))).toEqual(['state']);
});

test('release blockers are all open items of the checklist, and none in a state that allows no release', () => {
  const reports = [report('invoice', 'accepted')];
  const blockersOf = (tow: Tow, changes = {}) => releaseBlockers(releaseChecklist(tow, context(changes)));
  expect(blockersOf(held(towAs('detained')), { reports })).toEqual(['no_open_hold', 'payment_recorded']);
  expect(blockersOf(towAs('started'))).toEqual([]);
  const rules = { ...RULES, releaseRequiresPayment: 'always' } as const;
  expect(blockersOf(towAs('started'), { rules })).toEqual(['invoice_requested', 'payment_recorded']);
  for (const state of ['requested', 'released', 'canceled'] as const) {
    expect(blockersOf(held(towAs(state)), { reports })).toEqual([]);
  }
});

test('the release checklist shows whether the service accepted the invoice but never requires it', () => {
  const asked = [report('invoice', 'pending')];
  expect(checkOf('invoice_accepted', towAs('detained'), { reports: asked })).toEqual({ met: false, needed: false });
  const answered = [report('invoice', 'accepted')];
  expect(checkOf('invoice_accepted', towAs('detained'), { reports: answered })).toEqual({ met: true, needed: false });
  const posted: Tow = { ...towAs('detained'), invoiceWebhooks: [INVOICE_WEBHOOK] };
  expect(checkOf('invoice_accepted', posted)).toEqual({ met: true, needed: false });
});

test('all required items are met exactly when no conflict would refuse the release, after any history', () => {
  const seen = { open: 0, barred: 0 };
  const modes = fc.constantFrom('invoiced' as const, 'always' as const, 'never' as const);
  fc.assert(
    fc.property(stories, modes, fc.boolean(), (story, releaseRequiresPayment, isHeld) => {
      let world = newWorld();
      for (const step of story) {
        const factContext = contextOf(world, step);
        const asked = { ...factContext, rules: { ...factContext.rules, releaseRequiresPayment } };
        const tow = isHeld ? held(world.tow) : world.tow;
        const decision = advance(tow, { event: 'released' }, asked);
        const isBarred = !decision.ok && decision.refusal.kind === 'conflict';
        const isMet = releaseChecklist(tow, asked).every(({ needed, met }) => met || !needed);
        expect(isMet).toBe(!isBarred);
        seen[isBarred ? 'barred' : 'open'] += 1;
        world = after(world, step, advance(world.tow, step.command, factContext));
      }
    }),
    { numRuns: 500 },
  );
  expect(Math.min(seen.open, seen.barred)).toBeGreaterThan(50);
});
