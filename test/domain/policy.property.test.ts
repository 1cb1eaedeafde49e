import { ASKED_WAIT_MAX_MS } from '../../src/domain/outbox/backoff';
import * as fc from 'fast-check';
import {
  DROPPED_CAUSES,
  judge,
  type AttemptHistory,
  type Exchange,
  type Verdict,
} from '../../src/domain/service/policy';
import { serviceHealth } from '../../src/domain/service/service-health';
import { SETTINGS } from './attempts';
import { deepFreeze, nowMs } from './tows';

const notBefore = fc.option(fc.integer({ min: nowMs - 600_000, max: nowMs + 6_000_000 }), { nil: null });
const words = fc.constantFrom(null, 'Violation not found', 'Plate number not found', 'Missing required field');

const exchanges: fc.Arbitrary<Exchange> = fc.oneof(
  fc.record({ kind: fc.constant('accepted' as const), httpStatus: fc.integer({ min: 200, max: 299 }) }),
  fc.record({
    kind: fc.constant('contract_broken' as const),
    httpStatus: fc.integer({ min: 200, max: 299 }),
    issues: fc.constant(['data: is required']),
  }),
  fc.record({
    kind: fc.constant('not_the_service' as const),
    httpStatus: fc.integer({ min: 200, max: 299 }),
    cause: fc.constantFrom('not_json', 'not_an_object', 'broken_off', 'too_long'),
  }),
  fc.record({
    kind: fc.constant('refused' as const),
    httpStatus: fc.oneof(
      fc.integer({ min: 300, max: 599 }),
      fc.constantFrom(400, 403, 404, 408, 409, 429, 500, 502, 503, 504),
    ),
    message: words,
    isJson: fc.boolean(),
    notBeforeMs: notBefore,
  }),
  fc.record({ kind: fc.constant('surely_not_sent' as const), cause: fc.constant('connection refused') }),
  fc.record({ kind: fc.constant('partly_sent' as const), cause: fc.constant('reset') }),
  fc.record({ kind: fc.constant('unanswered' as const), cause: fc.constant('reset') }),
  fc.record({ kind: fc.constant('connection' as const), cause: fc.constant('no token'), notBeforeMs: notBefore }),
  fc.record({
    kind: fc.constant('dropped' as const),
    cause: fc.constantFrom(...DROPPED_CAUSES),
    notBeforeMs: notBefore,
  }),
);

const histories: fc.Arbitrary<AttemptHistory> = fc.record({
  safeToRepeat: fc.boolean(),
  failures: fc.nat({ max: 40 }),
  notFound: fc.nat({ max: 5 }),
  unanswered: fc.nat({ max: 3 }),
  connectionFailures: fc.nat({ max: 40 }),
  connectionLosses: fc.nat({ max: 1 }),
});

const jitters = fc.double({ min: 0, max: 1, noNaN: true });
const runs = { numRuns: 2000 };

/** True when the exchange proves that the service did nothing. */
function surelyWithoutEffect(exchange: Exchange): boolean {
  switch (exchange.kind) {
    case 'surely_not_sent':
    case 'partly_sent':
    case 'connection':
    case 'dropped':
      return true;
    case 'refused':
      return exchange.httpStatus < 500 && exchange.httpStatus !== 408;
    case 'accepted':
    case 'contract_broken':
    case 'not_the_service':
    case 'unanswered':
      return false;
  }
}

const withoutDelays = (verdict: Verdict) => ({ ...verdict, delayMs: 0, connectionDelayMs: 0 });

