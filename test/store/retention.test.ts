import { z } from 'zod';
import { addEvent } from '../../src/domain/outbox/outbox-record';
import { KEYS, towKey } from '../../src/store/keys';
import type { Archive } from '../../src/workflow/ops/retention';
import { ALL_TOWS } from '../../src/workflow/list-port';
import { idsIn, readAll } from '../archive/folder';
import { standings } from '../support/conservation';
import {
  KEEP_NOTHING,
  lastingKeys,
  createCanceledTow,
  createReleasedTow,
  openRetention,
  useRetention,
  type Retention,
} from '../support/retention';
import { copyRecord } from '../support/stored-records';
import { ACCEPTED, mustClaim, result, START, towRequest, type Stores } from '../support/stores';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
});

const HOUR_MS = 3_600_000;
/** Each life has five facts; the last entry never leaves. */
const AUDIT_SEQS_OF_TWO_LIVES = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
const isThere = async (ref: string) => (await stores.tows.read(ref)) !== null;
const hasMarker = async (ref: string) => (await stores.redis.zscore(KEYS.archivedMarkers, ref)) !== null;
const archivedTows = () => idsIn(dataDir.path, { type: 'tow' });
const tasksOf = async (ref: string) => (await stores.read(ref)).tasks;

/** Closes the only task of a tow as a person does. */
async function resolveTaskOf(ref: string): Promise<void> {
  const [task] = await tasksOf(ref);
  if (!task) throw new Error('no task to resolve');
  expect(await stores.resolve(task.id)).toBe('done');
}

/** Archives, and once tows are archived does something before any of them is deleted. */
function archiveTowsAndThen(meanwhile: () => Promise<unknown>): Archive {
  return {
    async append(records) {
      await retention.tools.archive.append(records);
      if (records[0]?.type === 'tow') await meanwhile();
    },
  };
}

/** The archive is kept forever, so its names stay when the code renames a field. */
const REPORT_FIELDS = `
  answer attempts body brokenAnswer createdAtMs deliveredAtMs giveUpAtMs hint id inFlight kind lastError log
  mayHaveHadEffect nextAttemptAtMs reason revision seq state waitsFor
`
  .trim()
  .split(/\s+/);

