import { openServiceClient } from '../../src/main/service';
import { requireService } from '../../src/platform/config/config';
import { KEYS } from '../../src/store/keys';
import { startFakeService, type FakeService } from '../service/fake-service';
import { REQUESTS } from '../service/client-under-test';
import { startApp } from '../support/app';
import { useRedis } from '../support/redis';

const redis = useRedis();
const opened: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const resource of opened.splice(0).toReversed()) await resource.stop();
});

async function startService(): Promise<FakeService> {
  const service = await startFakeService();
  opened.push(service);
  return service;
}

/** Makes a call as a process with these settings does, and waits for its answer. */
async function callFrom(environment: Readonly<Record<string, string>>): Promise<void> {
  const app = await startApp({ redisUrl: redis.url, role: 'console', environment });
  opened.push(app);
  const { config, resources } = app.foundation;
  const client = openServiceClient(app.foundation, { access: requireService(config), resources });
  expect((await client.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
}

const sentTokens = ({ calls }: FakeService) => calls.map(({ headers }) => headers['Authorization']);

test('processes with the same client and base address share one access token, however the address is spelled', async () => {
  const service = await startService();
  await callFrom({ SERVICE_BASE_URL: service.url });
  await callFrom({ SERVICE_BASE_URL: `${service.url}/` });
  expect([service.tokenCalls.length, sentTokens(service)]).toEqual([1, ['Bearer token-1', 'Bearer token-1']]);
});

test('a process with another base address never sends the token that was stored for the first', async () => {
  const [first, second] = [await startService(), await startService()];
  first.onTokenCall(() => ({ body: '{"code":200,"message":"m","data":{"token":"of-the-first"}}' }));
  await callFrom({ SERVICE_BASE_URL: first.url });
  await callFrom({ SERVICE_BASE_URL: second.url });
  expect(sentTokens(first)).toEqual(['Bearer of-the-first']);
  expect([second.tokenCalls.length, sentTokens(second)]).toEqual([1, ['Bearer token-1']]);
});

test.each([
  ['of another client', { SERVICE_CLIENT_ID: 'a-new-client' }],
  ['with another secret of the client', { SERVICE_CLIENT_SECRET: 'a-new-secret' }],
])('a process %s requests a token of its own', async (_what, environment) => {
  const service = await startService();
  await callFrom({ SERVICE_BASE_URL: service.url });
  await callFrom({ SERVICE_BASE_URL: service.url, ...environment });
  expect(sentTokens(service)).toEqual(['Bearer token-1', 'Bearer token-2']);
});

test('a token that an earlier version stored, without what it belongs to, is not sent', async () => {
  await redis.ask('SET', KEYS.token, JSON.stringify({ token: 'of-an-earlier-version', expiresAtMs: null }));
  const service = await startService();
  await callFrom({ SERVICE_BASE_URL: service.url });
  expect(sentTokens(service)).toEqual(['Bearer token-1']);
});
