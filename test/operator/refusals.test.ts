import { useApp } from '../support/app';
import { eventually, inTime } from '../support/eventually';
import { api, errorOf, fieldsOf, newKey, towIn, towOf, towPath } from './client';
import { answerHead, claimHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console', ownRedis: true });

describe('operator API: unreadable bodies', () => {
  it.each(['{"plate_number":', 'plate_number=ABJ', '"text"', '{"a": undefined}'])(
    'refuses the body %s with 400 not_json and records no fact',
    async (body) => {
      const ref = await newTow(app);
      const response = await api(app).post(towPath(ref, '/started')).type('application/json').send(body).expect(400);
      expect([errorOf(response).code, fieldsOf(response)]).toEqual(['not_json', ['body']]);
      expect((await towOf(app, ref)).facts).toEqual([]);
    },
  );
});

describe('operator API: unknown resources', () => {
  it.each([
    ['get', '/api/tows/TW-unknown', undefined],
    ['post', '/api/tows/TW-unknown/started', WHEREABOUTS],
    ['post', '/api/tows/TW-unknown/detained', {}],
    ['post', '/api/tows/TW-unknown/canceled', { cancellation_reason: 'x' }],
    ['post', '/api/tows/TW-unknown/released', {}],
    ['post', '/api/tows/TW-unknown/invoice', { vehicle_type: 'HEAVY' }],
    ['post', '/api/tows/TW-unknown/payment', {}],
    ['post', '/api/tows/TW-unknown/reports/started-1/retry', {}],
    ['get', '/api/deliveries/dlv_unknown', undefined],
    ['post', '/api/deliveries/dlv_unknown/replay', {}],
    ['post', '/api/tasks/unknown/resolve', {}],
    ['delete', '/api/keys/unknown', undefined],
  ] as const)('refuses %s %s with 404', async (method, path, body) => {
    const response = await api(app)[method](path).send(body).expect(404);
    expect(errorOf(response)).toMatchObject({ details: [] });
  });

  it.each([
    ['get', '/api/tows/%E6%B8'],
    ['post', '/api/tows/%E6%B8/detained'],
    ['post', '/api/tows/TW-1/%E6%B8/detained'],
    ['get', '/api/%E6%B8'],
    ['delete', '/api/keys/%'],
  ] as const)(
    'refuses %s %s, which cannot be decoded, with 404 as an address that is unknown',
    async (method, path) => {
      const response = await api(app)[method](path).send({});
      expect([response.status, errorOf(response).code]).toEqual([404, 'not_found']);
    },
  );

  it('refuses a decision on a report of another tow with 404', async () => {
    const [tow, other] = [await towAfter(app), await towAfter(app, 'started')];
    const { reports } = await towOf(app, other);
    const path = towPath(tow, `/reports/${reports[0]?.id}/retry`);
    await api(app).post(path).send({}).expect(404);
  });
});

describe('operator API: facts that the state of the tow forbids', () => {
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

  it.each(cases)('refuses %s after %j with 409 %s and changes nothing', async (event, before, code) => {
    const ref = await towAfter(app, ...before);
    const tow = await towOf(app, ref);
    const response = await api(app)
      .post(towPath(ref, `/${event}`))
      .send(bodies[event])
      .expect(409);
    expect(errorOf(response)).toMatchObject({ code, details: [] });
    expect(await towOf(app, ref)).toEqual(tow);
  });

  it('refuses released before payment once the service has posted an invoice', async () => {
    const ref = await towAfter(app, 'started');
    const { violation_reference_id } = await towOf(app, ref);
    const invoice = { violation_reference_id, towing_reference_id: ref, towing_invoice: { total_amount: 115 } };
    expect((await deliver(app, 'tow_invoice', invoice)).verdict).toBe('attached');
    const release = () => api(app).post(towPath(ref, '/released')).send({});
    expect(errorOf(await release()).code).toBe('payment_required');
    towIn(await api(app).post(towPath(ref, '/payment')).send({}));
    expect(towIn(await release()).state).toBe('released');
  });

  it.each(['accepted', 'unknown', 'sending'] as const)(
    'refuses to cancel a tow whose invoice is %s, except by ops with a reason',
    async (invoice) => {
      const ref = await towAfter(app, 'started', 'invoice');
      await answerHead(app, ref, 'accepted');
      if (invoice === 'sending') await claimHead(app, ref);
      else await answerHead(app, ref, invoice);
      const cancel = (body: object, apiKey = app.apiKey) => api(app, apiKey).post(towPath(ref, '/canceled')).send(body);
      const body = { cancellation_reason: 'wrong vehicle' };
      const dispatcher = await newKey(app, 'dispatcher');
      for (const response of [await cancel({ ...body, reason: 'x' }, dispatcher), await cancel(body)]) {
        expect([response.status, errorOf(response).code]).toEqual([409, 'invoice_exists']);
      }
      expect(towIn(await cancel({ ...body, reason: 'agreed with the service' })).state).toBe('canceled');
    },
  );
});

describe('operator API: invalid fields', () => {
  it.each([
    [
      'started',
      'colour latitude longitude plate_number towed_location',
      { plate_number: ' ', towed_location: 7, latitude: 90.1, longitude: '46', colour: 'red' },
    ],
    [
      'started',
      'latitude longitude occurred_at plate_number towed_location',
      { plate_number: 'x'.repeat(51), towed_location: 'x'.repeat(501), latitude: -91, longitude: 181, occurred_at: 1 },
    ],
    ['started', 'body', []],
    ['started', 'latitude longitude plate_number towed_location', {}],
    ['started', 'longitude towed_location', { latitude: 24.7, plate_number: 'ABJ 1' }],
    ['detained', 'plate_number', { occurred_at: 'yesterday', plate_number: 'ABJ 1' }],
    ['canceled', 'cancellation_reason reason', { reason: '' }],
    ['canceled', 'cancellation_reason', { cancellation_reason: '   ' }],
    ['invoice', 'delay_in_days override_reason vehicle_type', { delay_in_days: -1, override_reason: 7 }],
    ['invoice', 'delay_in_days', { vehicle_type: 'HEAVY', delay_in_days: 1.5 }],
    ['payment', 'external_reference payment_status', { payment_status: '', external_reference: 'x'.repeat(201) }],
  ])('refuses %s with 422 and names the invalid fields %s with their rules', async (event, fields, body) => {
    const ref = await newTow(app);
    const response = await api(app)
      .post(towPath(ref, `/${event}`))
      .send(body)
      .expect(422);
    const { code, details, message } = errorOf(response);
    expect([code, fieldsOf(response).join(' ')]).toEqual(['field_invalid', fields]);
    for (const { field, rule } of details) expect(message).toContain(`${field}: ${rule}`);
    expect((await towOf(app, ref)).facts).toEqual([]);
  });

  it('names missing and invalid fields of a fact together', async () => {
    const response = await api(app)
      .post(towPath(await newTow(app), '/started'))
      .send({ latitude: 24.7, occurred_at: 'yesterday' });
    expect(fieldsOf(response)).toEqual(['longitude', 'occurred_at', 'plate_number', 'towed_location']);
  });

  it.each([
    ['invoice', ['started'], { vehicle_type: 'LIGHT' }, 'vehicle_type', 'must be one of HEAVY'],
    ['payment', ['started', 'invoice'], { payment_status: 'LATER' }, 'payment_status', 'must be one of PAID'],
    ['detained', ['started'], { occurred_at: '2024-11-20 08:00' }, 'occurred_at', /ISO 8601/],
    ['detained', ['started'], { occurred_at: '2024-02-30T08:00:00Z' }, 'occurred_at', /ISO 8601/],
  ] as const)(
    'refuses %s after %j with the body %j and names the rule of %s',
    async (event, before, body, field, rule) => {
      const ref = await towAfter(app, ...before);
      const response = await api(app)
        .post(towPath(ref, `/${event}`))
        .send(body)
        .expect(422);
      const { details } = errorOf(response);
      expect(details.map((detail) => detail.field)).toEqual([field]);
      expect(details[0]?.rule).toMatch(rule);
    },
  );

  it.each([
    ['state=gone', 'state.0'],
    ['state=started,gone', 'state.1'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=x', 'limit'],
    ['attention=maybe', 'attention'],
    ['colour=red', 'colour'],
  ])('refuses GET /api/tows?%s with 422 and names the parameter %s', async (query, field) => {
    const response = await api(app).get(`/api/tows?${query}`).expect(422);
    expect(fieldsOf(response)).toEqual([field]);
  });

  it.each(['', '0x10', '0b1', '1e1', '1.0', '1.5', ' 5', '+5', 'x', '٥'])(
    'refuses the limit "%s" of a list with 422, because it is not a whole number in digits',
    async (limit) => {
      for (const path of ['/api/tows', '/api/other-calls']) {
        const response = await api(app).get(path).query({ limit }).expect(422);
        expect(errorOf(response).details).toEqual([{ field: 'limit', rule: 'must be a whole number' }]);
      }
    },
  );

  it.each([
    ['-1', 'must be at least 1'],
    ['0', 'must be at least 1'],
    ['201', 'must be at most 200'],
  ])('refuses the limit %s of a list with 422 and names the bound', async (limit, rule) => {
    const response = await api(app).get('/api/tows').query({ limit }).expect(422);
    expect(errorOf(response).details).toEqual([{ field: 'limit', rule }]);
  });

  it.each(['1', '200'])('accepts the limit %s of a list', async (limit) => {
    await api(app).get('/api/tows').query({ limit }).expect(200);
  });
});

describe('operator API: Redis outages', () => {
  it.each([
    ['is gone', () => app.redis.kill(), () => app.redis.start()],
    ['is frozen', async () => app.redis.freeze(), async () => app.redis.thaw()],
  ])('answers 503 with Retry-After within 2 s while Redis %s, and 202 afterwards', async (_state, begin, end) => {
    const ref = await eventually(() => newTow(app));
    await begin();
    const responses = await inTime(2000, () =>
      Promise.all([
        api(app).get(towPath(ref)),
        api(app).post(towPath(ref, '/started')).send(WHEREABOUTS),
        api(app).get('/api/tows'),
        api(app).get('/api/queues'),
      ]),
    );
    for (const response of responses) {
      expect([response.status, errorOf(response).code]).toEqual([503, 'unavailable']);
      expect(errorOf(response).message).toContain('Redis is not available');
      expect(Number(response.get('retry-after'))).toBeGreaterThan(0);
    }
    const asksForKey = responses.map((response) => errorOf(response).message.includes('Idempotency-Key'));
    expect(asksForKey).toEqual([false, true, false, false]);
    await end();
    await eventually(() => api(app).get('/api/tows').expect(200));
    const again = await eventually(() => newTow(app));
    const response = await api(app).post(towPath(again, '/started')).send(WHEREABOUTS);
    expect(towIn(response).state).toBe('started');
  });
});
