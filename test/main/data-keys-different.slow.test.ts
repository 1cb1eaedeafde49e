import { z } from 'zod';
import { DataKeys } from '../../src/platform/data-keys';
import { deliveryKey, KEYS } from '../../src/store/keys';
import { placeText } from '../../src/store/redis/at-rest';
import { startApp } from '../support/app';
import { dataKeysText, linesOf, useDataKeysFile } from '../support/data-keys';
import { startProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';
import { towRequest } from '../support/stores';

const redis = useOwnRedis();
const file = useDataKeysFile();
const right = dataKeysText('2026-11', '2027-05');
/** The file made a second time: the same ids, other keys. */
const second = dataKeysText('2026-11', '2027-05');

const encrypted = async (text: string) => {
  for (const [id, check] of new DataKeys('', text).currentChecks()) await redis.ask('HSET', KEYS.dataKeys, id, check);
};
const start = () => startProcess('receiver', { REDIS_URL: redis.url, DATA_KEYS_FILE: file.path });

test('a process does not start with another key of an id that stored data is encrypted under, and names it', async () => {
  await encrypted(right);
  await file.write(second);

  const started = await start();

  await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
  expect(started.problems()).toContain(
    'DATA_KEYS_FILE names a file whose key 2026-11 is not the one that encrypted the stored data',
  );
});

test('a process does not start with another key of search terms', async () => {
  await encrypted(right);
  await file.write(linesOf(right, '2026-11').replace(/search:.*/, linesOf(second).trim()));

  const started = await start();

  await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
  expect(started.problems()).toContain('whose key search is not the one');
});

test('a process that starts while Redis is away ends when Redis comes back with data under another key', async () => {
  await encrypted(right);
  await file.write(second);
  await redis.kill();
  const started = await start();
  await started.logged('process.started');

  await redis.start();

  expect(await started.exited).toBe(1);
});

test('a process starts with another key of an id that only opens data', async () => {
  await encrypted(right);
  await redis.ask(
    'HSET',
    KEYS.dataKeys,
    '2027-05',
    new DataKeys('', linesOf(right, '2027-05')).checkOf('2027-05') ?? '',
  );
  await file.write(linesOf(right, '2026-11') + linesOf(second, '2027-05').replace(/search:.*\n/, ''));

  const app = await startApp({ redisUrl: redis.url, role: 'console', environment: { DATA_KEYS_FILE: file.path } });

  await app.stop();
});

test('a running process keeps its keys when the file is made a second time', async () => {
  await file.write(right);
  const started = await start();
  await started.logged('process.started');
  const receiverUrl = await started.url('receiver');

  await file.write(second);

  const rule = (id: string) => `names a file whose key ${id} is not the one that encrypted the stored data`;
  const { faults } = await started.logged('data_keys.unusable');
  expect(faults).toHaveLength(2);
  expect(faults).toContainEqual({ variable: 'DATA_KEYS_FILE', rule: rule('2026-11') });
  expect(faults).toContainEqual({ variable: 'DATA_KEYS_FILE', rule: rule('search') });
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(towRequest('T1')),
  };
  expect((await fetch(`${receiverUrl}/tow-request`, init)).status).toBe(200);
  const [id = ''] = z.array(z.string()).parse(await redis.ask('ZRANGE', KEYS.indexDeliveries, '0', '-1'));
  const stored = z.string().parse(await redis.ask('HGET', deliveryKey(id), 'rawBody'));
  const place = placeText({ key: deliveryKey(id), field: 'rawBody' });
  expect(new DataKeys('', right).decrypt(place, stored)).toEqual({ kind: 'text', text: init.body });
});
