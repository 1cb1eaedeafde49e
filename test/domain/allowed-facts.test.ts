import * as fc from 'fast-check';
import type { FactContext } from '../../src/domain/tow/fact-command';
import { advance, FACTS, type FactForm } from '../../src/domain/tow/facts';
import { allowedFacts, type AllowedFact } from '../../src/domain/tow/allowed-facts';
import type { Tow } from '../../src/domain/tow/tow';
import { FACT_EVENTS, roleAllows, ROLES, TOW_STATES, type FactEvent, type Role } from '../../src/domain/vocabulary';
import { after, contextOf, newWorld, stories } from './stories';
import { context, fact, INVOICE_WEBHOOK, report, RULES, towAs, WHEREABOUTS } from './tows';

const allowedIn = (facts: readonly AllowedFact[]) => facts.filter(({ allowed }) => allowed).map(({ event }) => event);

function allowedFact(event: FactEvent, tow: Tow, given: FactContext): AllowedFact {
  const found = allowedFacts(tow, given).find((fact) => fact.event === event);
  if (!found) throw new Error('every fact is listed');
  return found;
}

function formOf<E extends FactEvent>(event: E, tow: Tow, changes = {}): Extract<FactForm, { event: E }> {
  const found = allowedFact(event, tow, context(changes));
  if (!found.allowed) throw new Error(`refused: ${found.refusal.code}`);
  const isAsked = (form: FactForm): form is Extract<FactForm, { event: E }> => form.event === event;
  if (!isAsked(found)) throw new Error('another form');
  return found;
}

function codeOf(event: FactEvent, tow: Tow, changes = {}): string | null {
  const found = allowedFact(event, tow, context(changes));
  return found.allowed ? null : found.refusal.code;
}

test.each([
  ['requested', ['started', 'canceled']],
  ['started', ['detained', 'canceled', 'released', 'invoice']],
  ['detained', ['released', 'invoice']],
  ['released', []],
  ['canceled', []],
] as const)('a dispatcher may record for a tow that is %s the facts %j', (state, events) => {
  expect(allowedIn(allowedFacts(towAs(state), context()))).toEqual(events);
});

test('the allowed facts list every fact in one order, and each refused fact with the code of its rule', () => {
  const facts = allowedFacts(towAs('detained'), context());

  expect(facts.map(({ event }) => event)).toEqual(FACT_EVENTS);
  expect(facts.map((one) => (one.allowed ? null : one.refusal.code))).toEqual([
    'already_recorded',
    'already_recorded',
    'role_not_allowed',
    null,
    null,
    'invoice_required',
  ]);
});

test('a role may never record a fact beyond its rights, in any state of the tow', () => {
  const tow = towAs('started');
  const byRole = Object.fromEntries(ROLES.map((role) => [role, allowedIn(allowedFacts(tow, context({ role })))]));

  expect(byRole).toEqual({
    viewer: [],
    crew: ['detained'],
    dispatcher: ['detained', 'canceled', 'released', 'invoice'],
    ops: ['detained', 'canceled', 'released', 'invoice'],
  });
  expect(codeOf('released', tow, { role: 'crew' })).toBe('role_not_allowed');
});

describe('forms of facts', () => {
  test('the form of a start contains what the violation gave and what must be entered', () => {
    const unknown = { plateNumber: null, towedLocation: null, latitude: null, longitude: null };
    expect(formOf('started', towAs('requested'))).toMatchObject({
      known: unknown,
      missing: ['plateNumber', 'towedLocation', 'latitude', 'longitude'],
      notBefore: null,
    });
    const joined = { ...towAs('requested'), ...WHEREABOUTS, towedLocation: null } as const;
    const { known, missing } = formOf('started', { ...joined, state: 'requested' });
    expect([known, missing]).toEqual([{ ...WHEREABOUTS, towedLocation: null }, ['towedLocation']]);
  });

  test('the form of a field fact contains the time that its own time must not precede', () => {
    expect(formOf('detained', towAs('started'))).toMatchObject({ notBefore: '2026-03-10T10:00:00Z' });
    expect(formOf('released', towAs('detained'))).toMatchObject({ notBefore: '2026-03-10T11:00:00Z' });
  });

  test('the form of a cancel requires a reason only for ops and a tow with an invoice', () => {
    const invoiced = { reports: [report('invoice', 'accepted')] };
    expect(formOf('canceled', towAs('started')).needsReason).toBe(false);
    expect(formOf('canceled', towAs('started'), { role: 'ops' }).needsReason).toBe(false);
    expect(codeOf('canceled', towAs('started'), invoiced)).toBe('invoice_exists');
    expect(formOf('canceled', towAs('started'), { ...invoiced, role: 'ops' }).needsReason).toBe(true);
    expect(formOf('canceled', towAs('detained'), { role: 'ops' }).needsReason).toBe(false);
  });

  test('the form of an invoice contains the vehicle types and the delay days with their calculation', () => {
    const detainedAt = '2026-03-06T22:00:00Z';
    const tow: Tow = { ...towAs('detained'), facts: [fact('started', detainedAt), fact('detained', detainedAt)] };
    const rules = { ...RULES, vehicleTypes: ['HEAVY', 'LIGHT'], freeDays: 1 };

    // 22:00 in UTC is the next day in Riyadh.
    expect(formOf('invoice', tow, { rules })).toMatchObject({
      vehicleTypes: ['HEAVY', 'LIGHT'],
      delay: { days: 2, detainedAt, daysCounted: 3, freeDays: 1 },
    });
    expect(formOf('invoice', towAs('started'), { rules }).delay).toEqual({
      days: 0,
      detainedAt: null,
      daysCounted: 0,
      freeDays: 1,
    });
  });

  test('the form of a payment contains the statuses that are still possible', () => {
    const rules = { ...RULES, paymentStatuses: ['PARTIAL', 'PAID'] };
    const paid = (...statuses: string[]): Tow => ({
      ...towAs('detained'),
      invoiceWebhooks: [INVOICE_WEBHOOK],
      payments: statuses.map((paymentStatus) => ({ paymentStatus, externalReference: null })),
    });
    const reports = [report('payment', 'accepted')];

    expect(formOf('payment', paid(), { rules }).paymentStatuses).toEqual(['PARTIAL', 'PAID']);
    expect(formOf('payment', paid('PARTIAL'), { rules, reports }).paymentStatuses).toEqual(['PAID']);
    expect(codeOf('payment', paid('PAID'), { rules, reports })).toBe('already_recorded');
  });
});

