import { QUEUE_NAMES } from '../../src/queue/queues';
import { eventually } from '../support/eventually';
import type { RoleProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';

jest.setTimeout(120_000);
const redis = useOwnRedis();

const CONNECTIONS = 100;
/** One line of an event gets through in so long. */
const QUIET_MS = 10_000;
const QUEUES = QUEUE_NAMES.length;

afterEach(async () => {
  await redis.start();
  await redis.ask('REPLICAOF', 'NO', 'ONE');
});

/** Webhooks and operator calls over many connections at once, until it is told to stop. */
async function startLoad(all: RoleProcess) {
  const [receiver, desk] = await Promise.all([all.url('receiver'), all.url('console')]);
  const statuses = { webhooks: new Map<number, number>(), calls: new Map<number, number>() };
  const ending = new AbortController();
  let made = 0;
  const count = async (counts: Map<number, number>, response: Response) => {
    await response.text();
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
  };
  const webhook = async () => {
    made += 1;
    const body = JSON.stringify({ towing_reference_id: `TW-${made}`, violation_reference_id: `V-${made}` });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    await count(statuses.webhooks, await fetch(`${receiver}/tow-request`, init));
  };
  const call = async () => {
    const headers = { authorization: `Bearer ${API_KEY}` };
    await count(statuses.calls, await fetch(`${desk}/api/deliveries`, { headers }));
  };
  const senders = Array.from({ length: CONNECTIONS }, async (_, index) => {
    while (!ending.signal.aborted) await (index % 10 === 0 ? call() : webhook());
  });
  return {
    ...statuses,
    async stop() {
      ending.abort();
      await Promise.all(senders);
    },
  };
}

const linesOf = (all: RoleProcess, event: string) => all.log.filter(({ message }) => message === event);

test('a burst of refused writes while Redis is read-only leaves no warning of node behind', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');
  const load = await startLoad(all);
  await eventually(() => expect(load.webhooks.get(200) ?? 0).toBeGreaterThan(CONNECTIONS));

  await redis.ask('REPLICAOF', '127.0.0.1', '1');
  await eventually(() => expect(load.webhooks.get(503) ?? 0).toBeGreaterThan(10 * CONNECTIONS), 30_000);
  await redis.ask('REPLICAOF', 'NO', 'ONE');

  const before = load.webhooks.get(200) ?? 0;
  await eventually(() => expect(load.webhooks.get(200) ?? 0).toBeGreaterThan(before + CONNECTIONS), 30_000);
  await load.stop();
  expect(all.problems()).toBe('');
});

test('while Redis is away errors are logged once in ten seconds, and say how many were held back', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');
  const load = await startLoad(all);
  await eventually(() => expect(load.webhooks.get(200) ?? 0).toBeGreaterThan(CONNECTIONS));
  const startedMs = performance.now();
  await redis.kill();
  await eventually(() => {
    expect(linesOf(all, 'api.failed').some(({ suppressed }) => Number(suppressed) > 0)).toBe(true);
  }, 60_000);
  await redis.start();
  await load.stop();
  const turns = Math.ceil((performance.now() - startedMs) / QUIET_MS);

  const failed = load.calls.get(503) ?? 0;
  expect(failed).toBeGreaterThan(100);
  // Each event once in its time, and once for each queue.
  for (const [event, kinds] of [
    ['api.failed', 1],
    ['redis.failed', 1],
    ['worker.failed', QUEUES],
    ['pump.failed', QUEUES],
  ] as const) {
    expect(linesOf(all, event).length).toBeGreaterThan(0);
    expect(linesOf(all, event).length).toBeLessThanOrEqual(kinds * turns);
  }
  const shown = linesOf(all, 'api.failed');
  const suppressed = shown.reduce((sum, line) => sum + Number(line['suppressed'] ?? 0), 0);
  expect(shown.length + suppressed).toBeLessThanOrEqual(failed);
  const others = all.log.filter(({ level, message }) => level === 'error' && !String(message).endsWith('.failed'));
  expect(others).toEqual([]);
});
