import { advance } from '../../src/domain/tow/facts';
import { NO_DISPATCH, type Hold } from '../../src/domain/tow/dispatch';
import type { FactContext } from '../../src/domain/tow/fact-command';
import type { Tow } from '../../src/domain/tow/tow';
import type { FactEvent, TowState } from '../../src/domain/vocabulary';
import { COMMANDS, context, NOW, recorded, refusalOf, report, RULES, towAs } from './tows';

const reports = [report('invoice', 'accepted')];

function hold(id: string, lifted = false): Hold {
  const at = { at: NOW, by: 'office' };
  return { id, reason: 'police', ...at, lifted: lifted ? { reason: 'settled', ...at } : null };
}

function onHold(state: TowState, ...holds: readonly Hold[]): Tow {
  return { ...towAs(state), dispatch: { ...NO_DISPATCH, holds } };
}

function record(tow: Tow, event: FactEvent, also: Partial<FactContext> = {}) {
  return advance(tow, COMMANDS[event], context({ reports, ...also }));
}

const ON_HOLD = { kind: 'conflict', code: 'on_hold' } as const;

test.each(['payment', 'released'] as const)('an open hold blocks the fact %s and is named', (event) => {
  const refusal = refusalOf(record(onHold('detained', hold('h1'), hold('h2', true), hold('h3')), event));
  expect(refusal).toMatchObject(ON_HOLD);
  expect(refusal.details.map(({ field }) => field)).toEqual(['holds.h1', 'holds.h3']);
  for (const id of ['h1', 'h3']) expect(refusal.message).toContain(id);
  expect(refusal.message).not.toContain('h2');
});

test('no refusal contains the reason of a hold, which may name a person', () => {
  expect(JSON.stringify(refusalOf(record(onHold('detained', hold('h1')), 'released')))).not.toContain('police');
});

test('a hold also blocks a release on the spot', () => {
  expect(refusalOf(record(onHold('started', hold('h1')), 'released', { reports: [] }))).toMatchObject(ON_HOLD);
});

test.each(['never', 'always', 'invoiced'] as const)(
  'a hold blocks the release when payment is required %s',
  (releaseRequiresPayment) => {
    const rules = { ...RULES, releaseRequiresPayment };
    expect(refusalOf(record(onHold('detained', hold('h1')), 'released', { rules }))).toMatchObject(ON_HOLD);
  },
);

test('a hold placed between payment and release blocks the release', () => {
  const paid = recorded(record(towAs('detained'), 'payment')).tow;
  const held = { ...paid, dispatch: { ...NO_DISPATCH, holds: [hold('h1')] } };
  expect(refusalOf(record(held, 'released'))).toMatchObject(ON_HOLD);
  expect(recorded(record({ ...held, dispatch: NO_DISPATCH }, 'released')).tow.state).toBe('released');
});

test('lifted holds block neither the payment nor the release after it', () => {
  const paid = recorded(record(onHold('detained', hold('h1', true)), 'payment')).tow;
  expect(recorded(record(paid, 'released')).tow.state).toBe('released');
});

test.each([
  ['requested', 'started'],
  ['started', 'detained'],
  ['started', 'invoice'],
  ['requested', 'canceled'],
  ['started', 'canceled'],
] as const)('a hold on a tow that is %s does not block the fact %s', (state, event) => {
  expect(record(onHold(state, hold('h1')), event, { reports: [] }).ok).toBe(true);
});

test('a hold does not block ops who cancel a detained tow', () => {
  const decision = record(onHold('detained', hold('h1')), 'canceled', { reports: [], role: 'ops' });
  expect(recorded(decision).tow.state).toBe('canceled');
});

test('a fact that would be refused without the hold is refused for that other reason', () => {
  expect(refusalOf(record(onHold('requested', hold('h1')), 'released')).code).toBe('transition_not_allowed');
  expect(refusalOf(record(onHold('detained', hold('h1')), 'payment', { reports: [] })).code).toBe('invoice_required');
});