describe('retention of a finished tow', () => {
  test('a tow stays when a failover loses the archived change and another one follows', async () => {
    await createCanceledTow(stores, 'T1');
    const failOver = await copyRecord(stores.redis, towKey('T1'));
    const change = (type: string) => stores.change('T1', (draft, nowMs) => addEvent(draft, { type }, nowMs));
    await change('lost');
    const archived = await stores.read('T1');
    const archive = archiveTowsAndThen(async () => {
      await failOver();
      await change('kept');
    });

    await retention.sweep({ archive });

    expect((await stores.read('T1')).version).toBe(archived.version);
    expect((await stores.read('T1')).timeline.at(-1)).toMatchObject({ type: 'kept' });
  });

  test('a finished tow is archived completely, with facts, attempts, invoices and timeline', async () => {
    await createReleasedTow(stores, 'T1');
    const { tow, version, reports, timeline } = await stores.read('T1');

    await retention.sweepAll();

    const [archived] = await readAll(dataDir.path, { type: 'tow' });
    expect(archived).toMatchObject({ type: 'tow', id: 'T1' });
    expect(archived?.data).toMatchObject(JSON.parse(JSON.stringify({ tow, version, timeline })));
    expect(Object.keys(archived?.data ?? {}).toSorted()).toEqual(['reports', 'timeline', 'tow', 'version']);
    const started = { id: 'started-1', state: 'accepted', body: reports[0]?.body, inFlight: false, lastError: null };
    const { reports: archivedReports } = z.object({ reports: z.array(z.looseObject({})) }).parse(archived?.data);
    expect(archivedReports[0]).toMatchObject({ ...started, log: reports[0]?.log });
    for (const report of archivedReports) expect(Object.keys(report).toSorted()).toEqual(REPORT_FIELDS);
    expect(reports.map(({ kind, log }) => `${kind} ${log.length}`)).toEqual([
      'started 1',
      'detained 1',
      'invoice 1',
      'payment 1',
      'released 1',
    ]);
    expect(tow.invoiceWebhooks).toHaveLength(1);
  });

  test('an archived tow leaves only its archived marker in Redis, and does not count as lost', async () => {
    await createReleasedTow(stores, 'T1');
    await createCanceledTow(stores, 'T2');

    await retention.sweepAll();

    expect(await standings(stores.redis)).toEqual({ deliveries: {}, reports: {} });
    const lasting = (await lastingKeys(stores)).filter(({ key }) => !/:(check|last-check)$/.test(key));
    expect(lasting).toEqual([
      { key: KEYS.audit, size: 1 },
      { key: KEYS.archivedMarkers, size: 2 },
    ]);
    const search = { ...ALL_TOWS, search: 'T1', cursor: null, limit: 10 };
    expect((await stores.tows.list(search)).items).toEqual([]);
  });

  test('a finished tow stays in Redis for its retention time', async () => {
    await createCanceledTow(stores, 'T1');

    await retention.sweepAll({ keep: { ...KEEP_NOTHING, towsMs: HOUR_MS } });
    expect(await isThere('T1')).toBe(true);

    await retention.sweepAll();
    expect(await isThere('T1')).toBe(false);
  });

  test('a finished tow stays in Redis while one of its reports is not accepted', async () => {
    await stores.request('T1');
    await stores.say('T1', { event: 'canceled', cancellationReason: 'Gone' });

    await retention.sweepAll();
    expect(await isThere('T1')).toBe(true);

    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    await retention.sweepAll();
    expect(await archivedTows()).toEqual(['T1']);
  });

  test('a finished tow stays in Redis while a task needs a decision, and is removed after the decision', async () => {
    await stores.request('T1');
    await stores.accept('tow_request', { ...towRequest('T1'), violation_reference_id: 'V-other' }, 'rival');
    await stores.process('rival');
    await stores.say('T1', { event: 'canceled', cancellationReason: 'Gone' });
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    expect(await tasksOf('T1')).toMatchObject([{ type: 'rival_request' }]);

    await retention.sweepAll();
    expect(await isThere('T1')).toBe(true);
    expect(await archivedTows()).toEqual([]);

    await resolveTaskOf('T1');
    await retention.sweepAll();
    expect(await archivedTows()).toEqual(['T1']);
    expect(await hasMarker('T1')).toBe(true);
  });

  test('a tow that changes after it was archived stays in Redis and is archived again with the change', async () => {
    await createCanceledTow(stores, 'T1');
    await stores.acceptInvoice('T1');

    await retention.sweep({ archive: archiveTowsAndThen(() => stores.process('invoice-T1')) });
    expect((await stores.read('T1')).tow.invoiceWebhooks).toHaveLength(1);

    await retention.sweepAll();
    expect(await isThere('T1')).toBe(false);
    const [before, after] = await readAll(dataDir.path, { type: 'tow', id: 'T1' });
    expect(before?.data).toMatchObject({ tow: { invoiceWebhooks: [] } });
    expect(after?.data).toMatchObject({ tow: { invoiceWebhooks: [{ deliveryId: 'invoice-T1' }] } });
  });

  test('a tow whose task opens after it was archived stays in Redis and is archived again later', async () => {
    await createCanceledTow(stores, 'T1');
    await stores.accept('tow_request', { ...towRequest('T1'), violation_reference_id: 'V-other' }, 'rival');

    await retention.sweep({ archive: archiveTowsAndThen(() => stores.process('rival')) });

    expect(await tasksOf('T1')).toHaveLength(1);
    await resolveTaskOf('T1');
    await retention.sweepAll();
    const [before, after] = await readAll(dataDir.path, { type: 'tow', id: 'T1' });
    expect(before?.data).toMatchObject({ tow: { rivalRequests: [] } });
    expect(after?.data).toMatchObject({ tow: { rivalRequests: [{ deliveryId: 'rival' }] } });
    expect(await isThere('T1')).toBe(false);
  });
});

