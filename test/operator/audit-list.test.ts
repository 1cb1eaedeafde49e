import { newApiKeyView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { audited, entriesOf } from './audited';
import { call, errorOf, fieldsOf, get, newKey, post, towIn, towPath } from './client';
import { claimHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

describe('no entry', () => {
  it('for what is refused', async () => {
    const ref = await towAfter(app, 'started');
    const { reportId } = await claimHead(app, ref);
    const crew = { apiKey: await newKey(app, 'crew') };
    const entries = await entriesOf(app, async () => {
      const answers = await Promise.all([
        post(app, towPath(ref, '/started'), WHEREABOUTS),
        post(app, towPath(ref, '/payment')),
        post(app, towPath(ref, '/canceled'), {}),
        post(app, towPath(ref, '/released'), {}, crew),
        post(app, towPath('TW-unknown', '/detained')),
        post(app, towPath(ref, `/reports/${reportId}/waive`), { reason: 'x' }),
        post(app, '/api/tasks/unknown/resolve'),
        post(app, '/api/deliveries/unknown/replay'),
        post(app, '/api/operations/started/resume'),
        post(app, '/api/keys', { name: 'yard', role: 'boss' }),
        call(app, ['DELETE', '/api/keys/unknown']),
        post(app, '/api/keys/unknown/rotate'),
        post(app, '/api/queues/unknown/pause'),
        post(app, towPath(ref, '/assignment'), { crew: null }),
        post(app, towPath(ref, '/holds/unknown/lift'), { reason: 'x' }),
      ]);
      for (const answer of answers) expect(errorOf(answer).code).toBeTruthy();
    });
    expect(entries).toEqual([]);
  });

  it('for what is only read', async () => {
    const ref = await towAfter(app, 'started');
    const paths = [towPath(ref), '/api/tows', '/api/tasks', '/api/deliveries', '/api/keys', '/api/audit'];
    expect(await entriesOf(app, () => Promise.all(paths.map((path) => get(app, path))))).toEqual([]);
  });

  it('for a request given again under its Idempotency-Key, whatever it asks for', async () => {
    const ref = await newTow(app);
    const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-x', towing_reference_id: ref });
    await app.redis.ask('HSET', KEYS.gates, 'paused.detained.until', String(Date.now() + 60_000));
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
        const ask = () => post(app, path, body, { idempotencyKey: 'once' });
        for (const answer of await Promise.all([ask(), ask(), ask()])) expect(answer.status).toBeLessThan(300);
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

it('no plate, place, payment reference, key or name of a new key stands in the audit', async () => {
  const ref = await newTow(app);
  towIn(await post(app, towPath(ref, '/started'), WHEREABOUTS));
  const correction = { plate_number: 'KLM 77', towed_location: 'Tahlia Street', latitude: 21.5433, longitude: 39.1728 };
  towIn(await post(app, towPath(ref, '/reports/started-1/correct'), correction));
  towIn(await post(app, towPath(ref, '/invoice'), { vehicle_type: 'HEAVY' }));
  towIn(await post(app, towPath(ref, '/payment'), { external_reference: 'card of Layla' }));
  const answer = await post(app, '/api/keys', { name: 'Khalid at the gate', role: 'crew' });
  const { api_key } = newApiKeyView.parse(answer.json);

  const stored = JSON.stringify(await app.redis.ask('LRANGE', KEYS.audit, '0', '-1'));

  expect((await audited(app)).items).toHaveLength(5);
  const hidden = [...Object.values(WHEREABOUTS), ...Object.values(correction), 'Layla', 'Khalid', api_key, app.apiKey];
  for (const value of hidden) expect(stored).not.toContain(String(value));
});

describe('the list', () => {
  it('shows the newest first, page by page', async () => {
    const ref = await towAfter(app, 'started', 'detained', 'released');
    const first = await audited(app, { limit: '2' });
    expect(first.items).toMatchObject([
      { seq: 3, action: 'tow.released', by: 'bootstrap', on: { towing_reference_id: ref } },
      { seq: 2, action: 'tow.detained' },
    ]);
    const second = await audited(app, { limit: '2', cursor: first.next_cursor ?? '' });
    expect(second).toMatchObject({ items: [{ seq: 1, action: 'tow.started' }], next_cursor: null });
  });

  it('of one tow leaves out what was done to others', async () => {
    const mine = await towAfter(app, 'started');
    await towAfter(app, 'started', 'detained');
    towIn(await post(app, towPath(mine, '/reports/started-1/waive'), { reason: 'told by phone' }));
    const { items, next_cursor } = await audited(app, { towing_reference_id: mine });
    expect(items.map(({ action }) => action)).toEqual(['report.waived', 'tow.started']);
    expect(next_cursor).toBeNull();
    expect((await audited(app, { towing_reference_id: 'TW-unknown' })).items).toEqual([]);
  });

  it.each(['cursor=x', 'limit=0', 'colour=red'])('is refused 422 with %s', async (query) => {
    const answer = await get(app, `/api/audit?${query}`);
    expect([answer.status, fieldsOf(answer)]).toEqual([422, [query.split('=')[0]]]);
  });
});
