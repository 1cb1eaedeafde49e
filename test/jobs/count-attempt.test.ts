import { countAttempt, type StoredAttempt } from '../../jobs/count-attempt';
import { createMetrics } from '../../src/platform/metrics';
import { createTally } from '../../src/platform/tally';

function counted(also: Partial<StoredAttempt>, exchange: StoredAttempt['call']['exchange'] = ACCEPTED) {
  const tally = createTally();
  const call = { exchange, data: null, rawBody: null, wasSent: true, isPermitSpent: true, durationMs: 80 };
  const attempted = {
    call,
    verdict: { next: 'accepted', flag: null },
    stored: 'done',
    sinceRecordedMs: 90_000,
  } as const;
  countAttempt('started', { ...attempted, ...also }, createMetrics(tally));
  return tally.take().added;
}

const ACCEPTED = { kind: 'accepted', httpStatus: 200 } as const;
const ATTEMPT = { 'attempts.accepted': 1, 'attempt.6': 1 };
const DELIVERED = { 'delivered.started': 1, 'report.15': 1 };

test('an answer that accepts a report delivers it, with the time since its fact', () => {
  expect(counted({})).toEqual({ ...ATTEMPT, ...DELIVERED });
});

test('a late answer that settles an unknown outcome delivers it too', () => {
  expect(counted({ stored: 'late_accepted' })).toEqual({ ...ATTEMPT, ...DELIVERED });
});

test('an answer that comes after somebody else has settled the report is an attempt, not a second delivery', () => {
  expect(counted({ stored: 'late' })).toEqual(ATTEMPT);
});

test('a report that is to be sent again is not delivered', () => {
  const verdict = { next: 'retry', delayMs: 1000, because: 'unanswered' } as const;
  expect(counted({ verdict })).toEqual({ 'attempts.failed': 1, 'attempt.6': 1 });
});

test('a claim that was too old to be used was no attempt', () => {
  const verdict = { next: 'retry', delayMs: 1000, because: 'unanswered' } as const;
  expect(counted({ verdict }, { kind: 'dropped', notBeforeMs: null })).toEqual({});
});
