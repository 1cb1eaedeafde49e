import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { call, errorOf, fieldsOf, get, newKey, post, towIn, towOf, towPath } from './client';
import { answerHead, claimHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

describe('400: a body that cannot be read', () => {
  it.each(['{"plate_number":', 'plate_number=ABJ', '"text"', '{"a": undefined}'])('%s', async (body) => {
    const ref = await newTow(app);
    const answer = await call(app, ['POST', towPath(ref, '/started'), body]);
    expect([answer.status, errorOf(answer).code, fieldsOf(answer)]).toEqual([400, 'not_json', ['body']]);
    expect((await towOf(app, ref)).facts).toEqual([]);
  });
});

describe('404: something nobody knows', () => {
  it.each([
    ['GET', '/api/tows/TW-unknown', undefined],
    ['POST', '/api/tows/TW-unknown/started', WHEREABOUTS],
    ['POST', '/api/tows/TW-unknown/detained', {}],
    ['POST', '/api/tows/TW-unknown/canceled', { cancellation_reason: 'x' }],
    ['POST', '/api/tows/TW-unknown/released', {}],
    ['POST', '/api/tows/TW-unknown/invoice', { vehicle_type: 'HEAVY' }],
    ['POST', '/api/tows/TW-unknown/payment', {}],
    ['POST', '/api/tows/TW-unknown/reports/started-1/retry', {}],
    ['GET', '/api/deliveries/dlv_unknown', undefined],
    ['POST', '/api/deliveries/dlv_unknown/replay', {}],
    ['POST', '/api/tasks/unknown/resolve', {}],
    ['DELETE', '/api/keys/unknown', undefined],
  ])('%s %s', async (...request) => {
    const answer = await call(app, request);
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toMatchObject({ details: [] });
  });

  it('a report of another tow', async () => {
    const [mine, other] = [await towAfter(app), await towAfter(app, 'started')];
    const { reports } = await towOf(app, other);
    expect((await post(app, towPath(mine, `/reports/${reports[0]?.id}/retry`))).status).toBe(404);
  });
});

describe('409: the state of the tow forbids it, and nothing changes', () => {
  const cases = [
    ['detained', [], 'transition_not_allowed'],
    ['released', [], 'transition_not_allowed'],
    ['invoice', [], 'transition_not_allowed'],
    ['payment', [], 'invoice_required'],
    ['started', ['started'], 'already_recorded'],
    ['payment', ['started'], 'invoice_required'],
    ['detained', ['started', 'detained'], 'already_recorded'],
    ['started', ['started', 'detained'], 'already_recorded'],
    ['invoice', ['started', 'invoice'], 'already_recorded'],
    ['payment', ['started', 'invoice', 'payment'], 'already_recorded'],
    ['released', ['started', 'invoice'], 'payment_required'],
    ['released', ['started', 'detained', 'invoice'], 'payment_required'],
    ['detained', ['started', 'released'], 'transition_not_allowed'],
    ['canceled', ['started', 'released'], 'transition_not_allowed'],
    ['invoice', ['started', 'released'], 'transition_not_allowed'],
    ['started', ['canceled'], 'transition_not_allowed'],
    ['canceled', ['canceled'], 'already_recorded'],
  ] as const;
  const bodies = {
    started: WHEREABOUTS,
    canceled: { cancellation_reason: 'x' },
    invoice: { vehicle_type: 'HEAVY' },
    detained: {},
    released: {},
    payment: {},
  };

  it.each(cases)('%s after %j: %s', async (event, before, code) => {
    const ref = await towAfter(app, ...before);
    const tow = await towOf(app, ref);
    const answer = await post(app, towPath(ref, `/${event}`), bodies[event]);
    expect([answer.status, errorOf(answer)]).toMatchObject([409, { code, details: [] }]);
    expect(await towOf(app, ref)).toEqual(tow);
  });

  it('released before it is paid when the service posted an invoice', async () => {
    const ref = await towAfter(app, 'started');
    const { violation_reference_id } = await towOf(app, ref);
    const invoice = { violation_reference_id, towing_reference_id: ref, towing_invoice: { total_amount: 115 } };
    expect((await deliver(app, 'tow_invoice', invoice)).verdict).toBe('attached');
    expect(errorOf(await post(app, towPath(ref, '/released'))).code).toBe('payment_required');
    towIn(await post(app, towPath(ref, '/payment')));
    expect(towIn(await post(app, towPath(ref, '/released'))).state).toBe('released');
  });

  it.each(['accepted', 'unknown', 'sending'] as const)(
    'canceled with an invoice that is %s, but by ops with a reason',
    async (standing) => {
      const ref = await towAfter(app, 'started', 'invoice');
      await answerHead(app, ref, 'accepted');
      if (standing === 'sending') await claimHead(app, ref);
      else await answerHead(app, ref, standing);
      const path = towPath(ref, '/canceled');
      const body = { cancellation_reason: 'wrong vehicle' };
      const apiKey = await newKey(app, 'dispatcher');
      for (const answer of [await post(app, path, { ...body, reason: 'x' }, { apiKey }), await post(app, path, body)]) {
        expect([answer.status, errorOf(answer).code]).toEqual([409, 'invoice_exists']);
      }
      expect(towIn(await post(app, path, { ...body, reason: 'agreed with the service' })).state).toBe('canceled');
    },
  );
});

describe('422: every failing field is named with its rule', () => {
  it.each([
    [
      'started',
      { plate_number: ' ', towed_location: 7, latitude: 90.1, longitude: '46', colour: 'red' },
      'colour latitude longitude plate_number towed_location',
    ],
    [
      'started',
      { plate_number: 'x'.repeat(51), towed_location: 'x'.repeat(501), latitude: -91, longitude: 181, occurred_at: 1 },
      'latitude longitude occurred_at plate_number towed_location',
    ],
    ['started', [], 'body'],
    ['started', {}, 'latitude longitude plate_number towed_location'],
    ['started', { latitude: 24.7, plate_number: 'ABJ 1' }, 'longitude towed_location'],
    ['detained', { occurred_at: 'yesterday', plate_number: 'ABJ 1' }, 'plate_number'],
    ['canceled', { reason: '' }, 'cancellation_reason reason'],
    ['canceled', { cancellation_reason: '   ' }, 'cancellation_reason'],
    ['invoice', { delay_in_days: -1, override_reason: 7 }, 'delay_in_days override_reason vehicle_type'],
    ['invoice', { vehicle_type: 'HEAVY', delay_in_days: 1.5 }, 'delay_in_days'],
    ['payment', { payment_status: '', external_reference: 'x'.repeat(201) }, 'external_reference payment_status'],
  ])('%s %j', async (event, body, fields) => {
    const ref = await newTow(app);
    const answer = await post(app, towPath(ref, `/${event}`), body);
    expect([answer.status, errorOf(answer).code, fieldsOf(answer).join(' ')]).toEqual([422, 'field_invalid', fields]);
    for (const { field, rule } of errorOf(answer).details)
      expect(errorOf(answer).message).toContain(`${field}: ${rule}`);
    expect((await towOf(app, ref)).facts).toEqual([]);
  });

  it('what is missing together with what is wrong', async () => {
    const answer = await post(app, towPath(await newTow(app), '/started'), {
      latitude: 24.7,
      occurred_at: 'yesterday',
    });
    expect(fieldsOf(answer)).toEqual(['longitude', 'occurred_at', 'plate_number', 'towed_location']);
  });

  it.each([
    ['invoice', ['started'], { vehicle_type: 'LIGHT' }, 'vehicle_type', 'must be one of HEAVY'],
    ['payment', ['started', 'invoice'], { payment_status: 'LATER' }, 'payment_status', 'must be one of PAID'],
    ['detained', ['started'], { occurred_at: '2024-11-20 08:00' }, 'occurred_at', /ISO 8601/],
    ['detained', ['started'], { occurred_at: '2024-02-30T08:00:00Z' }, 'occurred_at', /ISO 8601/],
  ] as const)('%s after %j with a value that is none: %j', async (event, before, body, field, rule) => {
    const ref = await towAfter(app, ...before);
    const answer = await post(app, towPath(ref, `/${event}`), body);
    expect(answer.status).toBe(422);
    expect(errorOf(answer).details).toHaveLength(1);
    expect(errorOf(answer).details[0]?.field).toBe(field);
    expect(errorOf(answer).details[0]?.rule).toMatch(rule);
  });

  it.each(['state=gone', 'limit=0', 'limit=201', 'limit=x', 'attention=maybe', 'colour=red'])(
    'a query: %s',
    async (query) => {
      const answer = await get(app, `/api/tows?${query}`);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, [query.split('=')[0]]]);
    },
  );
});

describe('503: Redis cannot take it', () => {
  it.each([
    ['is gone', () => app.redis.kill(), () => app.redis.start()],
    ['is frozen', async () => app.redis.freeze(), async () => app.redis.thaw()],
  ])('while it %s, within 2 s and with Retry-After, and 202 again after', async (_what, begin, end) => {
    const ref = await eventually(() => newTow(app));
    await begin();
    const startedMs = performance.now();
    const answers = await Promise.all([
      get(app, towPath(ref)),
      post(app, towPath(ref, '/started'), WHEREABOUTS),
      get(app, '/api/tows'),
      get(app, '/api/queues'),
    ]);
    expect(performance.now() - startedMs).toBeLessThan(2000);
    for (const answer of answers) {
      expect([answer.status, errorOf(answer).code]).toEqual([503, 'unavailable']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await end();
    await eventually(async () => expect((await get(app, '/api/tows')).status).toBe(200));
    const again = await eventually(() => newTow(app));
    expect(towIn(await post(app, towPath(again, '/started'), WHEREABOUTS)).state).toBe('started');
  });
});
