import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { sufferOutage } from './outage';

jest.setTimeout(120_000);
const redis = useRedis();

test('a service that fails every call for a while is left alone but for single tries, and nothing is lost', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', { RETRY_BASE_MS: '500', UNKNOWN_GRACE_MS: '1000' });
  const addresses = { consoleUrl: await all.url('console'), simulatorUrl: town.simulator.url, apiKey: API_KEY };

  const suffered = await sufferOutage(addresses, { tows: 60, paceMs: 100, beginsAfterCalls: 60, lastsMs: 7000 });

  expect(suffered.finished).toBe(60);
  expect(suffered.findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
  // Half a second, one, two, four: no more than one call at a time, and each later than the one before.
  const tries = suffered.triesWhileDown.map(({ atMs }) => atMs);
  expect(tries.length).toBeGreaterThanOrEqual(1);
  expect(tries.length).toBeLessThanOrEqual(4);
  const pauses = tries.slice(1).map((atMs, index) => atMs - (tries[index] ?? 0));
  for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(900);
});
