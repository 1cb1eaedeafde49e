import { startTestRedis, type TestRedis } from '../support/redis';
import { openLane, type Lane } from './lane';
import type { Interruption } from './interruptible-worker';
import { DELIVERY_SCENARIOS } from './delivery-scenarios';
import { REPORT_SCENARIOS } from './report-scenarios';
import type { Scenario } from './scenario';
import { endOf, play, problemsOf, type Run } from './sweep';

const SCENARIOS = [...DELIVERY_SCENARIOS, ...REPORT_SCENARIOS];

/** A run mostly waits for leases and schedules, so many runs go on concurrently, each with its own database. */
const LANES = 64;

let redis: TestRedis;
let lanes: Lane[];
const results = new Map<string, { uninterrupted: Run; interruptedRuns: number; problems: string[] }>();

beforeAll(async () => {
  redis = await startTestRedis({ databases: String(LANES) });
  lanes = await Promise.all(Array.from({ length: LANES }, (_, index) => openLane(`${redis.url}/${index}`)));
  await inLanes(SCENARIOS, async (scenario, lane) => {
    results.set(scenario.name, { uninterrupted: await play(scenario, lane, null), interruptedRuns: 0, problems: [] });
  });
  await inLanes(SCENARIOS.flatMap(interruptionsOf), async ({ scenario, interruption }, lane) => {
    const result = resultOf(scenario);
    const run = await play(scenario, lane, interruption);
    const where = `${interruption.what} call ${interruption.call}, ${result.uninterrupted.calls[interruption.call - 1]}`;
    result.interruptedRuns += run.wasInterrupted ? 1 : 0;
    result.problems.push(...problemsOf(scenario, run, result.uninterrupted).map((problem) => `${where}: ${problem}`));
  });
}, 600_000);
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

/** Killed before a call equals killed after the previous call, so only the first call has a "killed before". */
function interruptionsOf(scenario: Scenario): { scenario: Scenario; interruption: Interruption }[] {
  const interruptions: Interruption[] = [{ call: 1, what: 'killed before' }];
  for (const index of resultOf(scenario).uninterrupted.calls.keys()) {
    interruptions.push({ call: index + 1, what: 'killed after' }, { call: index + 1, what: 'frozen before' });
  }
  return interruptions.map((interruption) => ({ scenario, interruption }));
}

function resultOf({ name }: Scenario) {
  const result = results.get(name);
  if (!result) throw new Error(`${name} was not played`);
  return result;
}

test.each(SCENARIOS)(
  'when a worker is killed or frozen at any call while it handles $name, another worker reaches the same end',
  (scenario) => {
    const { problems, interruptedRuns, uninterrupted } = resultOf(scenario);

    expect(endOf(uninterrupted)).toEqual(scenario.end);
    expect(problems).toEqual([]);
    // The last call depends on whether the check comes before or after the scheduled time. All others are always made.
    expect(interruptedRuns).toBeGreaterThanOrEqual(Math.max(5, 2 * (uninterrupted.calls.length - 1)));
  },
);

describe('comparing an interrupted run with an uninterrupted one', () => {
  const [scenario] = REPORT_SCENARIOS;
  const outcome = { tow: null, reports: [], tasks: [], events: [], deliveries: [], order: [], counts: { started: 1 } };
  const uninterrupted: Run = { calls: ['outbox.claim'], wasInterrupted: false, outcome };

  test.each([
    ['a lost report', { reports: ['started pending'] }],
    ['an additional task', { tasks: ['report_unknown'] }],
    ['an event recorded twice', { events: ['fact.recorded', 'fact.recorded'] }],
    ['a delivery without a final state', { deliveries: ['tow_request waiting'] }],
    ['reports in another order', { order: ['detained', 'started'] }],
    ['a call made three times', { counts: { started: 3 } }],
  ])('the kill sweep reports %s as a problem', (_what, change) => {
    if (!scenario) throw new Error('there is no scenario');
    const run: Run = { ...uninterrupted, wasInterrupted: true, outcome: { ...outcome, ...change } };

    expect(problemsOf(scenario, { ...uninterrupted, wasInterrupted: true }, uninterrupted)).toEqual([]);
    expect(problemsOf(scenario, run, uninterrupted)).toHaveLength(1);
  });
});
