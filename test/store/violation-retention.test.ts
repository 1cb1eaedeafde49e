import { Committer } from '../../src/store/redis/commit';
import { KEYS } from '../../src/store/keys';
import type { Archive } from '../../src/workflow/ops/retention';
import { idsIn, readAll } from '../archive/folder';
import { violationStandings } from '../support/conservation';
import { eventually } from '../support/eventually';
import { KEEP_NOTHING, lastingKeys, useRetention, type Retention } from '../support/retention';
import type { Stores } from '../support/stores';
import {
  claimAs,
  decide,
  idNamed,
  join,
  createAcceptedViolation,
  mustClaimViolation,
  openOutbox,
  readViolation,
  report,
  reportViolations,
  violationOf,
} from '../support/violations';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
});

const HOUR_MS = 3_600_000;

/** Removes an archived violation; does something after its names were read and before they are removed. */
async function removeAndBeforeCommit(id: string, meanwhile: () => Promise<void>): Promise<string> {
  const version = await retention.tools.retention.versionOf('violation', id);
  jest.spyOn(Committer.prototype, 'commit').mockImplementationOnce(async function (this: Committer, commit, options) {
    await meanwhile();
    return this.commit(commit, options);
  });
  return retention.tools.retention.remove('violation', id, version);
}

const isThere = async (id: string) => (await stores.violations.read(id)) !== null;
const archived = () => idsIn(dataDir.path, { type: 'violation' });

/** The archive is kept forever, so its names stay when the code renames a field. */
const VIOLATION_FIELDS = `
  acceptedAtMs acceptedHow answer attempts brokenAnswer canTow giveUpAtMs hint inFlight lastError log
  mayHaveHadEffect nextAttemptAtMs reason reference references revision serviceStatus state ticket
  ticketOverruled towingReferenceIds version violation waitsFor withheld
`
  .trim()
  .split(/\s+/);

describe('retention of a settled violation', () => {
  test('a settled violation is archived completely and unchanged', async () => {
    await createAcceptedViolation(stores, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-U1' });
    const record = await readViolation(stores, 'U1');

    await retention.sweepAll();

    const [line] = await readAll(dataDir.path, { type: 'violation' });
    expect(line).toMatchObject({ type: 'violation', id: 'U1' });
    const { violation, references, log, settledAtMs: acceptedAtMs } = record;
    const answered = { state: 'accepted', inFlight: false, acceptedHow: 'answered', acceptedAtMs, lastError: null };
    const kept = { violation, reference: 'V-U1', references, towingReferenceIds: ['TW-1'], attempts: 1, log };
    expect(line?.data).toMatchObject(JSON.parse(JSON.stringify({ ...answered, ...kept })));
    expect(Object.keys(line?.data ?? {}).toSorted()).toEqual(VIOLATION_FIELDS);
  });

  test('an archived violation leaves no reference, search term or mark in Redis, and does not count as lost', async () => {
    await createAcceptedViolation(stores, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-other' });
    const { record } = await claimAs(openOutbox(stores), 'U1', 'cleanup');
    await openOutbox(stores).completeCleanup(record);

    await retention.sweepAll();

    expect(await violationStandings(stores.redis)).toEqual({});
    const lasting = (await lastingKeys(stores)).filter(({ key }) => !/:(check|last-check)$/.test(key));
    expect(lasting).toEqual([{ key: KEYS.audit, size: 1 }]);
    expect(await report(stores, violationOf('U2', { metadata: { id: 'own-U1' } }))).toBe('saved');
  });

  test('an archived violation does not remove a reference that belongs to another violation', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await createAcceptedViolation(stores, 'U2', 'V-1');
    expect(await stores.resolve('violation_mismatch.U2')).toBe('done');
    await stores.redis.zadd(KEYS.retireViolations, Date.now() + HOUR_MS, 'U1');

    await retention.sweepAll();

    expect(await isThere('U2')).toBe(false);
    expect(await idNamed(stores, 'V-1')).toBe('U1');
  });

  test('a waived violation does not remove an id in the metadata that another violation takes meanwhile', async () => {
    await reportViolations(stores, 'U1');
    await decide(stores, 'U1', { action: 'waive', reason: 'no' });
    const { record } = await claimAs(openOutbox(stores), 'U1', 'cleanup');
    await openOutbox(stores).completeCleanup(record);

    const removal = await removeAndBeforeCommit('U1', async () => {
      expect(await report(stores, violationOf('U2', { metadata: { id: 'own-U1' } }))).toBe('saved');
    });

    expect(removal).toBe('removed');
    expect(await isThere('U1')).toBe(false);
    expect((await readViolation(stores, 'own-U1')).violation.id).toBe('U2');
  });

  test('an archived violation does not remove a reference that another violation gets meanwhile', async () => {
    await createAcceptedViolation(stores, 'U1', 'V-1');
    await createAcceptedViolation(stores, 'U2');

    const removal = await removeAndBeforeCommit('U1', () =>
      join(stores, 'U2', { towingReference: 'TW-1', reference: 'V-1' }),
    );

    expect(removal).toBe('removed');
    expect(await idNamed(stores, 'V-1')).toBe('U2');
  });

  test('a settled violation stays in Redis for its retention time', async () => {
    await createAcceptedViolation(stores, 'U1');

    await retention.sweepAll({ keep: { ...KEEP_NOTHING, violationsMs: HOUR_MS } });
    expect(await isThere('U1')).toBe(true);

    await retention.sweepAll();
    expect(await archived()).toEqual(['U1']);
  });

  test('a settled violation stays in Redis until its tows are matched and its files are deleted', async () => {
    await reportViolations(stores, 'U1');
    await decide(stores, 'U1', { action: 'waive', reason: 'no' });
    await retention.sweepAll();
    expect(await isThere('U1')).toBe(true);

    const { record } = await claimAs(openOutbox(stores), 'U1', 'cleanup');
    await openOutbox(stores).completeCleanup(record);
    await retention.sweepAll();
    expect(await isThere('U1')).toBe(false);
  });

  test('a settled violation that changed since it was archived stays in Redis and is archived again', async () => {
    await createAcceptedViolation(stores, 'U1');
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

test('a violation that is not settled stays in Redis at any age', async () => {
  const outbox = openOutbox(stores);
  await reportViolations(stores, 'U1', 'U2', 'U3');
  await mustClaimViolation(outbox, 'U2');
  await mustClaimViolation(outbox, 'U3');
  await eventually(() => claimAs(outbox, 'U3', 'escalated'));

  await retention.sweepAll();

  expect(await Promise.all(['U1', 'U2', 'U3'].map(isThere))).toEqual([true, true, true]);
  expect(await archived()).toEqual([]);
});

test('a violation that cannot be decoded is postponed, and the sweep archives the others', async () => {
  await createAcceptedViolation(stores, 'U1');
  await createAcceptedViolation(stores, 'U2');
  await stores.redis.hset('{towhook-main}:violation:U1', 'document', 'broken');

  await retention.sweepAll();

  expect(await archived()).toEqual(['U2']);
  expect(Number(await stores.redis.zscore(KEYS.retireViolations, 'U1'))).toBeGreaterThan(Date.now());
});
