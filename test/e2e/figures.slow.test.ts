import type { Redis } from 'ioredis';
import type { Line } from '../../src/contracts/figures';
import { SENT_KINDS } from '../../src/domain/figures';
import { playTows } from '../../src/main/demo/play';
import { silentLog } from '../../src/platform/log';
import { connectFailFast, whenReady } from '../../src/store/connect';
import { createFiguresStore } from '../../src/store/figures';
import { BEAT_SETTINGS, createProcessStore } from '../../src/store/processes';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';

jest.setTimeout(90_000);
const redis = useRedis();
let connection: Redis;

beforeEach(async () => {
  connection = connectFailFast(redis.url, { log: silentLog });
  await whenReady(connection, 5000);
});
afterEach(() => connection.disconnect());

/** All that was counted lately. */
async function totals() {
  const toMs = Date.now() + 60_000;
  const { lines } = await createFiguresStore(connection).series({ fromMs: toMs - 1_800_000, toMs, stepMs: 60_000 });
  return (...names: Line[]) => names.flatMap((name) => lines[name]).reduce<number>((sum, at) => sum + (at ?? 0), 0);
}

test('what four processes did is counted exactly once, up to their last moment', async () => {
  const town = await buildTown(redis.url);
  const roles = await Promise.all(
    (['receiver', 'worker', 'worker', 'console'] as const).map((role) => town.start(role)),
  );
  const [, , , console] = roles;
  const consoleUrl = (await console?.url('console')) ?? '';
  const addresses = { consoleUrl, simulatorUrl: town.simulator.url, apiKey: API_KEY };
  const { finished, findings } = await playTows(addresses, { faults: [], paceMs: 5, timeLimitMs: 60_000, tows: 12 });
  expect(finished).toBe(12);

  for (const role of roles) role.kill('SIGTERM');
  expect(await Promise.all(roles.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);

  const total = await totals();
  expect(total('accepted.tow_request')).toBe(12);
  expect(total('processed.tow_request')).toBe(12);
  expect(total('processed.tow_invoice')).toBe(total('accepted.tow_invoice'));
  expect(total(...SENT_KINDS.map((kind) => `delivered.${kind}` as const))).toBe(findings.reportsArrived);
  expect(total('attempts.accepted')).toBe(findings.reportsArrived);
  expect(total('report.p95')).toBeGreaterThan(0);
  expect(await createProcessStore(connection).list()).toEqual([]);
});

test('a process that is frozen falls silent, and is heard again once it goes on; a killed one stays silent', async () => {
  const town = await buildTown(redis.url);
  const [receiver, killed] = [await town.start('receiver'), await town.start('receiver')];
  // Little more than the time between two beats, instead of four times as much.
  const processes = createProcessStore(connection, { ...BEAT_SETTINGS, silentAfterMs: 7000 });
  const silent = async () => (await processes.list()).filter(({ isSilent }) => isSilent).map((one) => one.processId);
  await eventually(async () => expect(await processes.list()).toHaveLength(2));
  expect(await silent()).toEqual([]);

  receiver.kill('SIGSTOP');
  killed.kill('SIGKILL');
  const both = [receiver.processId, killed.processId].toSorted((a, b) => a - b);
  await eventually(async () => expect((await silent()).toSorted((a, b) => a - b)).toEqual(both), 20_000);

  receiver.kill('SIGCONT');
  await eventually(async () => expect(await silent()).toEqual([killed.processId]), 20_000);
});
