import { judge, surelyHadNoEffect, type AttemptHistory, type Exchange } from '../../src/domain/policy';
import { inMs, once, refused, repeatable, SETTINGS, surelyNotSent, unanswered } from './attempts';
import { nowMs } from './tows';

/** The verdict without jitter. */
const verdictOn = (exchange: Exchange, history: AttemptHistory) => judge(exchange, history, SETTINGS, nowMs, 0);

/** Rows of the design's failure policy, in its order. */
describe('row "2xx"', () => {
  test.each([200, 201, 204])('%i is accepted', (httpStatus) => {
    for (const history of [repeatable, once]) {
      expect(verdictOn({ kind: 'accepted', httpStatus }, history)).toEqual({ next: 'accepted', flag: null });
    }
  });
});

describe('row "2xx with no body, or a JSON object that breaks the contract"', () => {
  test('is accepted and flagged, never sent again', () => {
    const exchange = { kind: 'contract_broken', httpStatus: 200, issues: ['data: is required'] } as const;
    for (const history of [repeatable, once]) {
      expect(verdictOn(exchange, history)).toEqual({ next: 'accepted', flag: 'contract_broken' });
    }
  });
});

describe('row "2xx that is not the service"', () => {
  const page = { kind: 'not_the_service', httpStatus: 200, cause: 'not_json' } as const;

  test('is a condition of the connection on a call that is safe to repeat, tried ever more rarely', () => {
    const verdicts = [0, 1, 2, 20].map((connectionFailures) => verdictOn(page, { ...repeatable, connectionFailures }));

    expect(verdicts).toEqual(
      [1000, 2000, 4000, 300_000].map((delayMs) => ({ next: 'hold', delayMs, because: 'connection' })),
    );
  });

  test('leaves a create unknown, and breaks the connection of all other calls', () => {
    for (const history of [once, { ...once, failures: 9, unanswered: 1 }, { ...once, connectionLosses: 9 }]) {
      expect(verdictOn(page, history)).toEqual({ next: 'unknown', delayMs: 15_000, connectionDelayMs: 1000 });
    }
  });

  test('may have had an effect', () => {
    expect(surelyHadNoEffect(page)).toBe(false);
  });
});

describe('row "400, other 4xx"', () => {
  test.each([400, 402, 405, 406, 409, 410, 413, 415, 422, 451])('%i is refused at once', (httpStatus) => {
    for (const history of [repeatable, once]) {
      expect(verdictOn(refused(httpStatus), history)).toEqual({ next: 'refused', hint: null });
    }
  });

  test('400 is refused also when its body is not JSON', () => {
    expect(verdictOn(refused(400, { isJson: false }), repeatable)).toEqual({ next: 'refused', hint: null });
  });

  test('a 404 with other words is refused at once', () => {
    expect(verdictOn(refused(404, { message: 'Tow not found' }), repeatable)).toEqual({ next: 'refused', hint: null });
    expect(verdictOn(refused(404), repeatable)).toEqual({ next: 'refused', hint: null });
  });
});

describe('row "404 Violation not found / Plate number not found"', () => {
  test.each(['Violation not found', 'Plate number not found', 'violation not found', ' PLATE NUMBER NOT FOUND '])(
    '"%s" is retried 3 times, spaced, then refused',
    (message) => {
      const verdicts = [0, 1, 2, 3].map((notFound) =>
        verdictOn(refused(404, { message }), { ...repeatable, notFound, failures: notFound }),
      );

      const retry = { next: 'retry', delayMs: 5000, because: 'not_found' };
      expect(verdicts).toEqual([retry, retry, retry, { next: 'refused', hint: null }]);
    },
  );

  test('with NOT_FOUND_RETRIES=0 is refused at once', () => {
    const settings = { ...SETTINGS, notFoundRetries: 0 };

    expect(judge(refused(404, { message: 'Violation not found' }), repeatable, settings, nowMs, 0).next).toBe(
      'refused',
    );
  });

  test('waits longer when the service asks for it', () => {
    const exchange = refused(404, { message: 'Violation not found', notBeforeMs: inMs(60_000) });

    expect(verdictOn(exchange, repeatable)).toMatchObject({ next: 'retry', delayMs: 60_000 });
  });

  test('with status 400 is no lag but a refusal', () => {
    expect(verdictOn(refused(400, { message: 'Violation not found' }), repeatable).next).toBe('refused');
  });
});

describe('row "4xx to a resend after an unanswered attempt"', () => {
  test.each([400, 403, 409, 422])('%i is refused with the hint perhaps_already_accepted', (httpStatus) => {
    for (const history of [repeatable, once]) {
      expect(verdictOn(refused(httpStatus), { ...history, unanswered: 1, failures: 1 })).toEqual({
        next: 'refused',
        hint: 'perhaps_already_accepted',
      });
    }
  });

  test('a 404 carries the hint too, once its retries are used up', () => {
    const history = { ...repeatable, unanswered: 1, notFound: 3 };

    expect(verdictOn(refused(404, { message: 'Violation not found' }), history)).toEqual({
      next: 'refused',
      hint: 'perhaps_already_accepted',
    });
  });
});

