import { wholeCostOf } from '../../bench/stage/command-meter';
import { startLoad } from '../../bench/stage/load';
import { openWorld, type BenchWorld } from '../../bench/stage/world';
import { pause } from '../../src/platform/timers';

/**
 * What the role `all` asks of Redis while nothing happens. Counts do not depend on the machine. The feed of changes, the
 * queue of subscriptions and alarms as changes make four of them.
 */

jest.setTimeout(240_000);

/** With the webhook of each, 1,600 items that the conservation check reads again and again. */
const TOWS = 800;
/** Longer than what follows the start and the last webhook. */
const SETTLES_MS = 15_000;
/** Every rhythm falls into it about as often as into any other: the longest is a minute. */
const SECONDS = 60;

let world: BenchWorld;
beforeEach(async () => {
  world = await openWorld({ serviceLatencyMs: 0 });
});
afterEach(() => world.close());

async function commandsPerSecond(): Promise<number> {
  await pause(SETTLES_MS);
  const { commands } = await wholeCostOf(world.redis, () => pause(SECONDS * 1000));
  return commands / SECONDS;
}

test('an idle process of the role all makes at most 17 Redis commands a second, and at most 30 beside 1,600 items', async () => {
  const all = await world.role('all');
  const empty = await commandsPerSecond();
  const load = startLoad(world);
  const range = { prefix: 'i', from: 0, count: TOWS };
  await load.deliver(all.url('receiver'), range, 32);
  await load.untilKnown(all.url('console'), range, 32);
  const withTows = await commandsPerSecond();

  expect(empty).toBeLessThanOrEqual(17);
  expect(withTows).toBeLessThanOrEqual(30);
});
