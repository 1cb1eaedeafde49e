import { newApiKeyView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { api, entriesOf, towIn, towPath, audited, errorOf, fieldsOf, newKey } from './client';
import { answerHead, deliver, newTow, towAfter, WHEREABOUTS, claimHead } from './world';
import { setCircuit } from '../support/stored-records';
import { KEYS } from '../../src/store/keys';

const app = useApp({ role: 'console' });

/** The actor of an audit entry. `asNightShift` sets the id to that of its new key. */
const by = { by: 'night shift', by_id: '', role: 'ops' };

/** Creates the actor's key and returns a supertest agent with it. */
async function asNightShift() {
  const { id, api_key: apiKey } = newApiKeyView.parse(
    (await api(app).post('/api/keys').send({ name: by.by, role: by.role })).body,
  );
  by.by_id = id;
  return api(app, apiKey);
}

describe('operator API: audit entries', () => {
  it.each([
    ['started', [], WHEREABOUTS, 'tow.started', null],
    ['detained', ['started'], {}, 'tow.detained', null],
    ['released', ['started'], {}, 'tow.released', null],
    ['canceled', [], { cancellation_reason: 'gone on arrival' }, 'tow.canceled', 'gone on arrival'],
    ['canceled', [], { cancellation_reason: 'gone', reason: 'seen by crew' }, 'tow.canceled', 'seen by crew'],
    ['invoice', ['started'], { vehicle_type: 'HEAVY' }, 'tow.invoice_requested', null],
    [
      'invoice',
      ['started'],
      { vehicle_type: 'HEAVY', delay_in_days: 0, override_reason: 'yard was closed' },
      'tow.invoice_requested',
      'yard was closed',
    ],
    ['payment', ['started', 'invoice'], { external_reference: 'POS 7' }, 'tow.payment_recorded', null],
  ] as const)(
    'audits the fact %s, recorded after %j with the body %j, with actor, time and reason',
    async (event, before, body, action, why) => {
      const ref = await towAfter(app, ...before);
      const nightShift = await asNightShift();
      let occurredAt: string | undefined;
      const entries = await entriesOf(app, async () => {
        const tow = towIn(await nightShift.post(towPath(ref, `/${event}`)).send(body));
        occurredAt = tow.facts.at(-1)?.occurred_at;
      });
      const on = { towing_reference_id: ref };
      expect(entries).toEqual([{ ...by, action, on, why, what: { occurred_at: occurredAt } }]);
    },
  );

  it('audits a cancel together with the unsent reports that it withdraws', async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    const entries = await entriesOf(app, () =>
      api(app).post(towPath(ref, '/canceled')).send({ cancellation_reason: 'gone' }),
    );
    expect(entries).toMatchObject([{ action: 'tow.canceled', what: { also_waived: ['invoice-2', 'payment-3'] } }]);
  });

  it.each([
    ['retry', {}, 'report.retried', null, {}],
    ['waive', { reason: 'confirmed by phone' }, 'report.waived', 'confirmed by phone', {}],
    ['accept', { reason: 'seen there' }, 'report.accepted_by_hand', 'seen there', {}],
    [
      'correct',
      { plate_number: 'KLM 77', towed_location: 'Tahlia Street' },
      'report.corrected',
      null,
      { fields: ['plate_number', 'towed_location'] },
    ],
  ] as const)(
    'audits the decision %s on a refused report with actor and reason, and with field names but no values',
    async (decision, body, action, why, what) => {
      const ref = await towAfter(app, 'started');
      const reportId = await answerHead(app, ref, 'refused');
      const nightShift = await asNightShift();
      const entries = await entriesOf(app, () =>
        nightShift.post(towPath(ref, `/reports/${reportId}/${decision}`)).send(body),
      );
      expect(entries).toEqual([{ ...by, action, on: { towing_reference_id: ref, report_id: reportId }, why, what }]);
    },
  );

  it('audits a waived invoice together with the payment that is waived with it', async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment');
    await answerHead(app, ref, 'accepted');
    const invoice = await answerHead(app, ref, 'refused');
    const body = { reason: 'billed on paper' };
    const entries = await entriesOf(app, () =>
      api(app)
        .post(towPath(ref, `/reports/${invoice}/waive`))
        .send(body),
    );
    expect(entries).toMatchObject([{ action: 'report.waived', what: { also_waived: ['payment-3'] } }]);
  });

  it('audits the resolution of a task with its type and its tow', async () => {
    const ref = await newTow(app);
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
    const nightShift = await asNightShift();
    const task = `rival_request.${ref}`;
    const entries = await entriesOf(app, () =>
      nightShift.post(`/api/tasks/${task}/resolve`).send({ reason: 'asked them' }),
    );
    const on = { task_id: task, towing_reference_id: ref };
    const what = { task_type: 'rival_request' };
    expect(entries).toEqual([{ ...by, action: 'task.resolved', on, why: 'asked them', what }]);
  });

  it('audits the replay of a delivery with its tow', async () => {
    const ref = 'TW-20261120-REPLAY';
    const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref });
    const nightShift = await asNightShift();
    const entries = await entriesOf(app, () => nightShift.post(`/api/deliveries/${id}/replay`).send({}));
    const on = { delivery_id: id, towing_reference_id: ref };
    expect(entries).toEqual([{ ...by, action: 'delivery.replayed', on, why: null, what: {} }]);
  });

  it('audits the resumption of an operation with the reason', async () => {
    await setCircuit(app.foundation.redis, 'paused.detained', { untilMs: Date.now() + 60_000 });
    const nightShift = await asNightShift();
    const body = { reason: 'they opened it again' };
    const entries = await entriesOf(app, () => nightShift.post('/api/operations/detained/resume').send(body));
    expect(entries).toEqual([
      { ...by, action: 'operation.resumed', on: { operation: 'detained' }, why: body.reason, what: {} },
    ]);
  });

  it('audits the creation of an API key with its role, and its revocation', async () => {
    const nightShift = await asNightShift();
    let id = '';
    const entries = await entriesOf(app, async () => {
      ({ id } = newApiKeyView.parse((await nightShift.post('/api/keys').send({ name: 'yard', role: 'crew' })).body));
      await nightShift.delete(`/api/keys/${id}`).expect(204);
    });
    expect(entries).toEqual([
      { ...by, action: 'key.revoked', on: { key_id: id }, why: null, what: {} },
      { ...by, action: 'key.created', on: { key_id: id }, why: null, what: { granted_role: 'crew' } },
    ]);
  });
});

