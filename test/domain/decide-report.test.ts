import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { decideReport, type ReportCommand } from '../../src/domain/outbox/decide-report';
import { newEntry, type EntryState } from '../../src/domain/outbox/entry';
import { draftOf } from '../../src/domain/outbox/outbox-record';
import { isKnown, appendReport, type KnownTow } from '../../src/domain/tow/stored-tow';
import { REPORT_STATES, type ReportKind } from '../../src/domain/vocabulary';
import { absentTow } from '../support/absent-tow';
import { nowMs, RULES, towAs } from './tows';

const ACTOR = { id: 'k1', name: 'tester', role: 'ops' } as const;
const context = { actor: ACTOR, rules: RULES, clockMs: nowMs, nowMs };
const KINDS: readonly ReportKind[] = ['started', 'detained', 'invoice', 'payment'];

/** A tow that owes a report of each kind, each in a state of its own. */
function towWith(states: readonly EntryState[], inFlight: number | null): KnownTow {
  const record = { ...absentTow('T1'), tow: towAs('detained') };
  if (!isKnown(record)) throw new Error('the tow is known');
  for (const [at, kind] of KINDS.entries()) {
    appendReport(record, { kind, body: { towing_reference_id: 'T1' } }, nowMs);
    Object.assign(record.entries[at] ?? {}, { state: states[at], attemptId: at === inFlight ? 'a1' : null });
  }
  return record;
}

const command: fc.Arbitrary<ReportCommand> = fc.oneof(
  fc.constant({ action: 'retry' as const }),
  fc.constant({ action: 'waive' as const, reason: 'seen' }),
  fc.constant({ action: 'accept' as const, reason: 'seen' }),
  fc.record({
    action: fc.constant('correct' as const),
    fields: fc.dictionary(fc.constantFrom('vehicle_type', 'delay_in_days', 'plate_number', 'payment_status'), fc.nat()),
  }),
);

test('a refused decision leaves the draft unchanged, and an accepted one is on the timeline and audited', () => {
  const states = fc.array(fc.constantFrom(...REPORT_STATES), { minLength: 4, maxLength: 4 });
  const reportId = fc.constantFrom('started-1', 'detained-2', 'invoice-3', 'payment-4', 'released-5');
  fc.assert(
    fc.property(states, fc.option(fc.nat(3)), reportId, command, (all, inFlight, id, decided) => {
      const before = towWith(all, inFlight);
      const draft = draftOf(before);

      const decision = decideReport(draft, id, decided, context);

      const noted = draft.events.map(({ entry }) => [entry['type'], entry['report_id'], entry['by']]);
      // Payments that are waived with their invoice.
      const also = draft.entries.filter((entry, at) => entry.id !== id && entry.state !== before.entries[at]?.state);
      const ids = [id, ...also.map((entry) => entry.id)];
      expect(noted).toEqual(decision.ok ? ids.map((each) => [decision.audit.action, each, 'tester']) : []);
      expect(decision.ok || isDeepStrictEqual(draft, before)).toBe(true);
    }),
  );
});

test('waiving an invoice waives the payments that wait behind it', () => {
  const draft = towWith(['accepted', 'accepted', 'pending', 'pending'], null);

  const decision = decideReport(draft, 'invoice-3', { action: 'waive', reason: 'billed on paper' }, context);

  expect(decision).toMatchObject({ ok: true, audit: { what: { also_waived: ['payment-4'] } } });
  expect(draft.entries.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'waived', 'waived']);
  const note = { type: 'report.waived', by: 'tester', reason: 'billed on paper' };
  expect(draft.events.map(({ entry }) => entry)).toMatchObject([
    { ...note, report_id: 'invoice-3' },
    { ...note, report_id: 'payment-4' },
  ]);
});

test('an owed report is appended behind the others, with an id of its kind and position', () => {
  const draft = towWith(['accepted', 'accepted', 'accepted', 'accepted'], null);

  appendReport(draft, { kind: 'released', body: {} }, nowMs);

  const expected = newEntry({ seq: 5, id: 'released-5', kind: 'released', body: {}, nowMs });
  expect(draft.entries.at(-1)).toEqual(expected);
});
