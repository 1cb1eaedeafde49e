import { playTows } from '../../src/demo/play';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { callsOf } from './simulator-control';

jest.setTimeout(240_000);
const redis = useOwnRedis();

afterEach(() => redis.thaw());

test('the demo repeats what was answered with 503 while Redis was frozen, and every report arrives once', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');
  const addresses = await town.addressesOf(all);
  /** Resolves once a request of the demo at this moment would be answered with 503. */
  const untilRefusing = () =>
    eventually(async () => {
      const headers = { authorization: `Bearer ${addresses.apiKey}` };
      expect((await fetch(`${addresses.consoleUrl}/api/tows`, { headers })).status).toBe(503);
    });

  redis.freeze();
  // Slow enough that each tow has facts to come when the first report is seen.
  const options = { tows: 12, violations: 2, faults: [], paceMs: 1000, timeLimitMs: 120_000 };
  const playing = playTows(addresses, options);
  // Awaited below; if the test fails before, its rejection belongs to no other test.
  playing.catch(() => {});
  await untilRefusing();
  redis.thaw();
  await eventually(async () => expect(await callsOf(town, 'started')).not.toEqual([]));
  redis.freeze();
  await untilRefusing();
  redis.thaw();

  const { findings, finished, violations } = await playing;
  expect(finished).toBe(12);
  expect(violations).toEqual({ reported: 2, arrived: 2, wrong: 0 });
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
});
