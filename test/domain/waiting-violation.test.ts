import { orUnknown } from '../../src/domain/stored';
import { WAIT_REASONS } from '../../src/domain/outbox/entry';
import { waitingOfViolation, type WaitingViolation } from '../../src/domain/outbox/waiting';
import { VIOLATION_STATES } from '../../src/domain/vocabulary';
import { nowMs } from './tows';

const LAST_ERROR = { http_status: 400, message: 'Zone not found' };
const TASKS = [{ id: 'violation_contract.U1' }, { id: 'violation.U1' }];

const violation = (changes: Partial<WaitingViolation> = {}): WaitingViolation => ({
  id: 'U1',
  state: 'pending',
  attemptId: null,
  attempts: 0,
  nextAtMs: nowMs,
  waitsFor: null,
  error: null,
  hint: null,
  tasks: [],
  nowMs,
  ...changes,
});

const later = nowMs + 30_000;

test.each([
  ['accepted', { state: 'accepted', nextAtMs: null }, { kind: 'over' }],
  ['waived', { state: 'waived', nextAtMs: null }, { kind: 'over' }],
  ['being sent', { state: 'sending' }, { kind: 'on_its_way' }],
  ['claimed', { attemptId: 'a1' }, { kind: 'on_its_way' }],
  ['due', {}, { kind: 'turn' }],
  [
    'tried in vain',
    { attempts: 2, nextAtMs: later, error: LAST_ERROR },
    { kind: 'next_try', atMs: later, attempts: 2, because: LAST_ERROR },
  ],
  ['held by the outage', { waitsFor: 'outage' }, { kind: 'blocked', by: { kind: 'outage' } }],
  [
    'forbidden for everybody',
    { waitsFor: 'paused.violation' },
    { kind: 'blocked', by: { kind: 'paused', operation: 'violation' } },
  ],
  ['in line for a slot', { waitsFor: 'budget' }, { kind: 'blocked', by: { kind: 'budget' } }],
  [
    'asked about in vain',
    { waitsFor: 'ticket_check', nextAtMs: later, error: LAST_ERROR },
    { kind: 'ticket', atMs: later, because: LAST_ERROR },
  ],
  ['to be asked about again now', { waitsFor: 'ticket_check' }, { kind: 'turn' }],
  ['taken by a worker without the disk', { waitsFor: 'spool', nextAtMs: later }, { kind: 'images', atMs: later }],
  ['sent without an answer', { state: 'unknown', nextAtMs: later }, { kind: 'proof', untilMs: later, because: null }],
  [
    'held for a ticket',
    { state: 'held', nextAtMs: null, tasks: TASKS },
    { kind: 'held', taskId: 'violation.U1', because: null },
  ],
  [
    'refused',
    { state: 'refused', nextAtMs: null, error: LAST_ERROR, tasks: TASKS },
    { kind: 'decision', why: 'refused', taskId: 'violation.U1', because: LAST_ERROR, hint: null },
  ],
  [
    'given up',
    { nextAtMs: null, hint: 'perhaps_already_accepted' },
    { kind: 'decision', why: 'given_up', taskId: null, because: null, hint: 'perhaps_already_accepted' },
  ],
  [
    'of unknown outcome for too long',
    { state: 'unknown', nextAtMs: null },
    { kind: 'decision', why: 'unknown', taskId: null, because: null, hint: null },
  ],
] as const)('waitingOf explains why a violation waits that is %s', (_what, changes, expected) => {
  expect(waitingOfViolation(violation(changes))).toEqual(expected);
});

test('every violation has one waiting reason, and only settled violations are over', () => {
  const seen = new Set<string>();
  for (const state of VIOLATION_STATES) {
    for (const attemptId of [null, 'a1']) {
      for (const nextAtMs of [null, nowMs - 1, nowMs, later]) {
        for (const word of [null, 'budget', 'connection', 'spool', 'ticket_check', 'paused.violation', '?']) {
          const waitsFor = orUnknown(WAIT_REASONS).nullable().parse(word);
          const { kind } = waitingOfViolation(violation({ state, attemptId, nextAtMs, waitsFor, attempts: 2 }));
          seen.add(kind);
          expect(kind === 'over').toBe(state === 'accepted' || state === 'waived');
        }
      }
    }
  }
  expect([...seen].toSorted()).toEqual([
    'blocked',
    'decision',
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
