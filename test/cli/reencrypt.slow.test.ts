import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { archiveFolder } from '../../src/archive/files';
import { DataKeys } from '../../src/platform/data-keys';
import { KEYS, lockEpochKey, lockKey } from '../../src/store/keys';
import { dataKeysText, linesOf, useDataKeysFile } from '../support/data-keys';
import { idsIn, useDataDir, writeBatches } from '../archive/folder';
import { awayFromMidnight } from '../support/midnight';
import { useRedis } from '../support/redis';
import { reencryptProblem } from '../../src/commands/reencrypt';
import { runProgram } from './command';

const redis = useRedis();
beforeEach(awayFromMidnight);
const file = useDataKeysFile();
const text = dataKeysText('a', 'b');
const dataDir = useDataDir();
const reencrypt = (...words: readonly string[]) =>
  runProgram(['re-encrypt', '--json', ...words], {
    environment: { REDIS_URL: redis.url, DATA_DIR: dataDir.path, DATA_KEYS_FILE: file.path },
  });

test('towhook re-encrypt counts what is plain, encrypts it, and rotates to the first key', async () => {
  await redis.ask('HSET', KEYS.tasks, 'T', '{"message":"of Salem"}');
  await file.write(linesOf(text, 'a'));
  const checked = await reencrypt('--check');
  expect([checked.exitCode, checked.json()]).toEqual([
    1,
    { first: 'a', keys: [{ id: 'a', values: 0, known: true }], plain: 1 },
  ]);
  expect((await reencrypt()).exitCode).toBe(0);
  expect(await redis.ask('HGET', KEYS.tasks, 'T')).toMatch(/^aes:1:a:/);

  await file.write(linesOf(text, 'b', 'a'));
  const rotated = await reencrypt();
  expect([rotated.exitCode, rotated.json()]).toMatchObject([0, { first: 'b', plain: 0 }]);
  expect(await redis.ask('HKEYS', KEYS.dataKeys)).not.toContain('a');
  expect(await redis.ask('HGET', KEYS.tasks, 'T')).toMatch(/^aes:1:b:/);
});

test('towhook re-encrypt names a key that is missing, and leaves what is encrypted under it', async () => {
  await redis.ask('HSET', KEYS.tasks, 'T', 'aes:1:gone:AAAA');
  await file.write(linesOf(text, 'a'));

  const { exitCode, json } = await reencrypt();
  expect([exitCode, json()]).toMatchObject([1, { keys: [{ id: 'a' }, { id: 'gone', values: 1, known: false }] }]);
  expect(await redis.ask('HGET', KEYS.tasks, 'T')).toBe('aes:1:gone:AAAA');
});

test('towhook re-encrypt also encrypts images, and refuses another disk than the one in use', async () => {
  await file.write(linesOf(text, 'a'));
  const photo = join(dataDir.path, 'photos', 'T1', '11111111-2222-4333-8444-555555555555.1');
  await mkdir(dirname(photo), { recursive: true });
  await mkdir(join(dataDir.path, 'spool'));
  await writeFile(photo, 'a photo');

  expect((await reencrypt('--check')).json()).toMatchObject({ keys: [{ id: 'a', values: 0 }], plain: 1 });
  const { exitCode, json } = await reencrypt();
  expect([exitCode, json()]).toMatchObject([0, { keys: [{ id: 'a', values: 1 }], plain: 0 }]);
  expect((await readFile(photo)).toString('latin1')).toMatch(/^aes:1:a:/);

  await redis.ask('SET', KEYS.spoolMarker, 'of another disk');
  const refused = await reencrypt();
  expect([refused.exitCode, JSON.stringify(refused.json())]).toEqual([3, expect.stringContaining('(foreign)')]);
});

