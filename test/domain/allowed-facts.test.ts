import * as fc from 'fast-check';
import { advance } from '../../src/domain/advance';
import { allowedFact, allowedFacts, type AllowedFact, type FactForm } from '../../src/domain/allowed-facts';
import { FACT_ROLES } from '../../src/domain/fact-command';
import type { Tow } from '../../src/domain/tow';
import { FACT_EVENTS, roleAllows, ROLES, TOW_STATES, type FactEvent, type Role } from '../../src/domain/vocabulary';
import { after, contextOf, newWorld, stories } from './stories';
import { context, fact, INVOICE_WEBHOOK, report, RULES, towAs, WHEREABOUTS } from './tows';

const allowedIn = (facts: readonly AllowedFact[]) => facts.filter(({ allowed }) => allowed).map(({ event }) => event);

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
] as const)('a dispatcher may say of a tow that is %s: %j', (state, events) => {
  expect(allowedIn(allowedFacts(towAs(state), context()))).toEqual(events);
});

test('every fact is listed, in one order, and what is refused says by which rule', () => {
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

test('nobody may say more than the role allows, whatever the tow allows', () => {
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

describe('the form', () => {
  test('of a start tells what the violation gave, and what must be entered', () => {
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

  test('of a field fact tells before which moment it must not lie', () => {
    expect(formOf('detained', towAs('started'))).toMatchObject({ notBefore: '2026-03-10T10:00:00Z' });
    expect(formOf('released', towAs('detained'))).toMatchObject({ notBefore: '2026-03-10T11:00:00Z' });
  });

  test('of a cancel asks for a reason only where there is an invoice, and only ops get it then', () => {
    const invoiced = { reports: [report('invoice', 'accepted')] };
    expect(formOf('canceled', towAs('started')).needsReason).toBe(false);
    expect(formOf('canceled', towAs('started'), { role: 'ops' }).needsReason).toBe(false);
    expect(codeOf('canceled', towAs('started'), invoiced)).toBe('invoice_exists');
    expect(formOf('canceled', towAs('started'), { ...invoiced, role: 'ops' }).needsReason).toBe(true);
    expect(formOf('canceled', towAs('detained'), { role: 'ops' }).needsReason).toBe(false);
  });

  test('of an invoice tells the vehicle types, and the days with how they come about', () => {
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

  test('of a payment tells the statuses that are still possible', () => {
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

test('a hold takes payment and release from the list', () => {
  const hold = { id: 'h1', reason: 'police', at: '2026-03-10T11:00:00Z', by: 'x', lifted: null };
  const tow: Tow = {
    ...towAs('detained'),
    invoiceWebhooks: [INVOICE_WEBHOOK],
    dispatch: { ...towAs('detained').dispatch, holds: [hold] },
  };

  expect([codeOf('payment', tow), codeOf('released', tow)]).toEqual(['on_hold', 'on_hold']);
});

describe('whatever has happened to a tow', () => {
  test('what is recorded was allowed before, and what is not allowed is never recorded', () => {
    let recorded = 0;
    let refused = 0;
    fc.assert(
      fc.property(stories, (story) => {
        let world = newWorld();
        for (const step of story) {
          const told = contextOf(world, step);
          const decision = advance(world.tow, step.command, told);
          const allowed = allowedFact(step.command.event, world.tow, told);
          const isRole = roleAllows(step.role, FACT_ROLES[step.command.event]);
          // Told by somebody with the role: allowed before it was recorded. By anybody else: never allowed.
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

  test('a form that is filled in as it asks is taken', () => {
    fc.assert(
      fc.property(stories, fc.constantFrom(...ROLES), (story, role) => {
        let world = newWorld();
        for (const step of story) {
          const told = { ...contextOf(world, step), role };
          const commands = allowedFacts(world.tow, told).flatMap((found) => (found.allowed ? filledIn(found) : []));
          for (const command of commands) expect(advance(world.tow, command, told)).toMatchObject({ ok: true });
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

test('a role and a state that nobody thought of are answered all the same', () => {
  const roles: readonly Role[] = ROLES;
  for (const state of TOW_STATES) {
    for (const role of roles) expect(allowedFacts(towAs(state), context({ role }))).toHaveLength(FACT_EVENTS.length);
  }
});
