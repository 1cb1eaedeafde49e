import { hostname } from 'node:os';
import { createClient } from '../../src/client';
import { ROUTES } from '../../src/contracts/operator-routes';
import { systemClock } from '../../src/platform/clock';
import { pause } from '../../src/platform/timers';
import { eventually } from '../support/eventually';
import { useOwnRedis, useRedis } from '../support/redis';
import type { RoleProcess } from '../support/role-process';
import { API_KEY, buildTown, type Town } from '../support/town';
import { callsAt, reportFaults, requestTows, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useOwnRedis();
const shared = useRedis();

const WHEREABOUTS = { plate_number: 'ABC 1234', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.6 };
/** A worker is killed this long after it has started, and every third time Redis with it. */
const KILLED_AFTER_MS = 700;
/** The service soon repeats a webhook that Redis could not store. */
const retryDelaysMs = Array.from({ length: 60 }, () => 1000);
/** Longer than the lease that a killed worker leaves behind. */
const SENT_WITHIN_MS = 90_000;

/** The operator API for one who repeats what gets no answer, under the same key. */
function persistentOps(consoleUrl: string) {
  const client = createClient({ baseUrl: consoleUrl, apiKey: API_KEY });
  const repeated = <T>(call: (key: string) => Promise<T>): Promise<T> => {
    const key = systemClock.id();
    return eventually(() => call(key));
  };
  const each = (
    refs: readonly string[],
    act: (params: { towing_reference_id: string }, key: string) => Promise<unknown>,
  ) => Promise.all(refs.map((ref) => repeated((key) => act({ towing_reference_id: ref }, key))));
  return {
    switchTo: (mode: 'live' | 'shadow') =>
      repeated((key) => client.call(ROUTES.changeMode, { body: { mode, reason: 'a test' }, key })),
    status: () => repeated(() => client.call(ROUTES.readStatus, {})),
    tows: (refs: readonly string[]) => each(refs, (params) => client.call(ROUTES.readTow, { params })),
    start: (refs: readonly string[]) =>
      each(refs, (params, key) => client.call(ROUTES.started, { params, body: WHEREABOUTS, key })),
    detain: (refs: readonly string[]) =>
      each(refs, (params, key) => client.call(ROUTES.detained, { params, body: {}, key })),
    send: (refs: readonly string[]) =>
      each(refs, (params, key) => client.call(ROUTES.sendWithheldTow, { params, body: {}, key })),
    decline: (refs: readonly string[]) =>
      each(refs, (params, key) => client.call(ROUTES.declineWithheldTow, { params, body: { reason: 'a test' }, key })),
    resumeQueue: (queue: string) =>
      repeated((key) => client.call(ROUTES.resumeQueue, { params: { queue }, body: {}, key })),
    client,
  };
}
type Ops = ReturnType<typeof persistentOps>;

/** Has tows requested and recorded as started. */
async function startTows(town: Town, ops: Ops, count: number): Promise<readonly string[]> {
  const refs = await requestTows(town, { count });
  await ops.tows(refs);
  await ops.start(refs);
  return refs;
}

/** The reports that reached the service for each of these tows, in order; one that was repeated counts once. */
async function reachedOf(town: Town, refs: readonly string[]): Promise<readonly (readonly string[])[]> {
  const calls = await callsAt(town);
  return refs.map((ref) => {
    const operations = calls
      .filter(({ body }) => body?.['towing_reference_id'] === ref)
      .map(({ operation }) => operation);
    return operations.filter((operation, at) => operation !== operations[at - 1]);
  });
}

const all = <T>(refs: readonly string[], value: T): readonly T[] => refs.map(() => value);

/** Kills the worker again and again, and Redis now and then. `end` leaves a worker and Redis running. */
function killAgainAndAgain(town: Town, first: RoleProcess) {
  let worker = first;
  const ending = new AbortController();
  let killed = 0;
  const kill = async () => {
    // On a busy machine a worker needs longer to begin.
    let startTookMs = 0;
    for (let round = 1; !ending.signal.aborted; round += 1) {
      await pause(Math.max(KILLED_AFTER_MS, startTookMs));
      worker.kill('SIGKILL');
      killed += 1;
      if (round % 3 === 0) await redis.kill();
      await worker.exited;
      if (round % 3 === 0) await redis.start();
      const startedMs = performance.now();
      worker = await town.start('worker');
      startTookMs = performance.now() - startedMs;
    }
  };
  const running = kill();
  running.catch(() => {});
  return {
    /** Resolves when at least this many workers were killed. */
    until: (count: number) => eventually(() => expect(killed).toBeGreaterThanOrEqual(count)),
    async end() {
      ending.abort();
      await running;
    },
  };
}

test('the switch from shadow to live to shadow under kills of workers and Redis lets nothing that is held leave, and loses and reorders nothing', async () => {
  const town = await buildTown(redis.url, { retryDelaysMs });
  const [worker, console] = await Promise.all([town.start('worker'), town.start('console'), town.start('receiver')]);
  await setFaults(town, reportFaults({ fault: 'latency', ms: 20 }));
  const ops = persistentOps(await console.url('console'));
  await ops.switchTo('shadow');
  const killing = killAgainAndAgain(town, worker);

  const dark = await startTows(town, ops, 30);
  await killing.until(1);
  await ops.switchTo('live');
  const bright = await startTows(town, ops, 30);
  await eventually(async () => {
    const reached = await reachedOf(town, bright);
    expect(reached.filter(({ length }) => length > 0).length).toBeGreaterThan(bright.length / 3);
  });
  await ops.switchTo('shadow');
  // What is held stays held as a whole: the first group gets a later fact in the second shadow time.
  await Promise.all([ops.detain(dark), ops.detain(bright)]);
  const declined = await startTows(town, ops, 30);
  await killing.until(3);
  await ops.switchTo('live');
  await ops.detain(declined);
  const last = await startTows(town, ops, 10);
  await killing.until(4);
  await killing.end();

  await eventually(async () => expect(await reachedOf(town, last)).toEqual(all(last, ['started'])), SENT_WITHIN_MS);
  expect(await reachedOf(town, [...dark, ...declined])).toEqual(all([...dark, ...declined], []));
  expect((await reachedOf(town, bright)).flat()).not.toContain('detained');
  expect(await ops.status()).toMatchObject({ held: dark.length + bright.length + declined.length });

  await ops.decline(declined);
  await ops.send([...dark, ...bright]);
  const sent = [...dark, ...bright];
  await eventually(
    async () => expect(await reachedOf(town, sent)).toEqual(all(sent, ['started', 'detained'])),
    SENT_WITHIN_MS,
  );
  expect(await reachedOf(town, declined)).toEqual(all(declined, []));
  expect(await ops.status()).toMatchObject({ held: 0, open_tasks: 0 });
});

test('a copy of the data whose switch is live sends nothing when it is started with SERVICE_MODE=shadow, also after its queues are resumed', async () => {
  const town = await buildTown(shared.url);
  const live = await town.startInProcess();
  const before = persistentOps(live.consoleUrl);
  await before.client.call(ROUTES.pauseQueue, { params: { queue: 'reports' }, body: {}, key: systemClock.id() });
  const owed = await startTows(town, before, 5);
  expect(await before.status()).toMatchObject({ mode: { state: 'live', switch: 'live' } });
  await live.stop();

  // Its queues are paused, as a restore leaves them.
  const paused = await town.startInProcess();
  const again = persistentOps(paused.consoleUrl);
  const alsoOwed = await startTows(town, again, 5);
  expect(await reachedOf(town, [...owed, ...alsoOwed])).toEqual(all([...owed, ...alsoOwed], []));
  await paused.stop();

  const copy = await town.startInProcess({ SERVICE_MODE: 'shadow' });
  const drill = persistentOps(copy.consoleUrl);
  await drill.resumeQueue('reports');
  const recorded = await startTows(town, drill, 5);
  await eventually(async () => {
    for (const { reports } of await Promise.all(
      owed.map((ref) => drill.client.call(ROUTES.readTow, { params: { towing_reference_id: ref } })),
    ))
      expect(reports).toMatchObject([{ state: 'pending', waits_for: 'shadow' }]);
  });
  await eventually(async () => expect((await callsAt(town)).map(({ operation }) => operation)).toContain('token'));
  expect(await drill.status()).toMatchObject({ mode: { state: 'shadow', switch: 'live' }, held: recorded.length });
  const body = { mode: 'live', reason: 'a test' } as const;
  await eventually(async () => {
    const answer = drill.client.call(ROUTES.changeMode, { body, key: systemClock.id() });
    await expect(answer).rejects.toMatchObject({
      code: 'mode_held',
      details: [{ field: `process ${process.pid} on ${hostname()}`, rule: 'runs with SERVICE_MODE=shadow' }],
    });
  });
  expect((await callsAt(town)).filter(({ operation }) => operation !== 'token')).toEqual([]);
});
