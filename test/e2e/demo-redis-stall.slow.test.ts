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
  const failures = () => all.log.filter(({ message }) => message === 'api.failed').map(({ path }) => path);
  const facts = () => failures().filter((path) => String(path).startsWith('/api/tows/:towing_reference_id/'));

  redis.freeze();
  // Slow enough that each tow has facts to come when the first report is seen.
  const options = { tows: 12, violations: 2, faults: [], paceMs: 1000, timeLimitMs: 120_000 };
  const playing = playTows(await town.addressesOf(all), options);
  // Awaited below; if the test fails before, its rejection belongs to no other test.
  playing.catch(() => {});
  await eventually(() => expect(failures()).toContain('/api/violations'));
  redis.thaw();
  await eventually(async () => expect(await callsOf(town, 'started')).not.toEqual([]));
  redis.freeze();
  await eventually(() => expect(facts()).not.toEqual([]));
  redis.thaw();

  const { findings, finished, violations } = await playing;
  expect(finished).toBe(12);
  expect(violations).toEqual({ reported: 2, arrived: 2, wrong: 0 });
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
});
