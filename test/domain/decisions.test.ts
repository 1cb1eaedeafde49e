import * as fc from 'fast-check';
import { decideReport, type ReportCommand } from '../../src/domain/outbox/decide-report';
import {
  ACTION_ROLES,
  allowedDecisions,
  DECISIONS,
  TASK_ACTIONS,
  type DecisionAction,
} from '../../src/domain/outbox/decisions';
import { isCorrectable } from '../../src/domain/tow/facts';
import { isReport } from '../../src/domain/outbox/outbox';
import { draftOf } from '../../src/domain/outbox/outbox-record';
import { withhold } from '../../src/domain/outbox/withheld';
import { isKnown, appendReport, type KnownTow } from '../../src/domain/tow/stored-tow';
import { FACT_EVENTS, REPORT_STATES, VIOLATION_STATES, type ReportKind } from '../../src/domain/vocabulary';
import { absentTow } from '../support/absent-tow';
import { asRead } from '../../src/workflow/outbox/read-record';
import { nowMs, RULES, towAs } from './tows';

const ACTOR = { id: 'k1', name: 'tester', role: 'dispatcher' } as const;
const REASON = 'seen';

const states = fc.constantFrom(...REPORT_STATES);
const entries = fc.array(fc.record({ kind: fc.constantFrom(...FACT_EVENTS), state: states, inFlight: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
});

function towOwing(
  reports: readonly { kind: ReportKind; state: (typeof REPORT_STATES)[number]; inFlight: boolean }[],
): KnownTow {
  const record = { ...absentTow('T1'), tow: towAs('detained') };
  if (!isKnown(record)) throw new Error('the tow is known');
  for (const [at, { kind, state, inFlight }] of reports.entries()) {
    appendReport(record, { kind, body: {} }, nowMs);
    Object.assign(record.entries[at] ?? {}, { state, attemptId: inFlight ? `a${at}` : null });
  }
  return record;
}

/** Conflicts are rules about the state; a field that fails its rule does not forbid the decision. */
function isAllowed(draft: KnownTow, reportId: string, kind: ReportKind, action: DecisionAction): boolean {
  if (action === 'correct' && !isCorrectable(kind)) return false;
  const command: ReportCommand =
    action === 'correct' ? { action, fields: {} } : action === 'retry' ? { action } : { action, reason: REASON };
  const decided = decideReport(draft, reportId, command, { actor: ACTOR, rules: RULES, clockMs: nowMs, nowMs });
  return decided.ok || decided.refusal.kind === 'invalid';
}

test('the allowed decisions about a report are exactly those that the API would not refuse with a conflict', () => {
  fc.assert(
    fc.property(entries, fc.boolean(), fc.nat(3), (reports, isHeld, at) => {
      const stored = towOwing(reports);
      const entry = stored.entries[at % reports.length];
      if (!entry || entry.kind === 'violation') throw new Error('a report is owed');
      const { id, kind } = entry;
      if (isHeld) withhold(stored);
      const report = asRead(stored, nowMs)
        .entries.filter(isReport)
        .find((each) => each.id === id);
      if (!report) throw new Error('the tow is known');

      const allowed = allowedDecisions(report);

      expect(allowed).toEqual(DECISIONS.filter((action) => isAllowed(draftOf(stored), id, kind, action)));
    }),
  );
});

const UNSENT = { attemptId: null, waitsFor: null, nextAtMs: 1, possibleEffects: 0 } as const;

test('what shadow mode holds can be corrected, waived and accepted, but not sent by a retry', () => {
  const held = { ...UNSENT, state: 'pending', waitsFor: 'shadow' } as const;

  expect(allowedDecisions({ ...held, kind: 'invoice' })).toEqual(['correct', 'waive', 'accept']);
  expect(allowedDecisions({ ...held, kind: 'violation' })).toEqual(['correct', 'waive', 'accept']);
});

test('every decision is allowed about a refused report and about a refused violation', () => {
  const refused = { ...UNSENT, state: 'refused', nextAtMs: null } as const;

  expect(allowedDecisions({ ...refused, kind: 'invoice' })).toEqual([...DECISIONS]);
  expect(allowedDecisions({ ...refused, kind: 'violation' })).toEqual([...DECISIONS]);
});

test('only ops may resume an operation or declare a difference expected; every other action of a task needs a dispatcher', () => {
  expect(TASK_ACTIONS.filter((action) => ACTION_ROLES[action] === 'ops')).toEqual(['resume', 'expect']);
  expect(TASK_ACTIONS.filter((action) => ACTION_ROLES[action] === 'dispatcher')).toEqual([...DECISIONS, 'resolve']);
});

test('a violation that may be at the service can be corrected only after a refusal or once it is given up', () => {
  const perhapsThere = { ...UNSENT, kind: 'violation', possibleEffects: 1 } as const;
  const correctable = VIOLATION_STATES.filter((state) =>
    allowedDecisions({ ...perhapsThere, state }).includes('correct'),
  );
  const givenUp = { ...perhapsThere, state: 'pending', nextAtMs: null } as const;

  expect(correctable).toEqual(['refused']);
  expect(allowedDecisions(givenUp)).toEqual([...DECISIONS]);
});
