import request from 'supertest';
import { messagesIn } from '../../src/console/messages';
import { DataKeys } from '../../src/platform/data-keys';
import { describeProcess } from '../../src/platform/process';
import { KEYS } from '../../src/store/keys';
import { signedIn, textOf } from '../console/visitor';
import { dataKeysText, linesOf, useDataKeysFile } from '../support/data-keys';
import { eventually } from '../support/eventually';
import { readMetricsText } from '../support/metrics-text';
import { useRedis } from '../support/redis';
import { useApps } from './apps';

const redis = useRedis();
const file = useDataKeysFile();
const { start } = useApps(redis);
const text = dataKeysText('a', 'b');

test('a process that lacks a data key raises an alarm that names key and remedy, and ends it when the key is back', async () => {
  await file.write(linesOf(text, 'a'));
  // What another process encrypted with its first key.
  const check = new DataKeys('', linesOf(text, 'b')).checkOf('b');
  await redis.ask('HSET', KEYS.dataKeys, 'b', check ?? '');
  const app = await start('all', { environment: { DATA_KEYS_FILE: file.path } });
  const { opsAlarms } = messagesIn('en');
  const { hostName: host } = describeProcess();
  const title = opsAlarms.dataKeysMissing.title({ role: opsAlarms.roles.all, host, keys: 'b' });
  const visitor = await signedIn(app);
  const opsPage = async () => textOf((await visitor.get('/ops')).html);
  const lacking = async () => {
    const { text: metrics } = await request(app.opsUrl).get('/metrics').expect(200);
    const series = readMetricsText(metrics).find(({ name }) => name === 'towhook_processes_without_data_keys');
    return series?.samples.find(({ labels }) => labels['role'] === 'all')?.value;
  };
  const readyz = async () => JSON.parse((await request(app.opsUrl).get('/readyz').expect(200)).text) as unknown;

  await eventually(async () => expect(await opsPage()).toContain(opsAlarms.dataKeysMissing.todo));
  expect(await opsPage()).toContain(title);
  await eventually(async () => expect(await lacking()).toBe(1));
  expect(await readyz()).toMatchObject({ missing_data_keys: ['b'] });

  await file.write(linesOf(text, 'a', 'b'));
  await eventually(async () => expect(await opsPage()).not.toContain(opsAlarms.dataKeysMissing.todo));
  await eventually(async () => expect(await lacking()).toBe(0));
  expect(await readyz()).not.toHaveProperty('missing_data_keys');
});

test('a process whose file of data keys becomes unusable raises the alarm until the file is right again', async () => {
  await file.write(linesOf(text, 'a'));
  const app = await start('all', { environment: { DATA_KEYS_FILE: file.path } });
  const visitor = await signedIn(app);
  const { opsAlarms } = messagesIn('en');
  const opsPage = async () => textOf((await visitor.get('/ops')).html);
  const readyz = async () => JSON.parse((await request(app.opsUrl).get('/readyz').expect(200)).text) as unknown;

  await file.write('this is no key');
  await eventually(async () => expect(await readyz()).toMatchObject({ missing_data_keys: ['DATA_KEYS_FILE'] }));
  await eventually(async () => expect(await opsPage()).toContain(opsAlarms.dataKeysMissing.todo));

  await file.write(linesOf(text, 'a'));
  await eventually(async () => expect(await opsPage()).not.toContain(opsAlarms.dataKeysMissing.todo));
});
