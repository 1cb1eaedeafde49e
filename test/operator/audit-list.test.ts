import { newApiKeyView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { api, audited, entriesOf, errorOf, fieldsOf, newKey, towIn, towPath } from './client';
import { claimHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';
import { setCircuit } from '../support/stored-records';

const app = useApp({ role: 'console' });

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
