import { readArchive } from '../../src/archive/read';
import { createAuditStore } from '../../src/store/ops/audit';
import { KEYS } from '../../src/store/keys';
import { verifyAudit } from '../../src/workflow/ops/verify-audit';
import { readAll } from '../archive/folder';
import { KEEP_NOTHING, createReleasedTow, openRetention, useRetention, type Retention } from '../support/retention';
import { type Stores } from '../support/stores';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
});

const linesInRedis = () => stores.redis.lrange(KEYS.audit, 0, -1);
const linesInArchive = async () =>
  (await readAll(dataDir.path)).flatMap((record) => (record.type === 'audit' ? [record.data.line] : []));
const check = async () =>
  verifyAudit({
    kept: await createAuditStore(stores.redis).lines(),
    archived: readArchive(dataDir.path, { type: 'audit' }),
    noted: null,
  });

/** Five entries for each. */
const live = async (...refs: string[]) => {
  for (const ref of refs) await createReleasedTow(stores, ref);
};

test('the audit is archived except for its last line, and the chain continues from it', async () => {
  await live('T1', 'T2');
  const before = await linesInRedis();

  await retention.sweepAll();
  expect(await linesInRedis()).toEqual(before.slice(-1));
  expect(await linesInArchive()).toEqual(before.slice(0, -1));

  await live('T3');
  expect(await check()).toMatchObject({ broken: null, extent: { firstSeq: 1, lastSeq: 15 } });
});

test('audit entries stay in Redis for their retention time', async () => {
  await live('T1');

  await retention.sweepAll({ keep: { ...KEEP_NOTHING, auditMs: 3_600_000, changesMs: 10 ** 12 } });

  expect(await linesInRedis()).toHaveLength(5);
  expect(await linesInArchive()).toEqual([]);
});

test('the audit chain is unbroken after a process died between archiving and deleting', async () => {
  await live('T1');
  const dies = retention.sweep({
    archive: {
      async append(records) {
        await retention.tools.archive.append(records);
        if (records[0]?.type === 'audit') throw new Error('killed');
      },
    },
  });
  await expect(dies).rejects.toThrow('killed');
  expect(await linesInRedis()).toHaveLength(5);
  await live('T2');

  const follower = openRetention(stores, dataDir.path, 2);
  await follower.sweepAll();
  await follower.close();

  expect(await linesInArchive()).toHaveLength(4 + 9);
  expect(await check()).toMatchObject({ broken: null, extent: { firstSeq: 1, lastSeq: 10 } });
});

test('the audit chain is unbroken after one of two archiving processes was frozen', async () => {
  await live('T1');
  const other = openRetention(stores, dataDir.path, 2);
  await retention.sweep({
    archive: {
      async append(records) {
        if (records[0]?.type === 'audit') {
          await live('T2');
          await other.sweepAll();
        }
        await retention.tools.archive.append(records);
      },
    },
  });
  await other.close();

  expect(await linesInRedis()).toHaveLength(1);
  expect(await check()).toMatchObject({ broken: null, extent: { firstSeq: 1, lastSeq: 10 } });
});

test('trimming the audit removes no line when its oldest lines have changed', async () => {
  await live('T1');
  const lines = await linesInRedis();

  await retention.tools.retention.trimAudit(lines.slice(1, 3));
  await retention.tools.retention.trimAudit(lines);

  expect(await linesInRedis()).toEqual(lines);
});
