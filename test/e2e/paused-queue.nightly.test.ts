import { Redis } from 'ioredis';
import { startLoad } from '../../bench/stage/load';
import { API_KEY, openWorld, type BenchWorld } from '../../bench/stage/world';
import { pause } from '../../src/platform/timers';
import { changeTypesIn } from '../support/changes';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';

jest.setTimeout(300_000);

const WEBHOOKS = 20_000;
const CONNECTIONS = 200;
/** Above this many waiting jobs the scheduler adds none. */
const WAITING_MAX = 300;
const SAMPLED_EVERY_MS = 100;
const POLLS_WHILE_PAUSED = 5;
const DRAINED_WITHIN_MS = 200_000;

let world: BenchWorld;
let client: Redis;
beforeEach(async () => {
  world = await openWorld({ serviceLatencyMs: 0 });
  client = new Redis(world.redis.url);
});
afterEach(async () => {
  client.disconnect();
  await world.close();
});

/** What Redis was asked to do, counted as it happens. */
interface Watched {
  /** Calls that store webhooks: each has a group of them. */
  groups: number;
  /** Polls of the schedule of deliveries that may take none, as of a paused queue. */
  emptyPolls: number;
  /** The last text that ECHO was sent. */
  echoed: string;
}

async function watchCommands(): Promise<{ seen: Watched; end: () => void }> {
  const seen: Watched = { groups: 0, emptyPolls: 0, echoed: '' };
  const monitor = await client.monitor();
  monitor.on('monitor', (_time: string, [command = '', text = '', , key = '', limit = '']: string[]) => {
    const name = command.toLowerCase();
    if (name === 'echo') seen.echoed = text;
    if (name === 'evalsha' && key === KEYS.indexDeliveries) seen.groups += 1;
    if (name === 'evalsha' && key === KEYS.dueDeliveries && limit === '0') seen.emptyPolls += 1;
  });
  return { seen, end: () => monitor.disconnect() };
}

/** Compares the jobs of the queue with the groups stored so far, until it is stopped; returns the samples. */
function sampleJobs(seen: Watched) {
  const ending = new AbortController();
  const samples: { readonly jobs: number; readonly groups: number }[] = [];
  const sampling = (async () => {
    while (!ending.signal.aborted) {
      const lists = ['wait', 'paused', 'active'].map((state) => client.llen(`{towhook-main}:deliveries:${state}`));
      const jobs = (await Promise.all(lists)).reduce((sum, length) => sum + length, 0);
      // What was stored before this has been counted once this is seen.
      const text = `sample ${samples.length}`;
      await client.echo(text);
      await eventually(() => expect(seen.echoed).toBe(text));
      samples.push({ jobs, groups: seen.groups });
      await pause(SAMPLED_EVERY_MS, ending.signal);
    }
    return samples;
  })();
  return {
    stop() {
      ending.abort();
      return sampling;
    },
  };
}

async function setPaused(url: string, action: 'pause' | 'resume'): Promise<void> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/queues/deliveries/${action}`, { method: 'POST', headers, body: '{}' });
  expect(answer.status).toBe(202);
}

test('20,000 webhooks that wait for their paused queue have at most 300 jobs more than groups in which they were stored, and are processed once when it is resumed', async () => {
  const all = await world.role('all');
  await setPaused(all.url('console'), 'pause');
  const { seen, end } = await watchCommands();
  const sampling = sampleJobs(seen);

  await startLoad(world).deliver(all.url('receiver'), { prefix: 'p', from: 0, count: WEBHOOKS }, CONNECTIONS);
  // The schedule has them due 10 s later; from then on each poll could add jobs for them.
  await eventually(() => expect(seen.emptyPolls).toBeGreaterThanOrEqual(POLLS_WHILE_PAUSED), DRAINED_WITHIN_MS);
  await setPaused(all.url('console'), 'resume');
  await eventually(async () => expect(await client.zcard(KEYS.dueDeliveries)).toBe(0), DRAINED_WITHIN_MS);

  const samples = await sampling.stop();
  end();
  expect(Math.max(...samples.map(({ jobs }) => jobs))).toBeGreaterThan(10);
  expect(samples.filter(({ jobs, groups }) => jobs > groups + WAITING_MAX)).toEqual([]);
  expect(await client.zcard(KEYS.indexTows)).toBe(WEBHOOKS);
  const processed = (await changeTypesIn(client)).filter((type) => type === 'delivery.processed');
  expect(processed).toHaveLength(WEBHOOKS);
});