test('an open hold makes the payment and the release unavailable', () => {
  const hold = { id: 'h1', reason: 'police', at: '2026-03-10T11:00:00Z', by: 'x', lifted: null };
  const tow: Tow = {
    ...towAs('detained'),
    invoiceWebhooks: [INVOICE_WEBHOOK],
    dispatch: { ...towAs('detained').dispatch, holds: [hold] },
  };

  expect([codeOf('payment', tow), codeOf('released', tow)]).toEqual(['on_hold', 'on_hold']);
});

test('a hold is the reason against a payment only while a payment can still come', () => {
  const hold = { id: 'h1', reason: 'police', at: '2026-03-10T11:00:00Z', by: 'x', lifted: null };
  const onHold = (paymentStatus: string): Tow => ({
    ...towAs('detained'),
    invoiceWebhooks: [INVOICE_WEBHOOK],
    payments: [{ paymentStatus, externalReference: null }],
    dispatch: { ...towAs('detained').dispatch, holds: [hold] },
  });
  const rules = { ...RULES, paymentStatuses: ['PARTIAL', 'PAID'] };
  const reports = [report('payment', 'accepted')];

  expect(codeOf('payment', onHold('PAID'), { reports })).toBe('already_recorded');
  expect(codeOf('payment', onHold('PARTIAL'), { rules, reports })).toBe('on_hold');
});

describe('allowed facts after any history of a tow', () => {
  test('a fact is recorded only if it was listed as allowed, after any history of a tow', () => {
    let recorded = 0;
    let refused = 0;
    fc.assert(
      fc.property(stories, (story) => {
        let world = newWorld();
        for (const step of story) {
          const factContext = contextOf(world, step);
          const decision = advance(world.tow, step.command, factContext);
          const allowed = allowedFact(step.command.event, world.tow, factContext);
          const isRole = roleAllows(step.role, FACTS[step.command.event].role);
          // With the rights of the role, a recorded fact was allowed before. Without them, it is never allowed.
          expect(allowed.allowed || !decision.ok || !isRole).toBe(true);
          expect(allowed.allowed && !isRole).toBe(false);
          if (isRole && decision.ok) recorded += 1;
          if (isRole && !allowed.allowed) refused += 1;
          world = after(world, step, decision);
        }
      }),
      { numRuns: 300 },
    );
    // Guards against a run in which nothing was looked at.
    expect(Math.min(recorded, refused)).toBeGreaterThan(100);
  });

  test('a form that is filled in as required is accepted, after any history of a tow', () => {
    fc.assert(
      fc.property(stories, fc.constantFrom(...ROLES), (story, role) => {
        let world = newWorld();
        for (const step of story) {
          const factContext = { ...contextOf(world, step), role };
          const commands = allowedFacts(world.tow, factContext).flatMap((found) =>
            found.allowed ? filledIn(found) : [],
          );
          for (const command of commands) expect(advance(world.tow, command, factContext)).toMatchObject({ ok: true });
          world = after(world, step, advance(world.tow, step.command, contextOf(world, step)));
        }
      }),
      { numRuns: 200 },
    );
  });
});

/** The shortest commands that give all that a form asks for. */
function filledIn(form: FactForm): Parameters<typeof advance>[1][] {
  switch (form.event) {
    case 'started': {
      const missing = Object.fromEntries(form.missing.map((field) => [field, WHEREABOUTS[field]]));
      return [{ event: 'started', ...missing }];
    }
    case 'detained':
    case 'released':
      return [{ event: form.event }];
    case 'canceled':
      return [{ event: 'canceled', cancellationReason: 'gone', ...(form.needsReason ? { reason: 'wrong car' } : {}) }];
    case 'invoice':
      return form.vehicleTypes.map((vehicleType) => ({ event: 'invoice', vehicleType }));
    case 'payment':
      return form.paymentStatuses.map((paymentStatus) => ({ event: 'payment', paymentStatus }));
  }
}

test('every role gets a result for every fact in every state of a tow', () => {
  const roles: readonly Role[] = ROLES;
  for (const state of TOW_STATES) {
    for (const role of roles) expect(allowedFacts(towAs(state), context({ role }))).toHaveLength(FACT_EVENTS.length);
  }
});
