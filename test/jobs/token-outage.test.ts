import { CALLS, runOutbox } from '../../jobs/run-outbox';
import { createMemoryTokenCache } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import type { TokenCache } from '../../src/workflow/service/service-port';
import { clientFor, useFakeService } from '../service/client-under-test';
import { enveloped, json, type FakeReply, type FakeService } from '../service/fake-service';
import { eventually } from '../support/eventually';
import { readCircuits } from '../support/stored-records';
import { FAST_RETRIES, START, useStores } from '../support/stores';
import { unobserved } from '../support/unobserved';
import { unstopped } from './run-steps';

const stores = useStores();
let fake: FakeService;
useFakeService((world) => ({ fake } = world));

const TOWS = ['A', 'B', 'C', 'D', 'E', 'F'];
beforeEach(async () => {
  for (const ref of TOWS) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
  fake.onCall(({ body }) =>
    enveloped({ towing_reference_id: /"towing_reference_id":"(\w+)"/.exec(String(body))?.[1] }),
  );
});

async function runAll(also: Partial<TokenCache> = {}): Promise<void> {
  const service = clientFor(fake.url, { tokens: { ...createMemoryTokenCache(systemClock), ...also } });
  const { records, outbox } = stores;
  const tools = { records, outbox, service, settings: FAST_RETRIES, claimMaxAgeMs: 5000, ...unobserved() };
  for (const ref of TOWS) await runOutbox(CALLS.tow, ref, tools, unstopped);
}

async function tasks(): Promise<string[]> {
  return (await stores.redis.hvals(KEYS.tasks)).map((task) => /"type":"(\w+)"/.exec(task)?.[1] ?? task);
}

const openCircuits = async () => Object.keys((await readCircuits(stores.redis)).open);

async function expectAllAccepted(): Promise<void> {
  await eventually(async () => {
    await runAll();
    expect(await Promise.all(TOWS.map((ref) => stores.states(ref)))).toEqual(TOWS.map(() => ['started accepted']));
  });
}

test.each<[string, FakeReply]>([
  ['500', json({ message: 'Internal Server Error' }, 500)],
  ['502 of a gateway', { status: 502, body: '<html>' }],
  ['503', json({ message: 'maintenance' }, 503)],
])('a service that answers the token call with %s has an outage, with one circuit and one task', async (_, reply) => {
  fake.onTokenCall(() => reply);
  await eventually(async () => {
    await runAll();
    expect(await openCircuits()).toEqual(['outage']);
  });
  await runAll();
  expect(await openCircuits()).toEqual(['outage']);
  expect(await tasks()).toEqual(['outage']);

  fake.onTokenCall(() => enveloped({ token: 'a-token' }));
  await expectAllAccepted();
  expect([await openCircuits(), await tasks()]).toEqual([[], []]);
});

test.each([
  [401, 'Check SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET.'],
  [403, 'Check SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET.'],
  [404, 'Check SERVICE_BASE_URL, and whether a page'],
])('a %s to the token call breaks the connection, and its task names what to check: %s', async (status, advice) => {
  fake.onTokenCall(() => json({ message: 'no' }, status));
  await runAll();

  expect(await openCircuits()).toEqual(['connection']);
  const [task = ''] = await stores.redis.hvals(KEYS.tasks);
  expect(task).toContain(advice);
  expect(task.includes('SERVICE_CLIENT_SECRET')).toBe(status !== 404);
});

test('a Redis that fails while a token is fetched opens no circuit and no task', async () => {
  const fail = () => Promise.reject(new Error('Connection is closed.'));
  await runAll({ read: fail, tryLock: fail, unlock: fail });

  expect([await openCircuits(), await tasks()]).toEqual([[], []]);
  expect((await stores.read('A')).reports[0]).toMatchObject({ state: 'pending', attempts: 0, failures: 0 });
  await expectAllAccepted();
});