test('towhook re-encrypt encrypts the archive but for the file that a process writes today, and forgets no key of it', async () => {
  await file.write(linesOf(text, 'a'));
  const [today, yesterday] = [Date.now(), Date.now() - 86_400_000];
  await writeBatches(dataDir.path, [['d1'], ['d2']], { epoch: 7, nowMs: yesterday });
  await writeBatches(dataDir.path, [['d3']], { epoch: 7, nowMs: today });
  await redis.ask('SET', lockKey('retention'), 'a worker');
  await redis.ask('SET', lockEpochKey('retention'), '7');
  expect((await reencrypt('--check')).json()).toMatchObject({ keys: [{ id: 'a', values: 0 }], plain: 3 });

  const first = await reencrypt();
  expect([first.exitCode, first.json()]).toMatchObject([1, { keys: [{ id: 'a', values: 2 }], plain: 1 }]);
  await redis.ask('DEL', lockKey('retention'));
  expect((await reencrypt()).exitCode).toBe(0);

  await file.write(linesOf(text, 'b', 'a'));
  await redis.ask('SET', lockKey('retention'), 'a worker');
  const rotated = await reencrypt();
  expect([rotated.exitCode, rotated.json()]).toMatchObject([
    1,
    {
      keys: [
        { id: 'b', values: 2 },
        { id: 'a', values: 1 },
      ],
    },
  ]);
  expect(await redis.ask('HKEYS', KEYS.dataKeys)).toContain('a');
  await redis.ask('DEL', lockKey('retention'));
  expect((await reencrypt()).exitCode).toBe(0);
  expect(await redis.ask('HKEYS', KEYS.dataKeys)).not.toContain('a');
  expect(await idsIn(dataDir.path, { keys: new DataKeys('', linesOf(text, 'b')) })).toEqual(['d1', 'd2', 'd3']);
});

test('towhook re-encrypt names a broken file of the archive, and forgets no key while there is one', async () => {
  await file.write(linesOf(text, 'a'));
  await reencrypt();
  await writeBatches(dataDir.path, [['d1']], { nowMs: Date.now(), keys: new DataKeys('', linesOf(text, 'a')) });
  const [name = ''] = await readdir(archiveFolder(dataDir.path));
  await writeFile(join(archiveFolder(dataDir.path), name), 'bytes that towhook did not write, long enough');
  await file.write(linesOf(text, 'b', 'a'));

  const { exitCode, json } = await reencrypt();
  expect([exitCode, json()]).toMatchObject([1, { broken: [`${name}: batch 1 does not begin as a batch does`] }]);
  expect(await redis.ask('HKEYS', KEYS.dataKeys)).toContain('a');
});

test('towhook re-encrypt names a file of the archive that was renamed, because its batches do not open', async () => {
  await writeBatches(dataDir.path, [['d1']], { keys: new DataKeys('', linesOf(text, 'a')) });
  const [name = ''] = await readdir(archiveFolder(dataDir.path));
  const renamed = name.replace('.1.', '.11.');
  await rename(join(archiveFolder(dataDir.path), name), join(archiveFolder(dataDir.path), renamed));
  await file.write(linesOf(text, 'b', 'a'));

  const { exitCode, json } = await reencrypt();
  const problem = `${renamed}: batch 1 cannot be decrypted with the data key "a": it was moved or changed, or DATA_KEYS_FILE has another key of this id`;
  expect([exitCode, json()]).toMatchObject([1, { broken: [problem] }]);

  await rename(join(archiveFolder(dataDir.path), renamed), join(archiveFolder(dataDir.path), name));
  expect((await reencrypt()).exitCode).toBe(0);
});

test.each(['a', 'search'])(
  'towhook re-encrypt changes nothing with another key of the id %s than that of the data',
  async (id) => {
    await file.write(linesOf(text, 'a'));
    await reencrypt();
    await redis.ask('HSET', KEYS.tasks, 'T', '{"message":"of Salem"}');
    await writeBatches(dataDir.path, [['d1']]);
    const otherLine = linesOf(dataKeysText('a'), 'a')
      .split('\n')
      .find((line) => line.startsWith(`${id}:`));
    await file.write(linesOf(text, 'a').replace(new RegExp(`^${id}:.*$`, 'm'), otherLine ?? ''));

    const { exitCode, problems } = await reencrypt();
    expect([exitCode, problems]).toEqual([
      2,
      expect.stringContaining(`has another key of the id ${id} than the stored data`),
    ]);
    expect(await redis.ask('HGET', KEYS.tasks, 'T')).toBe('{"message":"of Salem"}');
    expect(await idsIn(dataDir.path)).toEqual(['d1']);
  },
);

test('towhook re-encrypt names the remedy when the disk refuses', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(reencryptProblem(full)).toBe(
    'ENOSPC: no space left on device, write. No data is lost: make room on the disk of DATA_DIR, and run the command again.',
  );
  expect(reencryptProblem(new Error('Redis does not answer'))).toBe('Redis does not answer');
});

test('towhook re-encrypt needs the file of data keys', async () => {
  const { exitCode, problems } = await runProgram(['re-encrypt'], { environment: { REDIS_URL: redis.url } });
  expect([exitCode, problems]).toEqual([2, expect.stringContaining('DATA_KEYS_FILE is required by this command')]);
});
