import { eventually } from '../support/eventually';
import type { RoleProcess } from '../support/role-process';
import { useOwnRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';

jest.setTimeout(240_000);
const redis = useOwnRedis();

const CONNECTIONS = 100;
/** The log passes one line per event and queue in 10 s; a pause between the check and the time stamp may shorten that. */
const QUIET_MS = 9_000;
const LIMIT_MS = 120_000;

const loads = new Set<{ stop(): Promise<void> }>();

afterEach(async () => {
  await Promise.all([...loads].map((load) => load.stop()));
  loads.clear();
  await redis.start();
  await redis.ask('REPLICAOF', 'NO', 'ONE');
});

/** Sends webhooks and operator API calls over many connections at once until stopped. Counts the statuses. */
async function startLoad(all: RoleProcess) {
  const [receiver, console] = await Promise.all([all.url('receiver'), all.url('console')]);
  const statuses = { webhooks: new Map<number, number>(), calls: new Map<number, number>() };
  const ending = new AbortController();
  let sent = 0;
  const count = async (counts: Map<number, number>, response: Response) => {
    await response.text();
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
  };
  const webhook = async () => {
    sent += 1;
    const body = JSON.stringify({ towing_reference_id: `TW-${sent}`, violation_reference_id: `V-${sent}` });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    await count(statuses.webhooks, await fetch(`${receiver}/tow-request`, init));
  };
  const call = async () => {
    const headers = { authorization: `Bearer ${API_KEY}` };
    await count(statuses.calls, await fetch(`${console}/api/deliveries`, { headers }));
  };
  const senders = Array.from({ length: CONNECTIONS }, async (_, index) => {
    while (!ending.signal.aborted) await (index % 10 === 0 ? call() : webhook());
  });
  const load = {
    ...statuses,
    async stop() {
      ending.abort();
      await Promise.all(senders);
    },
  };
  loads.add(load);
  return load;
}

const linesOf = (all: RoleProcess, event: string) => all.log.filter(({ message }) => message === event);

/** The times between consecutive lines of one event and queue, ms. */
function pausesOf(lines: RoleProcess['log']): number[] {
  const queues = new Set(lines.map(({ queue }) => queue));
  return [...queues].flatMap((queue) => {
    const times = lines.filter((line) => line['queue'] === queue).map(({ timestamp }) => Date.parse(String(timestamp)));
    return times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
  });
}

test('more than 1000 webhooks refused while Redis is read-only cause no warning of Node on stderr', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');
  const load = await startLoad(all);
  await eventually(() => expect(load.webhooks.get(200) ?? 0).toBeGreaterThan(CONNECTIONS), LIMIT_MS);

  await redis.ask('REPLICAOF', '127.0.0.1', '1');
  await eventually(() => expect(load.webhooks.get(503) ?? 0).toBeGreaterThan(10 * CONNECTIONS), LIMIT_MS);
  await redis.ask('REPLICAOF', 'NO', 'ONE');

  const before = load.webhooks.get(200) ?? 0;
  await eventually(() => expect(load.webhooks.get(200) ?? 0).toBeGreaterThan(before + CONNECTIONS), LIMIT_MS);
  await load.stop();
  expect(all.problems()).toBe('');
});

test('while Redis is down each error is logged once in ten seconds with the number of suppressed lines', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');
  const load = await startLoad(all);
  await eventually(() => expect(load.webhooks.get(200) ?? 0).toBeGreaterThan(CONNECTIONS), LIMIT_MS);
  await redis.kill();
  await eventually(() => expect(load.calls.get(503) ?? 0).toBeGreaterThan(100), LIMIT_MS);
  const failures = ['api.failed', 'redis.failed', 'worker.failed', 'scheduler.failed'];
  await eventually(() => {
    expect(linesOf(all, 'api.failed').some(({ suppressed }) => Number(suppressed) > 0)).toBe(true);
    for (const event of failures) expect(linesOf(all, event)).not.toEqual([]);
  }, LIMIT_MS);
  await redis.start();
  await load.stop();

  for (const event of failures) {
    for (const pauseMs of pausesOf(linesOf(all, event))) expect(pauseMs).toBeGreaterThanOrEqual(QUIET_MS);
  }
  const logged = linesOf(all, 'api.failed');
  const suppressed = logged.reduce((sum, line) => sum + Number(line['suppressed'] ?? 0), 0);
  expect(logged.length + suppressed).toBeLessThanOrEqual(load.calls.get(503) ?? 0);
  const others = all.log.filter(({ level, message }) => level === 'error' && !String(message).endsWith('.failed'));
  expect(others).toEqual([]);
});
