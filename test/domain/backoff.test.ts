import * as fc from 'fast-check';
import {
  ASKED_WAIT_MAX_MS,
  askedWaitMs,
  backoffMs,
  backoffWithoutJitterMs,
  notBeforeMs,
} from '../../src/domain/backoff';
import { nowMs } from './tows';

const settings = { retryBaseMs: 1000, retryCapMs: 300_000 };

describe('the waiting time between attempts', () => {
  test('without jitter doubles from the base to the cap and stays there', () => {
    const curve = Array.from({ length: 12 }, (_, failures) => backoffWithoutJitterMs(failures, settings));

    expect(curve).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000, 300_000,
    ]);
  });

  test('is the cap after any number of failures, however large', () => {
    for (const failures of [31, 100, 10_000, Number.MAX_SAFE_INTEGER]) {
      expect(backoffWithoutJitterMs(failures, settings)).toBe(300_000);
    }
  });

  test('is only ever lengthened by jitter, by a quarter at most', () => {
    const curves = fc.record({ failures: fc.nat({ max: 50 }), jitter: fc.double({ min: 0, max: 1, noNaN: true }) });
    fc.assert(
      fc.property(curves, ({ failures, jitter }) => {
        const plain = backoffWithoutJitterMs(failures, settings);
        const jittered = backoffMs({ failures, notBeforeMs: null, nowMs, jitter }, settings);
        expect(jittered).toBeGreaterThanOrEqual(plain);
        expect(jittered).toBeLessThanOrEqual(Math.ceil(plain * 1.25));
      }),
    );
  });

  test('with no jitter is the curve itself, and with full jitter a quarter more', () => {
    const wait = (jitter: number) => backoffMs({ failures: 2, notBeforeMs: null, nowMs, jitter }, settings);

    expect(wait(0)).toBe(4000);
    expect(wait(1)).toBe(5000);
  });

  test('never ends before the moment the service asked for, within the next hour', () => {
    const asks = fc.record({
      failures: fc.nat({ max: 50 }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
      notBeforeMs: fc.integer({ min: nowMs - 1_000_000, max: nowMs + ASKED_WAIT_MAX_MS }),
    });
    fc.assert(
      fc.property(asks, (ask) => {
        const wait = backoffMs({ ...ask, nowMs }, settings);
        expect(nowMs + wait).toBeGreaterThanOrEqual(ask.notBeforeMs);
        expect(wait).toBeGreaterThanOrEqual(backoffWithoutJitterMs(ask.failures, settings));
      }),
    );
  });

  test.each([
    ['a little more than an hour', ASKED_WAIT_MAX_MS + 1],
    ['a day', 86_400_000],
    ['30 days', 30 * 86_400_000],
  ])('is an hour when the service asks for %s, with any jitter', (_name, aheadMs) => {
    for (const jitter of [0, 0.5, 1]) {
      const ask = { failures: 3, notBeforeMs: nowMs + aheadMs, nowMs, jitter };
      expect(backoffMs(ask, settings)).toBe(3_600_000);
    }
    expect(askedWaitMs(nowMs + aheadMs, nowMs)).toBe(3_600_000);
  });

  test('is longer than an hour only when the settings ask for that', () => {
    const ask = { failures: 50, notBeforeMs: nowMs + 86_400_000, nowMs, jitter: 1 };
    expect(backoffMs(ask, { retryBaseMs: 1000, retryCapMs: 7_200_000 })).toBe(9_000_000);
  });

  test('is not shortened by a moment that has passed', () => {
    expect(askedWaitMs(nowMs - 5000, nowMs)).toBe(0);
    expect(askedWaitMs(null, nowMs)).toBe(0);
    expect(askedWaitMs(nowMs + 5000, nowMs)).toBe(5000);
  });
});

describe('the moment the service asks for', () => {
  const asked = (retryAfter?: string, rateLimitReset?: string) => notBeforeMs({ retryAfter, rateLimitReset }, nowMs);

  test.each([
    ['0', nowMs],
    ['30', nowMs + 30_000],
    [' 120 ', nowMs + 120_000],
    ['1.5', nowMs + 1500],
    ['0.0001', nowMs + 1],
  ])('is read from Retry-After in seconds: %s', (header, moment) => {
    expect(asked(header)).toBe(moment);
  });

  test('is read from Retry-After as an HTTP date', () => {
    expect(asked('Tue, 10 Mar 2026 12:00:30 GMT')).toBe(nowMs + 30_000);
    expect(asked('Tue, 10 Mar 2026 11:00:00 GMT')).toBe(nowMs - 3_600_000);
  });

  test('is read from X-RateLimit-Reset in UNIX seconds when there is no Retry-After', () => {
    expect(asked(undefined, String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
    expect(asked('', String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
  });

  test('is read from X-RateLimit-Reset in seconds from now, and as an HTTP date', () => {
    expect(asked(undefined, '45')).toBe(nowMs + 45_000);
    expect(asked(undefined, 'Tue, 10 Mar 2026 12:00:30 GMT')).toBe(nowMs + 30_000);
  });

  test('is the later one when both are there', () => {
    expect(asked('10', String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
    expect(asked('60', String(nowMs / 1000 + 45))).toBe(nowMs + 60_000);
    expect(asked('1', '4')).toBe(nowMs + 4000);
  });

  test('is cut to 30 days, and a reset more than a day ahead is not believed', () => {
    expect(asked('99999999999')).toBe(nowMs + 30 * 86_400_000);
    expect(asked(undefined, String(nowMs + 4000))).toBeNull();
  });

  test('is not known when neither is there', () => {
    expect(asked()).toBeNull();
  });

  test.each(['soon', 'in 5 minutes', '-5', '+5', '1e3', '10;x', 'Infinity', 'NaN', 'abc 3000', '60000-', '3000-1'])(
    'is not made up from garbage, and X-RateLimit-Reset is read instead: %s',
    (garbage) => {
      expect(asked(garbage)).toBeNull();
      expect(asked(garbage, String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
    },
  );

  test.each(['soon', '-1', '1e9', 'Tue, 10 March 2026'])(
    'is not made up from an X-RateLimit-Reset that is neither seconds nor a date: %s',
    (garbage) => {
      expect(asked(undefined, garbage)).toBeNull();
    },
  );

  test('is unknown or a moment that a calendar has, whatever the headers say', () => {
    const headers = fc.option(
      fc.oneof(
        fc.string(),
        fc.integer({ min: 1, max: 400 }).map((digits) => '9'.repeat(digits)),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(headers, headers, (retryAfter, rateLimitReset) => {
        const moment = asked(retryAfter, rateLimitReset);
        expect(moment === null || !Number.isNaN(new Date(moment).getTime())).toBe(true);
      }),
    );
  });
});