describe('judge, for any exchange', () => {
  test('no verdict schedules an attempt before the time the service requested within the next hour', () => {
    fc.assert(
      fc.property(exchanges, histories, jitters, (exchange, history, jitter) => {
        const verdict = judge(exchange, history, SETTINGS, nowMs, jitter);
        if (!('delayMs' in verdict && 'notBeforeMs' in exchange)) return;
        const askedAtMs = Math.min(exchange.notBeforeMs ?? nowMs, nowMs + ASKED_WAIT_MAX_MS);
        expect(nowMs + verdict.delayMs).toBeGreaterThanOrEqual(askedAtMs);
      }),
      runs,
    );
  });

  test('the verdict accepts every 2xx of the service and nothing else', () => {
    fc.assert(
      fc.property(exchanges, histories, jitters, (exchange, history, jitter) => {
        const isAccepted = judge(exchange, history, SETTINGS, nowMs, jitter).next === 'accepted';
        expect(isAccepted).toBe(exchange.kind === 'accepted' || exchange.kind === 'contract_broken');
      }),
      runs,
    );
  });

  test('no verdict repeats a create at once after an unanswered attempt, unless this attempt provably did nothing', () => {
    let retried = 0;
    const after = histories.map((history) => ({ ...history, safeToRepeat: false, unanswered: history.unanswered + 1 }));
    fc.assert(
      fc.property(exchanges, after, jitters, (exchange, history, jitter) => {
        if (judge(exchange, history, SETTINGS, nowMs, jitter).next !== 'retry') return;
        retried += 1;
        expect(surelyWithoutEffect(exchange)).toBe(true);
      }),
      runs,
    );
    expect(retried).toBeGreaterThan(0);
  });

  test('no verdict repeats a create that may have worked before the time for proof is over', () => {
    const onceOnly = histories.map((history) => ({ ...history, safeToRepeat: false }));
    fc.assert(
      fc.property(exchanges, onceOnly, jitters, (exchange, history, jitter) => {
        const verdict = judge(exchange, history, SETTINGS, nowMs, jitter);
        if (surelyWithoutEffect(exchange) || verdict.next === 'accepted') return;
        expect('delayMs' in verdict ? verdict.delayMs : 0).toBeGreaterThanOrEqual(SETTINGS.unknownGraceMs);
      }),
      runs,
    );
  });

  test('the verdict treats a 2xx of another server as no sign of life and never refuses a create for it', () => {
    fc.assert(
      fc.property(exchanges, histories, jitters, (exchange, history, jitter) => {
        if (exchange.kind !== 'not_the_service') return;
        expect(serviceHealth(exchange)).toBe('silent');
        if (history.safeToRepeat) return;
        const verdict = judge(exchange, history, SETTINGS, nowMs, jitter);
        expect(verdict.next).toBe('unknown');
        expect('connectionDelayMs' in verdict && verdict.connectionDelayMs).toBeGreaterThan(0);
      }),
      runs,
    );
  });

  test('no verdict leaves a repeatable call unknown', () => {
    const repeatable = histories.map((history) => ({ ...history, safeToRepeat: true }));
    fc.assert(
      fc.property(exchanges, repeatable, jitters, (exchange, history, jitter) => {
        expect(judge(exchange, history, SETTINGS, nowMs, jitter).next).not.toBe('unknown');
      }),
      runs,
    );
  });

  test('jitter changes no verdict and shortens no delay', () => {
    fc.assert(
      fc.property(exchanges, histories, jitters, (exchange, history, jitter) => {
        const plain = judge(exchange, history, SETTINGS, nowMs, 0);
        const jittered = judge(exchange, history, SETTINGS, nowMs, jitter);
        expect(withoutDelays(jittered)).toEqual(withoutDelays(plain));
        const [least, delay] = [plain, jittered].map((verdict) => ('delayMs' in verdict ? verdict.delayMs : 0));
        expect(delay).toBeGreaterThanOrEqual(least ?? 0);
      }),
      runs,
    );
  });

  test('the verdict is deterministic, and its input stays unchanged', () => {
    fc.assert(
      fc.property(exchanges, histories, jitters, (exchange, history, jitter) => {
        const ask = () => judge(deepFreeze(exchange), deepFreeze(history), deepFreeze({ ...SETTINGS }), nowMs, jitter);
        expect(ask()).toEqual(ask());
      }),
      runs,
    );
  });
});
