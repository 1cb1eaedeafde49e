import { KEYS } from '../../src/store/keys';
import { createTaskStore } from '../../src/store/ops/tasks';
import { idsIn } from '../archive/folder';
import { standings } from '../support/conservation';
import { createCanceledTow, useRetention, type Retention } from '../support/retention';
import { towRequest, type Stores } from '../support/stores';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
});

const DAY_MS = 86_400_000;

/** A tow that has been here and has left. */
async function archiveTow(ref: string): Promise<void> {
  await createCanceledTow(stores, ref);
  await retention.sweepAll();
}

async function openTasks() {
  return (await createTaskStore(stores.redis).list({ cursor: null, limit: 100 })).items;
}

/** As if a tow had left so long ago. */
async function age(ref: string, ms: number): Promise<void> {
  const left = Number(await stores.redis.zscore(KEYS.archivedMarkers, ref));
  await stores.redis.zadd(KEYS.archivedMarkers, left - ms, ref);
}

test('a tow request for an archived tow is accepted, marked late, opens a task and creates no tow', async () => {
  await archiveTow('T1');

  expect(await stores.accept('tow_request', towRequest('T1'), 'again')).toBe('accepted');
  expect(await stores.process('again')).toBe('late');

  expect(await stores.tows.read('T1')).toBeNull();
  expect(await stores.deliveries.read('again')).toMatchObject({ state: 'processed', verdict: 'late' });
  const [task, ...others] = await openTasks();
  expect(others).toEqual([]);
  expect(task).toMatchObject({ id: 'late_request-again.T1', type: 'late_request', actions: ['resolve'] });
  await retention.sweepAll();
  expect(await idsIn(dataDir.path, { type: 'delivery' })).toEqual(['request-T1', 'again']);
  expect(await standings(stores.redis)).toEqual({ deliveries: {}, reports: {} });
});

test('a tow request that reuses the reference of an archived tow opens a task that names the other violation', async () => {
  await archiveTow('T1');
  const reused = { ...towRequest('T1'), violation_reference_id: 'V-another' };

  await stores.accept('tow_request', reused, 'reused');
  expect(await stores.process('reused')).toBe('late');
  expect(await stores.process('reused')).toBe('settled_before');

  const [task, ...others] = await openTasks();
  expect(others).toEqual([]);
  expect(task).toMatchObject({ type: 'late_request', actions: ['resolve'], towing_reference_id: 'T1' });
  expect(task?.message).toContain('V-another');
});

test('an invoice for an archived tow is accepted, marked late, opens a task and is archived', async () => {
  await archiveTow('T1');

  expect(await stores.acceptInvoice('T1')).toBe('accepted');
  expect(await stores.process('invoice-T1')).toBe('late');

  expect(await stores.deliveries.read('invoice-T1')).toMatchObject({ state: 'processed', verdict: 'late' });
  const [task, ...others] = await openTasks();
  expect(others).toEqual([]);
  expect(task).toMatchObject({ type: 'late_invoice', actions: ['resolve'], towing_reference_id: 'T1' });
  await retention.sweepAll();
  expect(await idsIn(dataDir.path, { type: 'delivery' })).toEqual(['request-T1', 'invoice-T1']);
  expect(await standings(stores.redis)).toEqual({ deliveries: {}, reports: {} });
});

test('each late invoice opens its own task, and Redis keeps no data of those that were answered', async () => {
  await archiveTow('T1');
  for (const id of ['first', 'second']) {
    await stores.acceptInvoice('T1', id);
    await stores.process(id);
  }
  expect((await openTasks()).map(({ id }) => id).toSorted()).toEqual([
    'late_invoice-first.T1',
    'late_invoice-second.T1',
  ]);

  for (const { id } of await openTasks()) await stores.resolve(id);
  await retention.sweepAll();

  expect(await stores.redis.keys('*T1*')).toEqual([]);
  expect(await stores.redis.zcard(KEYS.attention)).toBe(0);
});

test('a late delivery that is replayed is marked late again', async () => {
  await archiveTow('T1');
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');

  await stores.replay('invoice-T1');

  expect(await stores.process('invoice-T1')).toBe('late');
  expect(await openTasks()).toHaveLength(1);
});

test('an invoice accepted while its tow is archived ends up on the tow or late, never parked or lost', async () => {
  const refs = Array.from({ length: 100 }, (_, index) => `T${index}`);
  for (const ref of refs) await createCanceledTow(stores, ref);

  const [verdicts] = await Promise.all([
    Promise.all(
      refs.map(async (ref) => {
        await stores.acceptInvoice(ref);
        return stores.process(`invoice-${ref}`);
      }),
    ),
    retention.sweepAll(),
  ]);

  expect(verdicts.filter((verdict) => verdict !== 'attached' && verdict !== 'late')).toEqual([]);
  await retention.sweepAll();
  expect(await stores.redis.zcard(KEYS.archivedMarkers)).toBe(100);
  expect((await openTasks()).length).toBe(verdicts.filter((verdict) => verdict === 'late').length);
  const archived = new Set(await idsIn(dataDir.path, { type: 'delivery' }));
  expect(refs.filter((ref) => !archived.has(`invoice-${ref}`))).toEqual([]);
});

test('an archived tow is remembered for 400 days, and a later tow request creates a new tow', async () => {
  for (const ref of ['T1', 'T2']) await archiveTow(ref);
  await age('T1', 400 * DAY_MS + 1);
  await age('T2', 400 * DAY_MS - 60_000);

  await retention.sweepAll();

  expect(await stores.redis.zrange(KEYS.archivedMarkers, '0', '-1')).toEqual(['T2']);
  for (const ref of ['T1', 'T2']) await stores.accept('tow_request', towRequest(ref), `again-${ref}`);
  expect(await stores.process('again-T1')).toBe('created');
  expect(await stores.process('again-T2')).toBe('late');
});
