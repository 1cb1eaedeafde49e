import { ENTRY_KINDS } from '../../src/domain/vocabulary';
import type { Redis } from 'ioredis';
import type { SeriesName } from '../../src/contracts/ops/metrics';
import { playTows } from '../../src/demo/play';
import { createMetricsStore } from '../../src/store/ops/metrics';
import { HEARTBEAT_SETTINGS, createProcessStore } from '../../src/store/ops/processes';
import { eventually } from '../support/eventually';
import { useConnection, useRedis } from '../support/redis';
import { buildTown } from '../support/town';

jest.setTimeout(240_000);
const redis = useRedis();
let connection: Redis;
useConnection(redis, (opened) => {
  connection = opened;
});

/** Returns a function that sums up lines of the last half hour. */
async function readTotals() {
  const toMs = Date.now() + 60_000;
  const { lines } = await createMetricsStore(connection).series({ fromMs: toMs - 1_800_000, toMs, stepMs: 60_000 });
  return (...names: SeriesName[]) =>
    names.flatMap((name) => lines[name]).reduce<number>((sum, at) => sum + (at ?? 0), 0);
}

test('the metrics count the work of four processes exactly once, including their work until they stop', async () => {
  const town = await buildTown(redis.url);
  const console = await town.start('console');
  const others = await Promise.all((['receiver', 'worker', 'worker'] as const).map((role) => town.start(role)));
  const roles = [console, ...others];
  const options = { tows: 12, faults: [], paceMs: 5, timeLimitMs: 200_000 };
  const { finished, findings } = await playTows(await town.addressesOf(console), options);
  expect(finished).toBe(12);

  for (const role of roles) role.kill('SIGTERM');
  expect(await Promise.all(roles.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);

  const total = await readTotals();
  expect(total('accepted.tow_request')).toBe(12);
  expect(total('processed.tow_request')).toBe(12);
  expect(total('processed.tow_invoice')).toBe(total('accepted.tow_invoice'));
  expect(total(...ENTRY_KINDS.map((kind) => `delivered.${kind}` as const))).toBe(findings.reportsArrived);
  expect(total('attempts.accepted')).toBe(findings.reportsArrived);
  expect(total('report.p95')).toBeGreaterThan(0);
  expect(await createProcessStore(connection).list()).toEqual([]);
});

test('a frozen process becomes silent until it continues, and a killed process stays silent', async () => {
  const town = await buildTown(redis.url);
  const [receiver, killed] = [await town.start('receiver'), await town.start('receiver')];
  // A little more than the 5 s between two heartbeats, to shorten the test; the default is 20 s.
  const processes = createProcessStore(connection, { ...HEARTBEAT_SETTINGS, silentAfterMs: 7000 });
  const silent = async () => (await processes.list()).filter(({ isSilent }) => isSilent).map((one) => one.processId);
  await eventually(async () => expect(await processes.list()).toHaveLength(2));
  await eventually(async () => expect(await silent()).toEqual([]));

  receiver.kill('SIGSTOP');
  killed.kill('SIGKILL');
  const both = [receiver.processId, killed.processId].toSorted((a, b) => a - b);
  await eventually(async () => expect((await silent()).toSorted((a, b) => a - b)).toEqual(both), 60_000);

  receiver.kill('SIGCONT');
  await eventually(async () => expect(await silent()).toEqual([killed.processId]), 60_000);
});
