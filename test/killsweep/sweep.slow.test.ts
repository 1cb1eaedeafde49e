import { startTestRedis, type TestRedis } from '../support/redis';
import { openLane, type Lane } from './lane';
import type { Fate } from './mortal-worker';
import { DELIVERY_SCENARIOS } from './delivery-scenarios';
import { REPORT_SCENARIOS } from './report-scenarios';
import type { Scenario } from './scenario';
import { endOf, play, wrongsOf, type Run } from './sweep';

const SCENARIOS = [...DELIVERY_SCENARIOS, ...REPORT_SCENARIOS];

/** Most of a run is waiting for leases and due marks: many go on side by side, each in a database of its own. */
const LANES = 64;

let redis: TestRedis;
let lanes: Lane[];
const results = new Map<string, { whole: Run; strikes: number; wrongs: string[] }>();

beforeAll(async () => {
  redis = await startTestRedis({ databases: String(LANES) });
  lanes = await Promise.all(Array.from({ length: LANES }, (_, index) => openLane(`${redis.url}/${index}`)));
  await inLanes(SCENARIOS, async (scenario, lane) => {
    results.set(scenario.name, { whole: await play(scenario, lane, null), strikes: 0, wrongs: [] });
  });
  await inLanes(SCENARIOS.flatMap(fatesIn), async ({ scenario, fate }, lane) => {
    const result = resultOf(scenario);
    const run = await play(scenario, lane, fate);
    const where = `${fate.what} call ${fate.call}, ${result.whole.calls[fate.call - 1]}`;
    result.strikes += run.wasStruck ? 1 : 0;
    result.wrongs.push(...wrongsOf(scenario, run, result.whole).map((wrong) => `${where}: ${wrong}`));
  });
}, 120_000);
afterAll(async () => {
  await Promise.all(lanes.map((lane) => lane.close()));
  await redis.stop();
});

async function inLanes<T>(items: readonly T[], work: (item: T, lane: Lane) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, lane);
    }),
  );
}

/** To be killed before a call is to be killed after the one before it: only the first has a before of its own. */
function fatesIn(scenario: Scenario): { scenario: Scenario; fate: Fate }[] {
  const fates: Fate[] = [{ call: 1, what: 'killed before' }];
  for (const index of resultOf(scenario).whole.calls.keys()) {
    fates.push({ call: index + 1, what: 'killed after' }, { call: index + 1, what: 'frozen before' });
  }
  return fates.map((fate) => ({ scenario, fate }));
}

function resultOf({ name }: Scenario) {
  const result = results.get(name);
  if (!result) throw new Error(`${name} was not played`);
  return result;
}

describe('a worker killed or frozen at any call it makes leaves what another brings to the same end', () => {
  test.each(SCENARIOS)('$name', (scenario) => {
    const { wrongs, strikes, whole } = resultOf(scenario);

    expect(endOf(whole)).toEqual(scenario.end);
    expect(wrongs).toEqual([]);
    // Whether a look comes before or after a due mark is a matter of milliseconds; all other calls are always made.
    expect(strikes).toBeGreaterThanOrEqual(Math.max(5, 2 * (whole.calls.length - 1)));
  });
});

describe('the sweep', () => {
  const [scenario] = REPORT_SCENARIOS;
  const outcome = { tow: null, reports: [], tasks: [], story: [], deliveries: [], order: [], counts: { started: 1 } };
  const whole: Run = { calls: ['outbox.claim'], wasStruck: false, outcome };

  test.each([
    ['a report that is lost', { reports: ['started pending'] }],
    ['a task that nobody would have had', { tasks: ['report_unknown'] }],
    ['something told twice', { story: ['fact.recorded', 'fact.recorded'] }],
    ['a delivery without an end', { deliveries: ['tow_request waiting'] }],
    ['reports in another order', { order: ['detained', 'started'] }],
    ['a call made three times', { counts: { started: 3 } }],
  ])('does not let pass %s', (_what, change) => {
    if (!scenario) throw new Error('there is no scenario');
    const run: Run = { ...whole, wasStruck: true, outcome: { ...outcome, ...change } };

    expect(wrongsOf(scenario, { ...whole, wasStruck: true }, whole)).toEqual([]);
    expect(wrongsOf(scenario, run, whole)).toHaveLength(1);
  });
});
