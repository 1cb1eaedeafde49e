import { useApp } from '../support/app';
import { api, entriesOf, errorOf, newKey, towIn, towOf, towPath } from './client';
import { towAfter } from './world';

const app = useApp({ role: 'console' });

/** Places a hold and returns its id. */
async function hold(ref: string, reason = 'police'): Promise<string> {
  const { dispatch } = towIn(await api(app).post(towPath(ref, '/holds')).send({ reason }));
  return dispatch.holds.at(-1)?.id ?? '';
}

function lift(ref: string, id: string) {
  return api(app)
    .post(towPath(ref, `/holds/${id}/lift`))
    .send({ reason: 'settled' });
}

it('refuses payment and release of a tow on hold with 409, and names each hold, until all holds are lifted', async () => {
  const ref = await towAfter(app, 'started', 'detained', 'invoice');
  const ids = [await hold(ref), await hold(ref, 'owner disputes')];
  for (const fact of ['/payment', '/released']) {
    const response = await api(app).post(towPath(ref, fact)).send({});
    const { code, message, details } = errorOf(response);
    expect([response.status, code]).toEqual([409, 'on_hold']);
    expect(details.map(({ field }) => field)).toEqual(ids.map((id) => `holds.${id}`));
    for (const id of ids) expect(message).toContain(id);
  }
  towIn(await lift(ref, ids[0] ?? ''));
  expect(errorOf(await api(app).post(towPath(ref, '/payment')).send({})).details).toHaveLength(1);
  towIn(await lift(ref, ids[1] ?? ''));
  towIn(await api(app).post(towPath(ref, '/payment')).send({}));
  expect(towIn(await api(app).post(towPath(ref, '/released')).send({})).state).toBe('released');
});

it('refuses the release of a tow that was put on hold after its payment', async () => {
  const ref = await towAfter(app, 'started', 'invoice', 'payment');
  const id = await hold(ref);
  expect(errorOf(await api(app).post(towPath(ref, '/released')).send({})).code).toBe('on_hold');
  towIn(await lift(ref, id));
  expect(towIn(await api(app).post(towPath(ref, '/released')).send({})).state).toBe('released');
});

it('cancels a tow on hold, and lifts the hold after the tow is over', async () => {
  const ref = await towAfter(app, 'started');
  const id = await hold(ref);
  expect(towIn(await api(app).post(towPath(ref, '/canceled')).send({ cancellation_reason: 'gone' })).state).toBe(
    'canceled',
  );
  expect(towIn(await lift(ref, id)).dispatch.holds).toMatchObject([{ id, lifted: { reason: 'settled' } }]);
});

it('accepts exactly one of a hold and a release that are requested at the same time', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    const ref = await towAfter(app, 'started');
    const [placed, released] = await Promise.all([
      api(app).post(towPath(ref, '/holds')).send({ reason: 'police' }),
      api(app).post(towPath(ref, '/released')).send({}),
    ]);
    expect([placed.status, released.status].toSorted((a, b) => a - b)).toEqual([202, 409]);
    const { state, dispatch } = await towOf(app, ref);
    expect([state, dispatch.holds.length]).toEqual(placed.status === 202 ? ['started', 1] : ['released', 0]);
  }
});

it('audits the placing and the lifting of a hold with its id and reason', async () => {
  const ref = await towAfter(app, 'started');
  const desk = api(app, await newKey(app, 'dispatcher', 'desk'));
  let id = '';
  const entries = await entriesOf(app, async () => {
    const placed = towIn(await desk.post(towPath(ref, '/holds')).send({ reason: 'police' }));
    id = placed.dispatch.holds[0]?.id ?? '';
    towIn(await desk.post(towPath(ref, `/holds/${id}/lift`)).send({ reason: 'settled' }));
  });
  const on = { towing_reference_id: ref, hold_id: id };
  expect(entries).toMatchObject([
    { by: 'desk', action: 'tow.hold_lifted', on, why: 'settled', what: {} },
    { by: 'desk', action: 'tow.hold_placed', on, why: 'police', what: {} },
  ]);
  expect((await towOf(app, ref)).timeline.slice(-2)).toMatchObject([
    { type: 'tow.hold_placed', hold_id: id, reason: 'police', by: 'desk' },
    { type: 'tow.hold_lifted', hold_id: id, reason: 'settled', by: 'desk' },
  ]);
});

it('refuses to lift a hold that the tow does not have with 404, and one that is already lifted with 409', async () => {
  const ref = await towAfter(app, 'started');
  const other = await hold(await towAfter(app, 'started'));
  const missing = await lift(ref, other);
  expect([missing.status, errorOf(missing).code]).toEqual([404, 'hold_not_found']);
  const id = await hold(ref);
  towIn(await lift(ref, id));
  const again = await lift(ref, id);
  expect([again.status, errorOf(again).code]).toEqual([409, 'already_recorded']);
});
