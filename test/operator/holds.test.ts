import { useApp } from '../support/app';
import { entriesOf } from './audited';
import { errorOf, newKey, post, towIn, towOf, towPath } from './client';
import { towAfter } from './world';

const app = useApp({ role: 'console' });

/** Places a hold and returns its id. */
async function hold(ref: string, reason = 'police'): Promise<string> {
  const { dispatch } = towIn(await post(app, towPath(ref, '/holds'), { reason }));
  return dispatch.holds.at(-1)?.id ?? '';
}

async function lift(ref: string, id: string) {
  return post(app, towPath(ref, `/holds/${id}/lift`), { reason: 'settled' });
}

it('a hold blocks payment and release until it is lifted, and is named', async () => {
  const ref = await towAfter(app, 'started', 'detained', 'invoice');
  const ids = [await hold(ref), await hold(ref, 'owner disputes')];
  for (const fact of ['/payment', '/released']) {
    const answer = await post(app, towPath(ref, fact));
    const { code, message, details } = errorOf(answer);
    expect([answer.status, code]).toEqual([409, 'on_hold']);
    expect(details.map(({ field }) => field)).toEqual(ids.map((id) => `holds.${id}`));
    for (const id of ids) expect(message).toContain(id);
  }
  towIn(await lift(ref, ids[0] ?? ''));
  expect(errorOf(await post(app, towPath(ref, '/payment'))).details).toHaveLength(1);
  towIn(await lift(ref, ids[1] ?? ''));
  towIn(await post(app, towPath(ref, '/payment')));
  expect(towIn(await post(app, towPath(ref, '/released'))).state).toBe('released');
});

it('a hold placed after the payment blocks the release that follows', async () => {
  const ref = await towAfter(app, 'started', 'invoice', 'payment');
  const id = await hold(ref);
  expect(errorOf(await post(app, towPath(ref, '/released'))).code).toBe('on_hold');
  towIn(await lift(ref, id));
  expect(towIn(await post(app, towPath(ref, '/released'))).state).toBe('released');
});

it('a hold does not block a cancel, and is lifted although the tow is over', async () => {
  const ref = await towAfter(app, 'started');
  const id = await hold(ref);
  expect(towIn(await post(app, towPath(ref, '/canceled'), { cancellation_reason: 'gone' })).state).toBe('canceled');
  expect(towIn(await lift(ref, id)).dispatch.holds).toMatchObject([{ id, lifted: { reason: 'settled' } }]);
});

it('of a hold and a release at the same time exactly one happens', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    const ref = await towAfter(app, 'started');
    const [held, released] = await Promise.all([
      post(app, towPath(ref, '/holds'), { reason: 'police' }),
      post(app, towPath(ref, '/released')),
    ]);
    expect([held.status, released.status].toSorted((a, b) => a - b)).toEqual([202, 409]);
    const { state, dispatch } = await towOf(app, ref);
    expect([state, dispatch.holds.length]).toEqual(held.status === 202 ? ['started', 1] : ['released', 0]);
  }
});

it('placing and lifting are audited with the hold and the reason', async () => {
  const ref = await towAfter(app, 'started');
  const who = { apiKey: await newKey(app, 'dispatcher', 'desk') };
  let id = '';
  const entries = await entriesOf(app, async () => {
    const placed = towIn(await post(app, towPath(ref, '/holds'), { reason: 'police' }, who));
    id = placed.dispatch.holds[0]?.id ?? '';
    towIn(await post(app, towPath(ref, `/holds/${id}/lift`), { reason: 'settled' }, who));
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

it('a hold that does not exist is 404, one that is lifted 409', async () => {
  const ref = await towAfter(app, 'started');
  const other = await hold(await towAfter(app, 'started'));
  const missing = await lift(ref, other);
  expect([missing.status, errorOf(missing).code]).toEqual([404, 'hold_not_found']);
  const id = await hold(ref);
  towIn(await lift(ref, id));
  const again = await lift(ref, id);
  expect([again.status, errorOf(again).code]).toEqual([409, 'already_recorded']);
});