describe('operator API: requests without an audit entry', () => {
  it('records no audit entry for refused requests', async () => {
    const ref = await towAfter(app, 'started');
    const { id: reportId } = (await claimHead(app, ref)).entry;
    const crewKey = await newKey(app, 'crew');
    const entries = await entriesOf(app, async () => {
      const responses = await Promise.all([
        api(app).post(towPath(ref, '/started')).send(WHEREABOUTS),
        api(app).post(towPath(ref, '/payment')).send({}),
        api(app).post(towPath(ref, '/canceled')).send({}),
        api(app, crewKey).post(towPath(ref, '/released')).send({}),
        api(app).post(towPath('TW-unknown', '/detained')).send({}),
        api(app)
          .post(towPath(ref, `/reports/${reportId}/waive`))
          .send({ reason: 'x' }),
        api(app).post('/api/tasks/unknown/resolve').send({}),
        api(app).post('/api/deliveries/unknown/replay').send({}),
        api(app).post('/api/operations/started/resume').send({}),
        api(app).post('/api/keys').send({ name: 'yard', role: 'boss' }),
        api(app).delete('/api/keys/unknown'),
        api(app).post('/api/keys/unknown/rotate').send({}),
        api(app).post('/api/queues/unknown/pause').send({}),
        api(app).post(towPath(ref, '/assignment')).send({ crew: null }),
        api(app).post(towPath(ref, '/holds/unknown/lift')).send({ reason: 'x' }),
      ]);
      for (const response of responses) expect(errorOf(response).code).toBeTruthy();
    });
    expect(entries).toEqual([]);
  });

  it('records no audit entry for reads', async () => {
    const ref = await towAfter(app, 'started');
    const paths = [towPath(ref), '/api/tows', '/api/tasks', '/api/deliveries', '/api/keys', '/api/audit'];
    expect(await entriesOf(app, () => Promise.all(paths.map((path) => api(app).get(path))))).toEqual([]);
  });

  it('records one audit entry for a request that is repeated under its Idempotency-Key, for each kind of request', async () => {
    const ref = await newTow(app);
    const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-x', towing_reference_id: ref });
    await setCircuit(app.foundation.redis, 'paused.detained', { untilMs: Date.now() + 60_000 });
    const requests = [
      [towPath(ref, '/started'), WHEREABOUTS],
      [towPath(ref, '/reports/started-1/retry'), {}],
      [`/api/tasks/rival_request.${ref}/resolve`, {}],
      [`/api/deliveries/${id}/replay`, {}],
      ['/api/operations/detained/resume', {}],
      ['/api/keys', { name: 'yard', role: 'crew' }],
      ['/api/queues/reports/pause', {}],
      [towPath(ref, '/notes'), { text: 'gate B' }],
    ] as const;
    const entries = await entriesOf(app, async () => {
      for (const [path, body] of requests) {
        const send = () => api(app).post(path).set('idempotency-key', 'once').send(body);
        for (const response of await Promise.all([send(), send(), send()])) expect(response.status).toBeLessThan(300);
      }
    });
    expect(entries.map(({ action }) => action).toReversed()).toEqual([
      'tow.started',
      'report.retried',
      'task.resolved',
      'delivery.replayed',
      'operation.resumed',
      'key.created',
      'queue.paused',
      'tow.note_added',
    ]);
  });
});

