import type { Entry } from '../../src/domain/outbox/entry';
import { draftOf, editEntry, type OutboxRecord } from '../../src/domain/outbox/outbox-record';
import { changesOf } from '../../src/domain/outbox/record-changes';
import { appendReport, isKnown } from '../../src/domain/tow/stored-tow';
import { entryOf } from '../../src/domain/violation/stored-violation';
import { newStoredViolation } from '../../src/store/violation/violation-fields';
import { absentTow } from '../support/absent-tow';
import { violationOf } from '../support/violations';
import { nowMs, towAs } from './tows';

function towThatOwes(kind: 'started' | 'invoice'): OutboxRecord {
  const record = { ...absentTow('TW-1'), tow: towAs('started') };
  if (!isKnown(record)) throw new Error('the tow is known');
  appendReport(record, { kind, body: {} }, nowMs);
  return record;
}

/** The changes when the first entry of a record changes like this. */
function changesWhen(record: OutboxRecord, changed: Partial<Entry>) {
  const [entry] = record.entries;
  if (!entry) throw new Error('the record has an entry');
  const after = draftOf(record);
  Object.assign(editEntry(after, entry), changed);
  return changesOf(record, after);
}

const attempted = (status: number) => [{ attempt_id: 'a1', outcome: 'retry', http_status: status } as const];
const REPORT = { report: 'started', report_id: 'started-1' };

test.each<[string, Partial<Entry>, object[]]>([
  [
    'accepted',
    { state: 'accepted', acceptedHow: 'answered', log: attempted(200) },
    [{ type: 'report.accepted', data: { ...REPORT, http_status: 200, how: 'answered' } }],
  ],
  [
    'refused',
    { state: 'refused', log: attempted(400) },
    [{ type: 'report.refused', data: { ...REPORT, http_status: 400 } }],
  ],
  [
    'unknown',
    { state: 'unknown', log: [{ attempt_id: 'a1', outcome: 'unknown' }] },
    [{ type: 'report.unknown', data: { ...REPORT, http_status: null } }],
  ],
  ['waived', { state: 'waived' }, [{ type: 'report.waived', data: REPORT }]],
  [
    'tried in vain',
    { failures: 1, log: attempted(503) },
    [{ type: 'report.delayed', data: { ...REPORT, http_status: 503 } }],
  ],
  ['waiting for a permit', { waitsFor: 'budget' }, [{ type: 'tow.changed', data: {} }]],
  ['in flight', { attemptId: 'a1', attempts: 1 }, []],
  ['in flight and shown so', { state: 'sending', attemptId: 'a1' }, [{ type: 'tow.changed', data: {} }]],
  ['due at another time', { nextAtMs: nowMs + 1 }, []],
])('a report that is %s', (_, changed, changes) => {
  expect(changesWhen(towThatOwes('started'), changed)).toEqual(changes);
});

test('an invoice that is answered is two changes', () => {
  const answered = { state: 'accepted', answer: { invoice_id: 'I-1' } } as const;
  expect(changesWhen(towThatOwes('invoice'), answered).map(({ type }) => type)).toEqual([
    'report.accepted',
    'invoice.answered',
  ]);
});

test.each<[Partial<Entry>, string]>([
  [{ state: 'accepted' }, 'violation.accepted'],
  [{ state: 'refused' }, 'violation.refused'],
  [{ state: 'unknown' }, 'violation.unknown'],
  [{ state: 'waived' }, 'violation.waived'],
  [{ state: 'held' }, 'violation.held'],
  [{ waitsFor: 'spool' }, 'violation.changed'],
])('a violation with %j has the change %s', (changed, type) => {
  const violation = newStoredViolation(violationOf('U1'), nowMs);
  expect(entryOf(violation).state).toBe('pending');
  expect(changesWhen(violation, changed).map((change) => change.type)).toEqual([type]);
});
