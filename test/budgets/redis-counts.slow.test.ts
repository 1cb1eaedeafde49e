import { openWorld, type BenchWorld } from '../../bench/stage/world';
import { reportsAlone, wholeLife } from '../../bench/workloads/counts';

/** What a webhook, a fact and a tow cost at Redis, measured with real processes. Counts do not depend on the machine. */

jest.setTimeout(240_000);

/** Enough that most commits find others to share a call with, however the machine divides them. */
const TOWS = 100;
/** Each of them is sent by itself. */
const TOWS_ALONE = 40;

let world: BenchWorld;
beforeEach(async () => {
  world = await openWorld({ serviceLatencyMs: 0 });
});
afterEach(() => world.close());

/** The figures that are above their budget. */
function exceeding(costs: Readonly<Record<string, number | undefined>>, budgets: Readonly<Record<string, number>>) {
  return Object.entries(budgets).flatMap(([name, most]) => {
    const cost = costs[name] ?? Infinity;
    return cost > most ? [`${name}: ${cost}, at most ${most}`] : [];
  });
}

test('a webhook, a fact and a tow of five reports stay within their budgets at Redis', async () => {
  const costs = await wholeLife(world, { tows: TOWS });

  // Of the KB in the append-only file, the changes are 3, the jobs of BullMQ 2, and the name of the installation in each
  // key 1. Of the memory of a finished tow, in KiB, the changes are 1.1, for a week.
  const budgets = { webhook_commands: 20, fact_commands: 30, tow_commands: 100, tow_scripts: 4 };
  expect(exceeding(costs, { ...budgets, aof: 27, memory: 6 })).toEqual([]);
  expect(costs['tow_commands']).toBeGreaterThan(0);
});

test('a tow of five reports that is sent one call at a time stays within its budget of script calls', async () => {
  const costs = await reportsAlone(world, { tows: TOWS_ALONE });

  // Ten, and what the scheduler polls meanwhile: at most two a second.
  expect(exceeding(costs, { alone_scripts: 11 })).toEqual([]);
});
