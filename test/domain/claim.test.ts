import { draftOfCircuits, NO_CIRCUITS, noEffects } from '../../src/domain/circuits';
import { claim, type ClaimContext } from '../../src/domain/claim-entry';
import { entryOf, matchTow } from '../../src/domain/stored-violation';
import { newStoredViolation } from '../../src/store/violation-fields';
import { violationOf } from '../support/violations';
import { nowMs } from './tows';

/** A claim that is repeated has the token and the attempt of the first one: its reply was lost. */
const context = (): ClaimContext => ({
  settings: { leaseMs: 60_000, graceMs: 0, giveUpAfterMs: 3_600_000 },
  nowMs,
  leaseToken: 'lease-1',
  attemptId: 'attempt-1',
  circuits: draftOfCircuits(NO_CIRCUITS),
  effects: noEffects(),
  waiting: {},
  permit: 'none_needed',
});

test('a repeated claim whose first reply was lost gives the same right to send, and counts one attempt', () => {
  const violation = newStoredViolation(violationOf('U1'), nowMs);
  claim(violation, context());

  expect(claim(violation, context())).toMatchObject({ kind: 'send', entry: { attemptId: 'attempt-1', attempts: 1 } });
});

test('a repeated claim sends no violation that a tow request has proved meanwhile, and logs no lost worker', () => {
  const violation = newStoredViolation(violationOf('U1'), nowMs);
  claim(violation, context());
  matchTow(violation, { towingReference: 'TW-1', reference: 'V-1', isEchoed: true }, nowMs);

  expect(claim(violation, context())).toEqual({ kind: 'cleanup' });

  expect(entryOf(violation)).toMatchObject({ state: 'accepted', attemptId: null, log: [] });
});
