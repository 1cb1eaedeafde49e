import { errorView } from '../../src/contracts/operator';
import { changesPage, type ChangeView } from '../../src/contracts/ops/changes';
import { KEYS } from '../../src/store/keys';
import { createRetentionStore } from '../../src/store/ops/retention';
import { useApp } from '../support/app';
import { addChange } from '../support/changes';
import { eventually } from '../support/eventually';
import { api, errorOf, newKey } from './client';
import { newTow, record } from './world';

const app = useApp({ role: 'console', ownRedis: true });

async function page(query: Readonly<Record<string, string | number>>) {
  const answer = await api(app).get('/api/changes').query(query);
  expect([answer.status, answer.body]).toMatchObject([200, {}]);
  return changesPage.parse(answer.body);
}
const now = async () => (await page({})).next_cursor;
const typesOf = (items: readonly ChangeView[]) => items.map(({ type }) => type);

it('begins with nothing and the cursor of now, which the status has too', async () => {
  await newTow(app);
  const { items, next_cursor: cursor } = await page({});
  expect(items).toEqual([]);
  await eventually(async () => expect((await api(app).get('/api/status')).body).toMatchObject({ cursor }));
});

it('gives all changes of a tow in order, each with the next number of its subject', async () => {
  const after = await now();
  const ref = await newTow(app);
  await record(app, ref, 'started', 'detained');
  await api(app).post(`/api/tows/${ref}/assignment`).send({ crew: 'C 7' }).expect(202);

  const { items } = await page({ after });
  const ofTow = items.filter(({ subject }) => subject?.kind === 'tow');
  expect(ofTow.map(({ type, sequence, data }) => [type, sequence, data])).toEqual([
    ['tow.requested', 1, { delivery_id: expect.any(String) as unknown }],
    ['fact.recorded', 2, { fact: 'started' }],
    ['fact.recorded', 3, { fact: 'detained' }],
    ['tow.assigned', 4, { crew: 'C 7' }],
  ]);
  const ofDelivery = items.filter(({ subject }) => subject?.kind === 'delivery');
  expect(ofDelivery.map(({ type, sequence, data }) => [type, sequence, data])).toEqual([
    ['delivery.accepted', 1, { towing_reference_id: ref }],
    ['delivery.processed', 2, { towing_reference_id: ref, verdict: 'created' }],
  ]);
});

it('a request that is refused, and one that is repeated, add no change', async () => {
  const ref = await newTow(app);
  const after = await now();
  await record(app, ref, 'started');
  await api(app).post(`/api/tows/${ref}/started`).send({}).expect(409);
  for (let count = 0; count < 3; count += 1) {
    await api(app).post(`/api/tows/${ref}/notes`).set('idempotency-key', 'once').send({ text: 'a note' }).expect(202);
  }
  expect(typesOf((await page({ after })).items)).toEqual(['fact.recorded', 'tow.note_added']);
});

it('reads on page by page, and by type and subject', async () => {
  const after = await now();
  const [one, other] = [await newTow(app), await newTow(app)];
  await record(app, one, 'started');
  const read: ChangeView[] = [];
  for (let cursor = after; ;) {
    const { items, next_cursor: next } = await page({ after: cursor, limit: 2 });
    read.push(...items);
    if (items.length === 0) break;
    expect(items.length).toBeLessThanOrEqual(2);
    cursor = next;
  }
  expect(read).toEqual((await page({ after })).items);

  const requested = await page({ after, types: 'tow.requested, fact.recorded' });
  expect(requested.items.map(({ subject }) => subject?.id)).toEqual([one, other, one]);
  const ofOne = await page({ after, subject: `tow:${one}` });
  expect(typesOf(ofOne.items)).toEqual(['tow.requested', 'fact.recorded']);
  // What a filter leaves out is not read again.
  expect((await page({ after: ofOne.next_cursor })).items).toEqual([]);
});

it('waits for a change, and answers at once when it comes', async () => {
  const after = await now();
  const waiting = page({ after, wait: 25, types: 'fact.recorded' });
  const ref = await newTow(app);
  await record(app, ref, 'started');
  expect((await waiting).items).toMatchObject([{ type: 'fact.recorded', subject: { id: ref } }]);
});

it('answers without a change when none came in time', async () => {
  const after = await now();
  expect(await page({ after, wait: 1 })).toEqual({ items: [], next_cursor: after });
});

describe('a cursor that cannot be followed', () => {
  const refusal = async (after: string) => {
    const answer = await api(app).get('/api/changes').query({ after });
    return {
      status: answer.status,
      code: errorOf(answer).code,
      next: errorView.parse(answer.body).next_cursor,
    };
  };
  const expired = async () => ({ status: 410, code: 'cursor_expired', next: await now() });

  it('is of another epoch, as after a restore', async () => {
    const after = await now();
    await newTow(app);
    const before = await app.foundation.redis.get(KEYS.epoch);
    await app.foundation.redis.set(KEYS.epoch, 'f'.repeat(12));
    expect(await refusal(after)).toEqual(await expired());
    await app.foundation.redis.set(KEYS.epoch, before ?? '');
  });

  it('is beyond the end, as after a failover that lost it', async () => {
    await newTow(app);
    const after = (await now()).replace(/-\d+-\d+$/, '-999999999999999-0');
    expect(await refusal(after)).toEqual(await expired());
  });

  it('is before changes that retention has removed; one behind them is read on', async () => {
    const { redis } = app.foundation;
    const first = await now();
    // A node of the stream has a hundred entries, and is removed as a whole.
    for (let count = 0; count < 300; count += 1) await addChange(redis, `TW-${count}`);
    const last = await now();
    await createRetentionStore(redis).removeOldChanges(0);

    expect(await redis.xlen(KEYS.changes)).toBeLessThan(300);
    expect(await refusal(first)).toEqual(await expired());
    const ref = await newTow(app);
    expect((await page({ after: last, subject: `tow:${ref}` })).items).toHaveLength(1);
  });
});

it.each([
  ['after', { after: 'yesterday' }],
  ['types', { types: 'tow.requested,tow.exploded' }],
  ['subject', { subject: 'TW-1' }],
  ['limit', { limit: 1001 }],
  ['wait', { wait: 26 }],
])('refuses a wrong %s with 422 and names it', async (field, query) => {
  const answer = await api(app).get('/api/changes').query(query);
  expect([answer.status, errorOf(answer).details.map((detail) => detail.field)]).toEqual([422, [field]]);
});

it('a viewer may read it, and no caller without a key', async () => {
  await api(app, await newKey(app, 'viewer'))
    .get('/api/changes')
    .expect(200);
  await api(app, null).get('/api/changes').expect(401);
});
