import { playTows } from '../../src/demo/play';
import { pause } from '../../src/platform/timers';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';

jest.setTimeout(240_000);
const redis = useRedis();

const TOWS = 100;
const FLUSHED_EVERY_MS = 100;

/** Flushes the scripts of Redis until it is stopped; then returns how often it did. */
function flushScripts(): () => Promise<number> {
  const ending = new AbortController();
  const flushing = (async () => {
    let times = 0;
    while (!ending.signal.aborted) {
      await redis.ask('SCRIPT', 'FLUSH');
      times += 1;
      await pause(FLUSHED_EVERY_MS, ending.signal);
    }
    return times;
  })();
  return () => {
    ending.abort();
    return flushing;
  };
}

test('every tow finishes, with nothing lost, reordered or repeated, while the scripts of Redis are flushed all the time', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');
  const stopFlushing = flushScripts();

  const options = { tows: TOWS, faults: [], paceMs: 10, timeLimitMs: 200_000 };
  const { findings, finished } = await playTows(await town.addressesOf(all), options);

  expect(await stopFlushing()).toBeGreaterThan(10);
  expect(finished).toBe(TOWS);
  expect(findings).toMatchObject({
    lost: 0,
    outOfOrder: 0,
    wrongBodies: 0,
    repeated: 0,
    secondInvoices: 0,
    problems: [],
  });
});
