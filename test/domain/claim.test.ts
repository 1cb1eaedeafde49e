import { draftOfCircuits, NO_CIRCUITS } from '../../src/domain/service/stored-circuits';
import { noEffects } from '../../src/domain/service/circuits';
import { claim, PROBE_TURN_MS, type ClaimContext } from '../../src/domain/outbox/claim-entry';
import { entryOf, matchTow } from '../../src/domain/violation/stored-violation';
import { newStoredViolation } from '../../src/store/violation/violation-fields';
import { change } from '../../src/domain/change';
import type { Entry } from '../../src/domain/outbox/entry';
import type { StoredTow } from '../../src/domain/outbox/outbox-record';
import { appendReport, isKnown } from '../../src/domain/tow/stored-tow';
import { absentTow } from '../support/absent-tow';
import { violationOf } from '../support/violations';
import { nowMs, towAs } from './tows';

/** A tow that owes this report. */
function towWith(kind: 'started' | 'invoice', entry: Partial<Entry> = {}): StoredTow {
  const record = { ...absentTow('TW-1'), tow: towAs('started'), version: '1' };
  if (!isKnown(record)) throw new Error('the tow is known');
  appendReport(record, { kind, body: {} }, nowMs);
  for (const owed of record.entries) change(owed, entry);
  return record;
}

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

describe('a report whose next try is later than its time of giving up', () => {
  const overdue = { nextAtMs: nowMs + 1000, firstFailedAtMs: nowMs - 2000, giveUpAtMs: nowMs - 1000 };

  test('is escalated at once', () => {
    expect(claim(towWith('started', overdue), context())).toMatchObject({ kind: 'escalated', why: 'given_up' });
  });

  test('waits when a circuit has blocked it meanwhile: its time of giving up moves by that wait', () => {
    const record = towWith('started', { ...overdue, blockedSinceMs: nowMs - 1500 });

    expect(claim(record, context())).toEqual({ kind: 'wait', untilMs: nowMs + 1000 });

    expect(record.entries).toMatchObject([{ blockedSinceMs: null, giveUpAtMs: nowMs + 500 }]);
  });
});

test.each([
  ['the only blocked report made the last probe', 'started'],
  ['the only other blocked report made the last probe, and an invoice request may not', 'invoice'],
] as const)('the token call probes an outage when %s', (_when, kind) => {
  const lastProbe = kind === 'started' ? 'TW-1' : 'TW-2';
  const outage = { untilMs: nowMs, sinceMs: nowMs, failures: 2, lastProbe, safeOnly: false };
  const circuits = draftOfCircuits({ ...NO_CIRCUITS, version: '1', open: { outage } });
  const waiting = { outage: { count: 1, probes: [lastProbe] } };

  expect(claim(towWith(kind), { ...context(), circuits, waiting })).toEqual({ kind: 'probe', failedProbes: 2 });
});

describe('a report that may not probe an outage, with many others blocked', () => {
  const claimedWith = (probes: readonly string[]) => {
    const outage = { untilMs: nowMs, sinceMs: nowMs, failures: 2, lastProbe: 'TW-1', safeOnly: false };
    const circuits = draftOfCircuits({ ...NO_CIRCUITS, version: '1', open: { outage } });
    const record = towWith('started');
    const { kind } = claim(record, { ...context(), circuits, waiting: { outage: { count: 100, probes } } });
    return { kind, runAtMs: record.runAtMs };
  };

  test('tries again soon when another has its turn', () => {
    expect(claimedWith(['TW-2'])).toEqual({ kind: 'wait', runAtMs: nowMs + PROBE_TURN_MS });
  });

  test('tries again when the time of the token call is over', () => {
    expect(claimedWith([])).toEqual({ kind: 'probe', runAtMs: nowMs + 60_000 });
  });
});