describe('row "401 / get-token failing / 3xx / 404 without JSON": a condition of the connection', () => {
  test('a connection without a token holds the report and counts no failure', () => {
    const exchange = { kind: 'connection', cause: 'the token was refused', notBeforeMs: null } as const;

    for (const history of [repeatable, once]) {
      expect(verdictOn(exchange, history)).toEqual({ next: 'hold', delayMs: 1000, because: 'connection' });
    }
  });

  test('a broken connection is tried ever more rarely, however fresh the report that tries it', () => {
    const exchange = { kind: 'connection', cause: 'no token', notBeforeMs: null } as const;
    const tries = [exchange, refused(302, { isJson: false }), refused(404, { isJson: false })];

    for (const broken of tries) {
      const verdicts = [0, 1, 2, 20].map((connectionFailures) =>
        verdictOn(broken, { ...repeatable, connectionFailures }),
      );
      expect(verdicts).toEqual(
        [1000, 2000, 4000, 300_000].map((delayMs) => ({ next: 'hold', delayMs, because: 'connection' })),
      );
    }
  });

  test('failures of the report itself make a broken connection wait no longer, and none of its make the report', () => {
    const exchange = { kind: 'connection', cause: 'no token', notBeforeMs: null } as const;

    expect(verdictOn(exchange, { ...repeatable, failures: 20 })).toMatchObject({ next: 'hold', delayMs: 1000 });
    expect(verdictOn(refused(500), { ...repeatable, connectionFailures: 20 })).toMatchObject({ delayMs: 1000 });
  });

  test('a connection that is told when to come back comes back no earlier', () => {
    const exchange = { kind: 'connection', cause: 'get-token: 429', notBeforeMs: inMs(90_000) } as const;

    expect(verdictOn(exchange, repeatable)).toEqual({ next: 'hold', delayMs: 90_000, because: 'connection' });
  });

  test.each([301, 302, 307, 308])('%i is a misconfiguration and holds the report', (httpStatus) => {
    for (const history of [repeatable, once]) {
      expect(verdictOn(refused(httpStatus, { isJson: false }), history)).toMatchObject({
        next: 'hold',
        because: 'connection',
      });
    }
  });

  test('404 without JSON is a misconfiguration and holds the report', () => {
    expect(verdictOn(refused(404, { isJson: false }), repeatable)).toMatchObject({
      next: 'hold',
      because: 'connection',
    });
  });
});

describe('row "403"', () => {
  test('is refused', () => {
    for (const history of [repeatable, once]) {
      expect(verdictOn(refused(403, { message: 'Access denied' }), history)).toEqual({ next: 'refused', hint: null });
    }
  });
});

describe('row "claim older than 5 s": nothing was sent', () => {
  test('is due again at once, and counts no failure', () => {
    for (const history of [repeatable, once]) {
      expect(verdictOn({ kind: 'dropped', notBeforeMs: null }, history)).toEqual({
        next: 'hold',
        delayMs: 0,
        because: 'dropped',
      });
    }
  });
});

describe('row "surely not sent, 429, 408, 5xx, reset, timeout" on a call that is safe to repeat', () => {
  test.each([
    ['surely not sent', surelyNotSent, 'surely_not_sent'],
    ['429', refused(429), 'throttled'],
    ['408', refused(408), 'unanswered'],
    ['500', refused(500), 'failed'],
    ['502', refused(502), 'unanswered'],
    ['503', refused(503), 'failed'],
    ['504', refused(504), 'unanswered'],
    ['reset or timeout', unanswered, 'unanswered'],
  ] as const)('%s is retried under backoff', (_what, exchange, because) => {
    const delays = [0, 1, 2, 20].map((failures) => verdictOn(exchange, { ...repeatable, failures }));

    expect(delays).toEqual([1000, 2000, 4000, 300_000].map((delayMs) => ({ next: 'retry', delayMs, because })));
  });

  test.each([429, 408, 500, 502, 503, 504])('%i is never retried earlier than the service asked', (httpStatus) => {
    const verdict = verdictOn(refused(httpStatus, { notBeforeMs: inMs(77_000) }), repeatable);

    expect(verdict).toMatchObject({ next: 'retry', delayMs: 77_000 });
  });

  test('a 5xx without JSON is retried like any other', () => {
    expect(verdictOn(refused(502, { isJson: false }), repeatable).next).toBe('retry');
  });
});

test('the documented words of a 404 in plain text are the service speaking, not a wrong address', () => {
  const plain = refused(404, { isJson: false, message: 'Plate number not found' });
  expect(judge(plain, repeatable, SETTINGS, nowMs, 0)).toMatchObject({ next: 'retry', because: 'not_found' });
  const page = refused(404, { isJson: false, message: null });
  expect(judge(page, repeatable, SETTINGS, nowMs, 0)).toMatchObject({ next: 'hold', because: 'connection' });
});

test('surely without effect is what never left, and what the service refused outright; nothing else', () => {
  const without = [
    surelyNotSent,
    { kind: 'dropped', notBeforeMs: null },
    { kind: 'connection', cause: 'c', notBeforeMs: null },
  ] as const;
  const refusals = [400, 401, 403, 404, 409, 429].map((status) => refused(status));
  expect([...without, ...refusals].map(surelyHadNoEffect)).not.toContain(false);
  const perhaps = [unanswered, ...[408, 500, 502, 503, 504].map((status) => refused(status))];
  expect(perhaps.map(surelyHadNoEffect)).not.toContain(true);
});
