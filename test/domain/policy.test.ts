import { judge, surelyHadNoEffect, type AttemptHistory, type Exchange } from '../../src/domain/service/policy';
import { inMs, once, partlySent, refused, repeatable, SETTINGS, surelyNotSent, unanswered } from './attempts';
import { nowMs } from './tows';

/** The verdict without jitter. */
const verdictOn = (exchange: Exchange, history: AttemptHistory) => judge(exchange, history, SETTINGS, nowMs, 0);

/** The rows of the failure policy, in its order. */
describe('row "2xx"', () => {
  test.each([200, 201, 204])('a %i from the service is accepted', (httpStatus) => {
    for (const history of [repeatable, once]) {
      expect(verdictOn({ kind: 'accepted', httpStatus }, history)).toEqual({ next: 'accepted' });
    }
  });
});

describe('row "2xx with no body, or a JSON object that breaks the contract"', () => {
  test('a 2xx that breaks the contract is accepted', () => {
    const exchange = { kind: 'contract_broken', httpStatus: 200, issues: ['data: is required'] } as const;
    for (const history of [repeatable, once]) {
      expect(verdictOn(exchange, history)).toEqual({ next: 'accepted' });
    }
  });
});

describe('row "2xx that is not the service"', () => {
  const page = { kind: 'not_the_service', httpStatus: 200, cause: 'not_json' } as const;

  test('treats a 2xx of another server as a connection fault of a repeatable call, with backoff', () => {
    const verdicts = [0, 1, 2, 20].map((connectionFailures) => verdictOn(page, { ...repeatable, connectionFailures }));

    expect(verdicts).toEqual(
      [1000, 2000, 4000, 300_000].map((delayMs) => ({ next: 'hold', delayMs, because: 'connection' })),
    );
  });

  test('leaves a create that another server answered unknown, and opens the connection circuit', () => {
    for (const history of [once, { ...once, failures: 9, unanswered: 1 }, { ...once, connectionLosses: 9 }]) {
      expect(verdictOn(page, history)).toEqual({ next: 'unknown', delayMs: 15_000, connectionDelayMs: 1000 });
    }
  });

  test('counts a 2xx of another server as a possible effect', () => {
    expect(surelyHadNoEffect(page)).toBe(false);
  });
});

describe('row "400, other 4xx"', () => {
  test.each([400, 402, 405, 406, 409, 410, 413, 415, 422, 451])(
    'a call that the service answers with %i is refused at once',
    (httpStatus) => {
      for (const history of [repeatable, once]) {
        expect(verdictOn(refused(httpStatus), history)).toEqual({ next: 'refused', hint: null });
      }
    },
  );

  test('a 400 is refused also when its body is not JSON', () => {
    expect(verdictOn(refused(400, { isJson: false }), repeatable)).toEqual({ next: 'refused', hint: null });
  });

  test('a 404 with an undocumented message is refused at once', () => {
    expect(verdictOn(refused(404, { message: 'Tow not found' }), repeatable)).toEqual({ next: 'refused', hint: null });
    expect(verdictOn(refused(404), repeatable)).toEqual({ next: 'refused', hint: null });
  });
});

describe('row "404 Violation not found / Plate number not found"', () => {
  test.each(['Violation not found', 'Plate number not found', 'violation not found', ' PLATE NUMBER NOT FOUND '])(
    'a 404 "%s" is retried 3 times, spaced, then refused',
    (message) => {
      const verdicts = [0, 1, 2, 3].map((notFound) =>
        verdictOn(refused(404, { message }), { ...repeatable, notFound, failures: notFound }),
      );

      const retry = { next: 'retry', delayMs: 5000, because: 'not_found' };
      expect(verdicts).toEqual([retry, retry, retry, { next: 'refused', hint: null }]);
    },
  );

  test('a documented 404 is refused at once with NOT_FOUND_RETRIES=0', () => {
    const settings = { ...SETTINGS, notFoundRetries: 0 };

    expect(judge(refused(404, { message: 'Violation not found' }), repeatable, settings, nowMs, 0).next).toBe(
      'refused',
    );
  });

  test('a documented 404 is retried later when the service requests it', () => {
    const exchange = refused(404, { message: 'Violation not found', notBeforeMs: inMs(60_000) });

    expect(verdictOn(exchange, repeatable)).toMatchObject({ next: 'retry', delayMs: 60_000 });
  });

  test('a 400 that has the message of a documented 404 is refused', () => {
    expect(verdictOn(refused(400, { message: 'Violation not found' }), repeatable).next).toBe('refused');
  });
});

describe('row "4xx to a resend after an unanswered attempt"', () => {
  test.each([400, 403, 409, 422])(
    'a %i after an unanswered attempt is refused with the hint perhaps_already_accepted',
    (httpStatus) => {
      for (const history of [repeatable, once]) {
        expect(verdictOn(refused(httpStatus), { ...history, unanswered: 1, failures: 1 })).toEqual({
          next: 'refused',
          hint: 'perhaps_already_accepted',
        });
      }
    },
  );

  test('a 404 after an unanswered create is refused with the hint at once', () => {
    const exchange = refused(404, { message: 'Violation not found' });

    expect(verdictOn(exchange, { ...once, unanswered: 1 })).toEqual({
      next: 'refused',
      hint: 'perhaps_already_accepted',
    });
    expect(verdictOn(exchange, { ...repeatable, unanswered: 1 }).next).toBe('retry');
  });

  test('a 404 after an unanswered attempt gets the hint once its retries are used up', () => {
    const history = { ...repeatable, unanswered: 1, notFound: 3 };

    expect(verdictOn(refused(404, { message: 'Violation not found' }), history)).toEqual({
      next: 'refused',
      hint: 'perhaps_already_accepted',
    });
  });
});