test('an unfinished tow stays in Redis however long it does not change', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
  await stores.redis.zadd(KEYS.retireTows, 1, 'T1');

  await retention.sweepAll();

  expect(await stores.states('T1')).toEqual(['started accepted']);
  expect(await stores.redis.zcard(KEYS.retireTows)).toBe(0);
});

test('a record archived but not deleted when its process died is archived again, and the last copy counts', async () => {
  await createReleasedTow(stores, 'T1');
  const dies = archiveTowsAndThen(() => Promise.reject(new Error('killed')));
  await expect(retention.sweep({ archive: dies })).rejects.toThrow('killed');
  expect(await isThere('T1')).toBe(true);

  const follower = openRetention(stores, dataDir.path, 2);
  await follower.sweepAll();
  await follower.close();

  expect(await isThere('T1')).toBe(false);
  const tow = await readAll(dataDir.path, { type: 'tow' });
  expect(tow.map(({ id }) => id)).toEqual(['T1', 'T1']);
  expect(tow[1]?.data).toEqual(tow[0]?.data);
});

test('no record is deleted from Redis while the archive cannot be written', async () => {
  await createReleasedTow(stores, 'T1');
  const before = await lastingKeys(stores);
  const full: Archive = { append: () => Promise.reject(new Error('the disk is full')) };

  await expect(retention.sweep({ archive: full })).rejects.toThrow('the disk is full');

  expect(await lastingKeys(stores)).toEqual(before);
});

test.each(['delivery', 'tow', 'audit'] as const)(
  'two concurrent sweeps, one frozen while it archives a %s, lose no record and delete none twice',
  async (type) => {
    for (const ref of ['T1', 'T2']) await createReleasedTow(stores, ref);
    const other = openRetention(stores, dataDir.path, 2);
    const frozen: Archive = {
      async append(records) {
        if (records[0]?.type === type) await other.sweepAll();
        await retention.tools.archive.append(records);
      },
    };

    await retention.sweepAll({ archive: frozen });
    await other.close();

    const archived = new Set(await idsIn(dataDir.path));
    const deliveries = ['request-T1', 'invoice-T1', 'request-T2', 'invoice-T2'];
    expect(archived).toEqual(new Set([...deliveries, 'T1', 'T2', ...AUDIT_SEQS_OF_TWO_LIVES]));
    expect(await stores.redis.zcard(KEYS.archivedMarkers)).toBe(2);
    expect(await stores.redis.llen(KEYS.audit)).toBe(1);
    expect(await standings(stores.redis)).toEqual({ deliveries: {}, reports: {} });
  },
);

test('a record that cannot be decoded is logged without its content and postponed, and the sweep continues', async () => {
  for (const ref of ['T1', 'T2']) await createCanceledTow(stores, ref);
  await stores.redis.hset('{towhook-main}:tow:T1', 'head', '{"plateNumber": ABC 1234}');
  const said: unknown[] = [];
  const log = { ...retention.tools.log, error: (event: string, fields: object = {}) => said.push(event, fields) };

  await retention.sweepAll({ log });
  await retention.sweepAll({ log });

  expect(await archivedTows()).toEqual(['T2']);
  expect(said).toEqual(['retention.unreadable', { what: 'tow', id: 'T1', error_name: 'SyntaxError' }]);
  expect(await stores.redis.exists('{towhook-main}:tow:T1')).toBe(1);
});

test('a timeout while a record is read fails the sweep, and the next one archives the record', async () => {
  await createCanceledTow(stores, 'T1');
  const said: string[] = [];
  const log = { ...retention.tools.log, error: (event: string) => said.push(event) };
  const tows = { read: () => Promise.reject(new Error('Command timed out')) };

  await expect(retention.sweep({ log, tows })).rejects.toThrow('Command timed out');
  await retention.sweepAll({ log });

  expect(said).toEqual([]);
  expect(await archivedTows()).toEqual(['T1']);
});
