import { decideReport } from '../../src/domain/outbox/decide-report';
import { draftOf, editEntry } from '../../src/domain/outbox/outbox-record';
import { acceptEntry } from '../../src/domain/outbox/settle-entry';
import { isKnown, appendReport, type KnownTow } from '../../src/domain/tow/stored-tow';
import { markFactRecorded, timelineOf } from '../../src/domain/tow/timeline';
import { absentTow } from '../support/absent-tow';
import { owedReport } from '../../src/domain/tow/report-bodies';
import { minutesFromNow, nowMs, RULES, towAs, WHEREABOUTS } from './tows';

const actor = { id: 'k1', name: 'tester', role: 'ops' } as const;
const context = { actor, rules: RULES, clockMs: nowMs, nowMs: nowMs + 10 };

function startedTow(): KnownTow {
  const record = { ...absentTow('T1'), tow: towAs('started') };
  if (!isKnown(record)) throw new Error('the tow is known');
  markFactRecorded(record, {}, nowMs);
  appendReport(record, owedReport(record.tow, 'started', { ...WHEREABOUTS, occurredAt: minutesFromNow(-1) }), nowMs);
  return record;
}

function eventsOf(record: KnownTow): unknown[][] {
  return timelineOf(record).map(({ entry }) => [entry['type'], entry['report_id'] ?? entry['event']]);
}

test('the timeline contains a recorded fact and an accepted report without storing them a second time', () => {
  const record = startedTow();
  for (const entry of record.entries) acceptEntry(record, entry, 'answered', nowMs + 5);

  expect(eventsOf(record)).toEqual([
    ['fact.recorded', 'started'],
    ['report.accepted', 'started-1'],
  ]);
  expect(record.events).toEqual([]);
});

test('a fact with an explanation is one event of the timeline, which contains the explanation', () => {
  const record = { ...absentTow('T1'), tow: towAs('started') };
  if (!isKnown(record)) throw new Error('the tow is known');

  markFactRecorded(record, { reason: 'by phone' }, nowMs);

  expect(timelineOf(record).map(({ entry }) => entry)).toEqual([
    expect.objectContaining({ type: 'fact.recorded', event: 'started', reason: 'by phone' }),
  ]);
});

test('the timeline keeps the original values of a fact when it is corrected', () => {
  const record = startedTow();
  const [before] = timelineOf(record);
  const status_update_time = minutesFromNow(-5);

  const decided = decideReport(record, 'started-1', { action: 'correct', fields: { status_update_time } }, context);

  expect(decided).toMatchObject({ ok: true });
  expect(record.tow.facts.at(-1)?.occurredAt).toBe(status_update_time);
  expect(timelineOf(record)[0]).toEqual(before);
  expect(eventsOf(record)).toEqual([
    ['fact.recorded', 'started'],
    ['report.corrected', 'started-1'],
  ]);
});

test('an entry of a stored record can be changed only through its draft', () => {
  const record = startedTow();
  const draft = draftOf(record);
  const [entry] = draft.entries;
  if (!entry) throw new Error('there is a report');

  expect(() => (entry.attempts += 1)).toThrow(TypeError);
  editEntry(draft, entry).attempts += 1;

  expect([record.entries[0]?.attempts, draft.entries[0]?.attempts]).toEqual([0, 1]);
});
