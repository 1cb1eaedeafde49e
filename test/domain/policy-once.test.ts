import { judge, surelyHadNoEffect, type AttemptHistory, type Exchange } from '../../src/domain/service/policy';
import { inMs, once, partlySent, refused, SETTINGS, surelyNotSent, unanswered } from './attempts';
import { nowMs } from './tows';

/** The verdict without jitter. */
const verdictOn = (exchange: Exchange, history: AttemptHistory) => judge(exchange, history, SETTINGS, nowMs, 0);

/** The rows of the failure policy for a create: invoice and violation. */
describe('row "call not safe to repeat: surely not sent, 429"', () => {
  test.each([
    ['surely not sent', surelyNotSent, 'surely_not_sent'],
    ['a body that broke off', partlySent, 'partly_sent'],
    ['429', refused(429), 'throttled'],
  ] as const)(
    'retries a create after %s with backoff, also after an unanswered attempt',
    (_what, exchange, because) => {
      for (const unansweredBefore of [0, 1]) {
        const history = { ...once, failures: 3, unanswered: unansweredBefore };
        expect(verdictOn(exchange, history)).toEqual({ next: 'retry', delayMs: 8000, because });
      }
    },
  );
});

describe('row "call not safe to repeat: 500, 503"', () => {
  test.each([500, 503])('waits for proof after a %i to a create, then retries it with backoff', (httpStatus) => {
    const delays = [0, 3, 4, 20].map((failures) => verdictOn(refused(httpStatus), { ...once, failures }));

    expect(delays).toEqual(
      [15_000, 15_000, 16_000, 300_000].map((delayMs) => ({ next: 'retry', delayMs, because: 'failed' })),
    );
  });

  test('retries a create after a 503 no earlier than the service requested', () => {
    const exchange = refused(503, { notBeforeMs: inMs(40_000) });

    expect(verdictOn(exchange, once)).toEqual({ next: 'retry', delayMs: 40_000, because: 'failed' });
  });

  test.each([500, 503])('leaves the outcome unknown after a %i to the repeated create', (httpStatus) => {
    expect(verdictOn(refused(httpStatus), { ...once, unanswered: 1, failures: 1 })).toEqual({
      next: 'unknown',
      delayMs: 15_000,
    });
  });
});

describe('row "call not safe to repeat: no status after bytes were sent, 408, 502, 504"', () => {
  test.each([
    ['no status', unanswered],
    ['408', refused(408)],
    ['502', refused(502)],
    ['504', refused(504)],
  ] as const)('leaves the outcome of a create unknown after %s and waits for proof', (_what, exchange) => {
    for (const history of [once, { ...once, failures: 9 }, { ...once, unanswered: 1 }]) {
      expect(verdictOn(exchange, history)).toEqual({ next: 'unknown', delayMs: 15_000 });
    }
  });

  test.each([408, 500, 502, 503, 504])(
    'retries a create whose end was not sent when it is answered with %i',
    (status) => {
      const exchange = refused(status, { isPartlySent: true, notBeforeMs: inMs(40_000) });

      for (const history of [once, { ...once, unanswered: 1 }]) {
        expect(verdictOn(exchange, history)).toEqual({ next: 'retry', delayMs: 40_000, because: 'partly_sent' });
      }
      expect(surelyHadNoEffect(exchange)).toBe(true);
    },
  );

  test('waits longer for proof of a create when the service requests it', () => {
    const exchange = refused(504, { notBeforeMs: inMs(40_000) });

    expect(verdictOn(exchange, once)).toEqual({ next: 'unknown', delayMs: 40_000 });
  });
});
