import { CONNECTION_LOSSES_MAX, judge, TOKEN_REFUSED, type Exchange } from '../../src/domain/service/policy';
import { refused, repeatable, SETTINGS, surelyNotSent, unanswered } from './attempts';
import { nowMs } from './tows';

const LOSSES: readonly (readonly [string, Exchange])[] = [
  ['a redirect', refused(302)],
  ['a 404 that is no JSON', refused(404, { isJson: false })],
  ['a 2xx that is not the service', { kind: 'not_the_service', httpStatus: 200, cause: 'not_json' }],
  ['a fresh token that is refused too', { kind: 'connection', cause: TOKEN_REFUSED, notBeforeMs: null }],
];

const verdictAfter = (exchange: Exchange, connectionLosses: number, connectionFailures = 0) =>
  judge(exchange, { ...repeatable, connectionLosses, connectionFailures }, SETTINGS, nowMs, 0).next;

describe.each(LOSSES)('%s', (_what, exchange) => {
  test('a connection loss of a report counts as a connection failure the first times', () => {
    for (let losses = 0; losses < CONNECTION_LOSSES_MAX - 1; losses += 1) {
      expect(verdictAfter(exchange, losses)).toBe('hold');
    }
  });

  test('a report that alone repeatedly loses the connection is refused while others pass', () => {
    expect(verdictAfter(exchange, CONNECTION_LOSSES_MAX - 1)).toBe('refused');
  });

  test('a report that is refused for its losses after an unanswered attempt is perhaps accepted already', () => {
    const before = { ...repeatable, connectionLosses: CONNECTION_LOSSES_MAX - 1 };
    const verdictOf = (unansweredBefore: number) =>
      judge(exchange, { ...before, unanswered: unansweredBefore }, SETTINGS, nowMs, 0);
    expect(verdictOf(0)).toEqual({ next: 'refused', hint: null });
    expect(verdictOf(1)).toEqual({ next: 'refused', hint: 'perhaps_already_accepted' });
  });

  test('a connection loss does not count against a report while the connection is known to be broken', () => {
    expect(verdictAfter(exchange, 10, 1)).toBe('hold');
  });
});

test('a failed token request never counts against a report', () => {
  const noToken = { kind: 'connection', cause: 'token_http_500', notBeforeMs: null } as const;
  expect(verdictAfter(noToken, 10)).toBe('hold');
});

test.each([
  ['retry', refused(503)],
  ['retry', refused(429)],
  ['retry', surelyNotSent],
  ['retry', unanswered],
  ['accepted', { kind: 'accepted', httpStatus: 200 }],
] as const)(
  'any other end of an attempt is no connection loss: the verdict stays %s after many times %j',
  (next, exchange) => {
    expect(verdictAfter(exchange, 10)).toBe(next);
  },
);
