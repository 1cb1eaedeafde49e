import type { Exchange } from '../../src/domain/service/policy';
import {
  askedMs,
  isForbidden,
  OUTAGE_PROBE_CAP_MS,
  outageDelayMs,
  serviceHealth,
  type ServiceHealth,
} from '../../src/domain/service/service-health';

const SETTINGS = { retryBaseMs: 1000, retryCapMs: 300_000 };
const nowMs = Date.parse('2026-11-20T10:00:00Z');

function answered(httpStatus: number, also: Partial<Extract<Exchange, { kind: 'refused' }>> = {}): Exchange {
  return { kind: 'refused', httpStatus, message: null, isJson: true, notBeforeMs: null, ...also };
}

const TABLE: readonly (readonly [what: string, exchange: Exchange, expected: ServiceHealth])[] = [
  ['2xx', { kind: 'accepted', httpStatus: 200 }, 'alive'],
  ['2xx that breaks the contract', { kind: 'contract_broken', httpStatus: 200, issues: [] }, 'alive'],
  ...(['not_json', 'not_an_object', 'broken_off', 'too_long'] as const).map(
    (cause) => [`2xx, ${cause}`, { kind: 'not_the_service', httpStatus: 200, cause }, 'silent'] as const,
  ),
  ...[400, 401, 403, 404, 409, 422].map((status) => [`${status}`, answered(status), 'alive'] as const),
  ['429: the calls are too many', answered(429), 'silent'],
  ...[408, 500, 502, 503, 504].map((status) => [`${status}`, answered(status), 'failing'] as const),
  ['connection refused', { kind: 'surely_not_sent', cause: 'refused' }, 'failing'],
  ['no answer', { kind: 'unanswered', cause: 'timeout' }, 'failing'],
  ['a body that broke off', { kind: 'partly_sent', cause: 'connection_reset' }, 'failing'],
  ['an upload that we stopped', { kind: 'partly_sent', cause: 'stopped' }, 'silent'],
  ['an image that we cannot read', { kind: 'surely_not_sent', cause: 'image_unreadable' }, 'silent'],
  ['an image that broke while it was sent', { kind: 'unanswered', cause: 'body_length_wrong' }, 'silent'],
  ['an image that failed while it was sent', { kind: 'unanswered', cause: 'body_unreadable' }, 'silent'],
  ['a connection that failed with a word like ours', { kind: 'unanswered', cause: 'body_timeout' }, 'failing'],
  ['no token', { kind: 'connection', cause: 'token_http_403', notBeforeMs: null }, 'silent'],
  ['nothing sent', { kind: 'dropped', cause: 'permission_expired', notBeforeMs: null }, 'silent'],
  ['a redirect: the address is wrong', answered(302), 'silent'],
  ['a 404 page: the address is wrong', answered(404, { isJson: false }), 'silent'],
];

test.each(TABLE)('the service is classified by %s', (_what, exchange, expected) => {
  expect(serviceHealth(exchange)).toBe(expected);
});

test('an outage is probed with backoff, capped at half a minute', () => {
  const failed = answered(500);
  const delays = [0, 1, 2, 3, 4, 5, 20].map((failedProbes) =>
    outageDelayMs(failed, { failedProbes, nowMs, jitter: 0 }, SETTINGS),
  );
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, OUTAGE_PROBE_CAP_MS, OUTAGE_PROBE_CAP_MS]);
});

test('an outage is never probed before the time the service requested', () => {
  const asked = answered(503, { notBeforeMs: nowMs + 120_000 });
  expect(outageDelayMs(asked, { failedProbes: 0, nowMs, jitter: 0 }, SETTINGS)).toBe(120_000);
  expect(outageDelayMs(asked, { failedProbes: 0, nowMs, jitter: 1 }, SETTINGS)).toBeGreaterThan(120_000);
});

test('a shorter configured cap applies to the probes of an outage', () => {
  const facts = { failedProbes: 20, nowMs, jitter: 0 };
  expect(outageDelayMs(answered(500), facts, { retryBaseMs: 10, retryCapMs: 200 })).toBe(200);
});

test('the wait that the service requested is separate from our own', () => {
  expect(askedMs(answered(429, { notBeforeMs: nowMs + 7000 }), nowMs)).toBe(7000);
  expect(askedMs(answered(429, { notBeforeMs: nowMs - 7000 }), nowMs)).toBe(0);
  expect(askedMs(answered(500), nowMs)).toBe(0);
  expect(askedMs({ kind: 'unanswered', cause: 'timeout' }, nowMs)).toBe(0);
});

test('only a 403 counts as forbidding an operation', () => {
  expect(isForbidden(answered(403))).toBe(true);
  expect([400, 401, 404, 500].map((status) => isForbidden(answered(status)))).not.toContain(true);
  expect(isForbidden({ kind: 'connection', cause: 'token_http_403', notBeforeMs: null })).toBe(false);
});
