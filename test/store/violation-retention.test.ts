import { violationContractTask } from '../../src/domain/violation-tasks';
import { KEYS } from '../../src/store/keys';
import type { Archive } from '../../src/workflow/retention-port';
import { idsIn, readAll, useDataDir } from '../archive/folder';
import { violationStandings } from '../support/conservation';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { KEEP_NOTHING, lastingKeys, openRetention } from '../support/retention';
import { openStores, type Stores } from '../support/stores';
import {
  claimAs,
  decide,
  idNamed,
  join,
  liveAndBeAccepted,
  mustClaimViolation,
  openOutbox,
  readViolation,
  report,
  reportViolations,
  takenAs,
  violationOf,
} from '../support/violations';

const redis = useRedis();
const dataDir = useDataDir();
let stores: Stores;
let retention: ReturnType<typeof openRetention>;
beforeEach(async () => {
  stores = await openStores(redis.url);
  retention = openRetention(stores, dataDir.path);
});
afterEach(async () => {
  await retention.close();
  stores.close();
});

const HOUR_MS = 3_600_000;
const isThere = async (id: string) => (await stores.violations.read(id)) !== null;
const archived = () => idsIn(dataDir.path, { type: 'violation' });

describe('a settled violation', () => {
  test('leaves whole, and stands in the archive as it was', async () => {
    await liveAndBeAccepted(stores, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-U1' });
    const record = await readViolation(stores, 'U1');

    await retention.sweepAll();

    const [line] = await readAll(dataDir.path, { type: 'violation' });
    expect(line).toMatchObject({ type: 'violation', id: 'U1' });
    expect(line?.data).toEqual(JSON.parse(JSON.stringify(record)));
    expect(record).toMatchObject({ reference: 'V-U1', towingReferenceIds: ['TW-1'], attempts: 1 });
  });

  test('leaves nothing behind: no name, no word, no mark; and nothing is lost by it', async () => {
    await liveAndBeAccepted(stores, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-other' });
    const { record } = await claimAs(openOutbox(stores), 'U1', 'finish');
    await openOutbox(stores).finished(record);

    await retention.sweepAll();

    expect(await violationStandings(stores.redis)).toEqual({});
    const lasting = (await lastingKeys(stores)).filter(({ key }) => !/:(walk|last-walk)$/.test(key));
    expect(lasting).toEqual([{ key: KEYS.audit, size: 1 }]);
    expect(await report(stores, violationOf('U2', { metadata: { id: 'own-U1' } }))).toBe('saved');
  });

  test('keeps a name that another one has where it is', async () => {
    await liveAndBeAccepted(stores, 'U1', 'V-1');
    await liveAndBeAccepted(stores, 'U2', 'V-1');
    await stores.redis.zadd(KEYS.retireViolations, Date.now() + HOUR_MS, 'U1');

    await retention.sweepAll();

    expect(await isThere('U2')).toBe(false);
    expect(await idNamed(stores, 'V-1')).toBe('U1');
  });

  test('stays for its time', async () => {
    await liveAndBeAccepted(stores, 'U1');

    await retention.sweepAll({ keep: { ...KEEP_NOTHING, violationsMs: HOUR_MS } });
    expect(await isThere('U1')).toBe(true);

    await retention.sweepAll();
    expect(await archived()).toEqual(['U1']);
  });

  test('stays until its tows are joined and its files are gone', async () => {
    await reportViolations(stores, 'U1');
    await decide(stores, 'U1', { action: 'waive', reason: 'no' });
    await retention.sweepAll();
    expect(await isThere('U1')).toBe(true);

    const { record } = await claimAs(openOutbox(stores), 'U1', 'finish');
    await openOutbox(stores).finished(record);
    await retention.sweepAll();
    expect(await isThere('U1')).toBe(false);
  });

  test('stays while somebody is to look at its answer, and leaves once he has', async () => {
    const outbox = openOutbox(stores);
    await reportViolations(stores, 'U1');
    const task = violationContractTask({ id: 'U1', httpStatus: 200 });
    await outbox.ack(await mustClaimViolation(outbox, 'U1'), takenAs('V-1', { task, rawBody: 'odd' }));
    const finish = async () => {
      const { record } = await claimAs(outbox, 'U1', 'finish');
      await outbox.finished(record);
    };
    await finish();
    await retention.sweepAll();
    expect(await isThere('U1')).toBe(true);

    expect(await stores.resolve('violation_contract.U1')).toBe('done');
    await retention.sweepAll();
    expect(await isThere('U1')).toBe(true);

    // Its images go only now.
    await finish();
    await retention.sweepAll();
    expect(await archived()).toEqual(['U1']);
  });

  test('stays when it has changed since it was archived, and is archived again', async () => {
    await liveAndBeAccepted(stores, 'U1');
    let changes = 0;
    const archive: Archive = {
      async append(records) {
        await retention.tools.archive.append(records);
        if (records[0]?.type !== 'violation' || changes > 0) return;
        changes += 1;
        await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-U1' });
      },
    };
    await retention.sweep({ archive });
    expect(await isThere('U1')).toBe(true);

    await retention.sweepAll({ archive });

    expect(await isThere('U1')).toBe(false);
    const lines = await readAll(dataDir.path, { type: 'violation' });
    expect(lines.map(({ data }) => data)).toMatchObject([{ towingReferenceIds: [] }, { towingReferenceIds: ['TW-1'] }]);
  });
});

test('a violation that is not settled stays, however old', async () => {
  const outbox = openOutbox(stores);
  await reportViolations(stores, 'U1', 'U2', 'U3');
  await mustClaimViolation(outbox, 'U2');
  await mustClaimViolation(outbox, 'U3');
  await eventually(() => claimAs(outbox, 'U3', 'escalated'));

  await retention.sweepAll();

  expect(await Promise.all(['U1', 'U2', 'U3'].map(isThere))).toEqual([true, true, true]);
  expect(await archived()).toEqual([]);
});

test('one that cannot be read is put off, and the others leave', async () => {
  await liveAndBeAccepted(stores, 'U1');
  await liveAndBeAccepted(stores, 'U2');
  await stores.redis.hset('{p0}:violation:U1', 'document', 'broken');

  await retention.sweepAll();

  expect(await archived()).toEqual(['U2']);
  expect(Number(await stores.redis.zscore(KEYS.retireViolations, 'U1'))).toBeGreaterThan(Date.now());
});
