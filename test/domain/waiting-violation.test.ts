import * as fc from 'fast-check';
import { waitingOfViolation, type WaitingViolation } from '../../src/domain/waiting-violation';
import { VIOLATION_STATES } from '../../src/domain/vocabulary';
import { nowMs } from './tows';

const LAST_ERROR = { http_status: 400, message: 'Zone not found' };
const TASKS = [{ id: 'violation_contract.U1' }, { id: 'violation.U1' }];

const violation = (changes: Partial<WaitingViolation> = {}): WaitingViolation => ({
  id: 'U1',
  state: 'pending',
  inFlight: false,
  attempts: 0,
  nextAttemptAtMs: nowMs,
  waitsFor: null,
  lastError: null,
  hint: null,
  tasks: [],
  nowMs,
  ...changes,
});

const later = nowMs + 30_000;

test.each([
  ['accepted', { state: 'accepted', nextAttemptAtMs: null }, { kind: 'over' }],
  ['waived', { state: 'waived', nextAttemptAtMs: null }, { kind: 'over' }],
  ['being sent', { state: 'sending' }, { kind: 'on_its_way' }],
  ['claimed', { inFlight: true }, { kind: 'on_its_way' }],
  ['due', {}, { kind: 'turn' }],
  [
    'tried in vain',
    { attempts: 2, nextAttemptAtMs: later, lastError: LAST_ERROR },
    { kind: 'next_try', atMs: later, attempts: 2, because: LAST_ERROR },
  ],
  ['held by the outage', { waitsFor: 'outage' }, { kind: 'gate', gate: { kind: 'outage' } }],
  [
    'forbidden for everybody',
    { waitsFor: 'paused.violation' },
    { kind: 'gate', gate: { kind: 'paused', operation: 'violation' } },
  ],
  ['in line for a slot', { waitsFor: 'budget' }, { kind: 'gate', gate: { kind: 'budget' } }],
  [
    'asked about in vain',
    { waitsFor: 'ticket_check', nextAttemptAtMs: later, lastError: LAST_ERROR },
    { kind: 'ticket', atMs: later, because: LAST_ERROR },
  ],
  ['to be asked about again now', { waitsFor: 'ticket_check' }, { kind: 'turn' }],
  [
    'taken by a worker without the disk',
    { waitsFor: 'spool', nextAttemptAtMs: later },
    { kind: 'images', atMs: later },
  ],
  [
    'sent without an answer',
    { state: 'unknown', nextAttemptAtMs: later },
    { kind: 'proof', untilMs: later, because: null },
  ],
  [
    'held for a ticket',
    { state: 'held', nextAttemptAtMs: null, tasks: TASKS },
    { kind: 'held', taskId: 'violation.U1', because: null },
  ],
  [
    'refused',
    { state: 'refused', nextAttemptAtMs: null, lastError: LAST_ERROR, tasks: TASKS },
    { kind: 'decision', why: 'refused', taskId: 'violation.U1', because: LAST_ERROR, hint: null },
  ],
  [
    'given up',
    { nextAttemptAtMs: null, hint: 'perhaps' },
    { kind: 'decision', why: 'given_up', taskId: null, because: null, hint: 'perhaps' },
  ],
  [
    'of unknown outcome for too long',
    { state: 'unknown', nextAttemptAtMs: null },
    { kind: 'decision', why: 'unknown', taskId: null, because: null, hint: null },
  ],
] as const)('a violation that is %s says so', (_what, changes, expected) => {
  expect(waitingOfViolation(violation(changes))).toEqual(expected);
});

test('whatever a record says, there is one answer, and only what is settled is over', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.record({
        state: fc.constantFrom(...VIOLATION_STATES),
        inFlight: fc.boolean(),
        attempts: fc.nat({ max: 30 }),
        nextAttemptAtMs: fc.option(fc.integer({ min: nowMs - 1e6, max: nowMs + 1e6 })),
        waitsFor: fc.constantFrom(null, 'budget', 'connection', 'spool', 'ticket_check', 'paused.violation', '?'),
      }),
      (changes) => {
        const { kind } = waitingOfViolation(violation(changes));
        seen.add(kind);
        expect(kind === 'over').toBe(changes.state === 'accepted' || changes.state === 'waived');
      },
    ),
    { numRuns: 2000 },
  );
  expect([...seen].toSorted()).toEqual([
    'decision',
    'gate',
    'held',
    'images',
    'next_try',
    'on_its_way',
    'over',
    'proof',
    'ticket',
    'turn',
  ]);
});
