import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { playThroughOutage } from './outage';

jest.setTimeout(240_000);
const redis = useRedis();

const RETRY_BASE_MS = 500;
/** Probes on a busy machine are counted late, when their pauses have grown: four must not take minutes. */
const RETRY_CAP_MS = 4000;

test('while the service fails every call it receives single probes with growing pauses, and no report is lost', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', {
    RETRY_BASE_MS: String(RETRY_BASE_MS),
    RETRY_CAP_MS: String(RETRY_CAP_MS),
    UNKNOWN_GRACE_MS: '1000',
  });

  const outage = await playThroughOutage(await town.addressesOf(all), {
    tows: 60,
    paceMs: 100,
    beginsAfterCalls: 60,
    untilRecovery: (probes) =>
      eventually(async () => expect((await probes()).length).toBeGreaterThanOrEqual(4), 120_000),
    timeLimitMs: 200_000,
  });

  expect(outage.finished).toBe(60);
  expect(outage.findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
  // Backoff: at least 500 ms after the first probe, 1 s after the second, 2 s after the third, then 4 s.
  const times = outage.probes.map(({ atMs }) => atMs);
  for (const [index, atMs] of times.slice(1).entries()) {
    expect(atMs - (times[index] ?? 0)).toBeGreaterThanOrEqual(Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** index));
  }
});
