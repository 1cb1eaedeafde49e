import * as fc from 'fast-check';
import {
  ASKED_WAIT_MAX_MS,
  askedWaitMs,
  backoffMs,
  backoffWithoutJitterMs,
  notBeforeMs,
} from '../../src/domain/outbox/backoff';
import { nowMs } from './tows';

const settings = { retryBaseMs: 1000, retryCapMs: 300_000 };

describe('backoffMs', () => {
  test('the backoff delay doubles from the base up to the cap without jitter', () => {
    const curve = Array.from({ length: 12 }, (_, failures) => backoffWithoutJitterMs(failures, settings));

    expect(curve).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000, 300_000,
    ]);
  });

  test('the backoff delay stays at the cap after any number of failures', () => {
    for (const failures of [31, 100, 10_000, Number.MAX_SAFE_INTEGER]) {
      expect(backoffWithoutJitterMs(failures, settings)).toBe(300_000);
    }
  });

  test('jitter never shortens a backoff delay and lengthens it by at most a quarter', () => {
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

  test('full jitter adds a quarter to the backoff delay, zero jitter nothing', () => {
    const wait = (jitter: number) => backoffMs({ failures: 2, notBeforeMs: null, nowMs, jitter }, settings);

    expect(wait(0)).toBe(4000);
    expect(wait(1)).toBe(5000);
  });

  test('a backoff never ends before the time the service requested within the next hour', () => {
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
  ])('a backoff lasts one hour when the service requests %s, with any jitter', (_name, aheadMs) => {
    for (const jitter of [0, 0.5, 1]) {
      const ask = { failures: 3, notBeforeMs: nowMs + aheadMs, nowMs, jitter };
      expect(backoffMs(ask, settings)).toBe(3_600_000);
    }
    expect(askedWaitMs(nowMs + aheadMs, nowMs)).toBe(3_600_000);
  });

  test('a backoff lasts longer than an hour only when configured to', () => {
    const ask = { failures: 50, notBeforeMs: nowMs + 86_400_000, nowMs, jitter: 1 };
    expect(backoffMs(ask, { retryBaseMs: 1000, retryCapMs: 7_200_000 })).toBe(9_000_000);
  });

  test('a backoff ignores a requested time that has passed', () => {
    expect(askedWaitMs(nowMs - 5000, nowMs)).toBe(0);
    expect(askedWaitMs(null, nowMs)).toBe(0);
    expect(askedWaitMs(nowMs + 5000, nowMs)).toBe(5000);
  });
});

describe('notBeforeMs', () => {
  const asked = (retryAfter?: string, rateLimitReset?: string) =>
    notBeforeMs({ retryAfter, rateLimitReset }, { nowMs });

  test.each([
    ['0', nowMs],
    ['30', nowMs + 30_000],
    [' 120 ', nowMs + 120_000],
    ['1.5', nowMs + 1500],
    ['0.0001', nowMs + 1],
  ])('notBeforeMs reads Retry-After in seconds: %s', (header, moment) => {
    expect(asked(header)).toBe(moment);
  });

  test('notBeforeMs reads Retry-After as an HTTP date', () => {
    expect(asked('Tue, 10 Mar 2026 12:00:30 GMT')).toBe(nowMs + 30_000);
    expect(asked('Tue, 10 Mar 2026 11:00:00 GMT')).toBe(nowMs - 3_600_000);
  });

  test('notBeforeMs reads X-RateLimit-Reset in UNIX seconds without a Retry-After', () => {
    expect(asked(undefined, String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
    expect(asked('', String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
  });

  test('notBeforeMs reads X-RateLimit-Reset in seconds from now and as an HTTP date', () => {
    expect(asked(undefined, '45')).toBe(nowMs + 45_000);
    expect(asked(undefined, 'Tue, 10 Mar 2026 12:00:30 GMT')).toBe(nowMs + 30_000);
  });

  test('notBeforeMs takes the later of Retry-After and X-RateLimit-Reset', () => {
    expect(asked('10', String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
    expect(asked('60', String(nowMs / 1000 + 45))).toBe(nowMs + 60_000);
    expect(asked('1', '4')).toBe(nowMs + 4000);
  });

  test('notBeforeMs limits Retry-After to 30 days and ignores a reset more than a day ahead', () => {
    expect(asked('99999999999')).toBe(nowMs + 30 * 86_400_000);
    expect(asked(undefined, '90000')).toBeNull();
  });

  test.each([
    ['UNIX seconds', String(nowMs / 1000 + 45)],
    ['UNIX milliseconds', String(nowMs + 45_000)],
    ['an ISO 8601 date', new Date(nowMs + 45_000).toISOString()],
  ])('notBeforeMs reads both headers as %s', (_form, header) => {
    expect([asked(header), asked(undefined, header)]).toEqual([nowMs + 45_000, nowMs + 45_000]);
  });

  describe.each([
    ['is an hour ahead', 3_600_000],
    ['is an hour behind', -3_600_000],
    ['is in another year', -20 * 365 * 86_400_000],
    ['is three seconds ahead', 3000],
  ])('of a service whose clock %s', (_name, aheadMs) => {
    const serviceMs = nowMs + aheadMs;
    const at = { nowMs, date: new Date(serviceMs).toUTCString() };

    test.each([
      ['UNIX seconds', String((serviceMs + 45_000) / 1000)],
      ['UNIX milliseconds', String(serviceMs + 45_000)],
      ['an HTTP date', new Date(serviceMs + 45_000).toUTCString()],
      ['an ISO 8601 date', new Date(serviceMs + 45_000).toISOString()],
      ['seconds', '45'],
    ])('notBeforeMs reads both headers as %s', (_form, header) => {
      for (const headers of [
        { retryAfter: header, rateLimitReset: undefined },
        { retryAfter: undefined, rateLimitReset: header },
      ]) {
        expect(notBeforeMs(headers, at)).toBe(nowMs + 45_000);
      }
    });
  });

  test.each(['', 'yesterday', 'Tue, 10 Mar 2026 99:00:00 GMT', '1773144000', new Date(nowMs - 1999).toISOString()])(
    'notBeforeMs takes times by the local clock when Date is not readable or agrees with it: "%s"',
    (date) => {
      const headers = { retryAfter: new Date(nowMs + 45_000).toISOString(), rateLimitReset: undefined };
      expect(notBeforeMs(headers, { nowMs, date })).toBe(nowMs + 45_000);
    },
  );

  test('notBeforeMs returns null without either header', () => {
    expect(asked()).toBeNull();
  });

  test.each(['soon', 'in 5 minutes', '-5', '+5', '1e3', '10;x', 'Infinity', 'NaN', 'abc 3000', '60000-', '3000-1'])(
    'notBeforeMs ignores an invalid Retry-After and reads X-RateLimit-Reset instead: %s',
    (garbage) => {
      expect(asked(garbage)).toBeNull();
      expect(asked(garbage, String(nowMs / 1000 + 45))).toBe(nowMs + 45_000);
    },
  );

  test.each(['soon', '-1', '1e9', 'Tue, 10 March 2026'])(
    'notBeforeMs ignores an X-RateLimit-Reset that is neither seconds nor a date: %s',
    (garbage) => {
      expect(asked(undefined, garbage)).toBeNull();
    },
  );

  test('notBeforeMs returns null or a valid time for any header values', () => {
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