it('stores no plate, place, payment reference, API key or name of a new API key in the audit', async () => {
  const ref = await newTow(app);
  towIn(await api(app).post(towPath(ref, '/started')).send(WHEREABOUTS));
  const correction = { plate_number: 'KLM 77', towed_location: 'Tahlia Street', latitude: 21.5433, longitude: 39.1728 };
  towIn(await api(app).post(towPath(ref, '/reports/started-1/correct')).send(correction));
  towIn(await api(app).post(towPath(ref, '/invoice')).send({ vehicle_type: 'HEAVY' }));
  towIn(await api(app).post(towPath(ref, '/payment')).send({ external_reference: 'card of Layla' }));
  const response = await api(app).post('/api/keys').send({ name: 'Khalid at the gate', role: 'crew' });
  const { api_key } = newApiKeyView.parse(response.body);

  const stored = JSON.stringify(await app.redis.ask('LRANGE', KEYS.audit, '0', '-1'));

  expect((await audited(app)).items).toHaveLength(5);
  const hidden = [...Object.values(WHEREABOUTS), ...Object.values(correction), 'Layla', 'Khalid', api_key, app.apiKey];
  for (const value of hidden) expect(stored).not.toContain(String(value));
});

describe('operator API: list of audit entries', () => {
  it('lists audit entries newest first, page by page', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'released');
    const first = await audited(app, { limit: '2' });
    expect(first.items).toMatchObject([
      { seq: 3, action: 'tow.released', by: 'bootstrap', on: { towing_reference_id: ref } },
      { seq: 2, action: 'tow.detained' },
    ]);
    const second = await audited(app, { limit: '2', cursor: first.next_cursor ?? '' });
    expect(second).toMatchObject({ items: [{ seq: 1, action: 'tow.started' }], next_cursor: null });
  });

  it('lists only the audit entries of the tow that is asked for', async () => {
    const mine = await towAfter(app, 'started');
    await towAfter(app, 'started', 'detained');
    towIn(await api(app).post(towPath(mine, '/reports/started-1/waive')).send({ reason: 'confirmed by phone' }));
    const { items, next_cursor } = await audited(app, { towing_reference_id: mine });
    expect(items.map(({ action }) => action)).toEqual(['report.waived', 'tow.started']);
    expect(next_cursor).toBeNull();
    expect((await audited(app, { towing_reference_id: 'TW-unknown' })).items).toEqual([]);
  });

  it.each(['cursor=x', 'limit=0', 'colour=red'])(
    'refuses the list of audit entries with 422 for the query %s and names the parameter',
    async (query) => {
      const response = await api(app).get(`/api/audit?${query}`);
      expect([response.status, fieldsOf(response)]).toEqual([422, [query.split('=')[0]]]);
    },
  );

  it.each(['1e66', '-1e66', '0.5', '9007199254740993'])(
    'refuses a cursor at the position %s with 422, as no page ends there',
    async (position) => {
      await towAfter(app, 'started');
      const cursor = Buffer.from(`${position} x`).toString('base64url');
      const response = await api(app).get('/api/audit').query({ cursor });
      expect([response.status, fieldsOf(response)]).toEqual([422, ['cursor']]);
    },
  );
});