describe('row "401 / get-token failing / 3xx / 404 without JSON": a condition of the connection', () => {
  test('a report is postponed without a counted failure when there is no token', () => {
    const exchange = { kind: 'connection', cause: 'the token was refused', notBeforeMs: null } as const;

    for (const history of [repeatable, once]) {
      expect(verdictOn(exchange, history)).toEqual({ next: 'hold', delayMs: 1000, because: 'connection' });
    }
  });

  test('a broken connection is probed with backoff, independent of the probing report', () => {
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

  test('failures of a report and of the connection are counted separately', () => {
    const exchange = { kind: 'connection', cause: 'no token', notBeforeMs: null } as const;

    expect(verdictOn(exchange, { ...repeatable, failures: 20 })).toMatchObject({ next: 'hold', delayMs: 1000 });
    expect(verdictOn(refused(500), { ...repeatable, connectionFailures: 20 })).toMatchObject({ delayMs: 1000 });
  });

  test('a broken connection is probed no earlier than the service requested', () => {
    const exchange = { kind: 'connection', cause: 'get-token: 429', notBeforeMs: inMs(90_000) } as const;

    expect(verdictOn(exchange, repeatable)).toEqual({ next: 'hold', delayMs: 90_000, because: 'connection' });
  });

  test.each([301, 302, 307, 308])('a report is postponed after a %i, which is a misconfiguration', (httpStatus) => {
    for (const history of [repeatable, once]) {
      expect(verdictOn(refused(httpStatus, { isJson: false }), history)).toMatchObject({
        next: 'hold',
        because: 'connection',
      });
    }
  });

  test('a report is postponed after a 404 without JSON, which is a misconfiguration', () => {
    expect(verdictOn(refused(404, { isJson: false }), repeatable)).toMatchObject({
      next: 'hold',
      because: 'connection',
    });
  });
});

describe('row "403"', () => {
  test('a report that the service answers with 403 is refused', () => {
    for (const history of [repeatable, once]) {
      expect(verdictOn(refused(403, { message: 'Access denied' }), history)).toEqual({ next: 'refused', hint: null });
    }
  });
});

describe('row "claim older than 5 s": nothing was sent', () => {
  test('an expired claim is scheduled again at once without a counted failure', () => {
    for (const history of [repeatable, once]) {
      expect(verdictOn({ kind: 'dropped', cause: 'permission_expired', notBeforeMs: null }, history)).toEqual({
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
    ['a body that broke off', partlySent, 'partly_sent'],
    ['429', refused(429), 'throttled'],
    ['408', refused(408), 'unanswered'],
    ['500', refused(500), 'failed'],
    ['502', refused(502), 'unanswered'],
    ['503', refused(503), 'failed'],
    ['504', refused(504), 'unanswered'],
    ['reset or timeout', unanswered, 'unanswered'],
  ] as const)('a repeatable call is retried after %s with backoff', (_what, exchange, because) => {
    const delays = [0, 1, 2, 20].map((failures) => verdictOn(exchange, { ...repeatable, failures }));

    expect(delays).toEqual([1000, 2000, 4000, 300_000].map((delayMs) => ({ next: 'retry', delayMs, because })));
  });

  test.each([429, 408, 500, 502, 503, 504])(
    'a repeatable call is retried after a %i no earlier than the service requested',
    (httpStatus) => {
      const verdict = verdictOn(refused(httpStatus, { notBeforeMs: inMs(77_000) }), repeatable);

      expect(verdict).toMatchObject({ next: 'retry', delayMs: 77_000 });
    },
  );

  test('a 5xx without JSON is retried like any other', () => {
    expect(verdictOn(refused(502, { isJson: false }), repeatable).next).toBe('retry');
  });
});

test('the documented 404 messages are recognized also in plain text', () => {
  const plain = refused(404, { isJson: false, message: 'Plate number not found' });
  expect(judge(plain, repeatable, SETTINGS, nowMs, 0)).toMatchObject({ next: 'retry', because: 'not_found' });
  const page = refused(404, { isJson: false, message: null });
  expect(judge(page, repeatable, SETTINGS, nowMs, 0)).toMatchObject({ next: 'hold', because: 'connection' });
});

test('only unsent, incomplete and refused calls are treated as surely without effect', () => {
  const without = [
    surelyNotSent,
    partlySent,
    { kind: 'dropped', cause: 'permission_expired', notBeforeMs: null },
    { kind: 'connection', cause: 'c', notBeforeMs: null },
  ] as const;
  const refusals = [400, 401, 403, 404, 409, 429].map((status) => refused(status));
  expect([...without, ...refusals].map(surelyHadNoEffect)).not.toContain(false);
  const perhaps = [unanswered, ...[408, 500, 502, 503, 504].map((status) => refused(status))];
  expect(perhaps.map(surelyHadNoEffect)).not.toContain(true);
});
