import { countAttempt, type StoredAttempt } from '../../jobs/attempt-result';
import { createMetrics } from '../../src/platform/log/metrics';
import { createCounters } from '../../src/platform/log/counters';

function counted(also: Partial<StoredAttempt>, exchange: StoredAttempt['call']['exchange'] = ACCEPTED) {
  const counters = createCounters();
  const call = { exchange, data: null, rawBody: null, wasSent: true, isPermitSpent: true, durationMs: 80 };
  const attempted = { call, verdict: { next: 'accepted' }, stored: 'done' } as const;
  countAttempt('started', { ...attempted, ...also }, 90_000, createMetrics(counters));
  return counters.take().added;
}

const ACCEPTED = { kind: 'accepted', httpStatus: 200 } as const;
const ATTEMPT = { 'attempts.accepted': 1, 'attempt.6': 1 };
const DELIVERED = { 'delivered.started': 1, 'report.15': 1 };

test('an accepted report is counted as delivered, with the time since its fact', () => {
  expect(counted({})).toEqual({ ...ATTEMPT, ...DELIVERED });
});

test('a report is counted as delivered when a late answer settles it', () => {
  expect(counted({ stored: 'late_accepted' })).toEqual({ ...ATTEMPT, ...DELIVERED });
});

test('an answer to a settled report is counted as an attempt only', () => {
  expect(counted({ stored: 'late' })).toEqual(ATTEMPT);
});

test('a report that will be retried is not counted as delivered', () => {
  const verdict = { next: 'retry', delayMs: 1000, because: 'unanswered' } as const;
  expect(counted({ verdict })).toEqual({ 'attempts.failed': 1, 'attempt.6': 1 });
});

test('an expired claim is not counted as an attempt', () => {
  const verdict = { next: 'retry', delayMs: 1000, because: 'unanswered' } as const;
  expect(counted({ verdict }, { kind: 'dropped', cause: 'permission_expired', notBeforeMs: null })).toEqual({});
});
