import { startTestRedis, type TestRedis } from '../support/redis';
import type { Fate } from './mortal-worker';
import { openViolationLane, type ViolationLane } from './violation-lane';
import { playViolation, type ViolationEnd, type ViolationRun, type ViolationScenario } from './violation-run';

const DONE = { state: 'accepted', tasks: [], image: 'gone', isTowJoined: null, standing: 'finished' } as const;
const TOWED: ViolationEnd = { ...DONE, isTowJoined: true };
const ASKED = { image: 'kept', isTowJoined: null, standing: 'with_a_person' } as const;
const UNKNOWN: ViolationEnd = { ...ASKED, state: 'unknown', tasks: ['violation_unknown'] };

const SCENARIOS: readonly ViolationScenario[] = [
  { name: 'a violation whose tow is requested', end: TOWED, mayNeedPerson: true },
  { name: 'one that depends on a ticket', violationType: 'NO_TICKET', end: DONE, mayNeedPerson: true },
  {
    name: 'one whose vehicle has a ticket',
    violationType: 'NO_TICKET',
    hasActiveTicket: true,
    end: { ...ASKED, state: 'held', tasks: ['active_ticket'] },
  },
  { name: 'one whose answer is lost', fault: { fault: 'lost_answer', times: 1 }, end: TOWED, mayNeedPerson: true },
  {
    name: 'one that is refused',
    fault: { fault: '400' },
    end: { ...ASKED, state: 'refused', tasks: ['violation_refused'] },
    mayNeedPerson: true,
  },
  { name: 'one answered 500 once', fault: { fault: '500', times: 1 }, end: TOWED, mayNeedPerson: true },
  { name: 'one that never gets an answer', fault: { fault: 'drop' }, end: UNKNOWN },
  { name: 'one of the guide form', api: 'guide', end: TOWED, mayNeedPerson: true },
  { name: 'one that a person gave up', isWaived: true, end: { ...DONE, state: 'waived' } },
];
const LANES = 16;

let redis: TestRedis;
let lanes: ViolationLane[];
const results = new Map<string, { whole: ViolationRun; strikes: number; wrongs: string[] }>();

beforeAll(async () => {
  redis = await startTestRedis({ databases: String(LANES) });
  lanes = await Promise.all(Array.from({ length: LANES }, (_, index) => openViolationLane(`${redis.url}/${index}`)));
  await inLanes(SCENARIOS, async (scenario, lane) => {
    results.set(scenario.name, { whole: await playViolation(scenario, lane, null), strikes: 0, wrongs: [] });
  });
  await inLanes(SCENARIOS.flatMap(fatesIn), async ({ scenario, fate }, lane) => {
    const result = resultOf(scenario);
    const run = await playViolation(scenario, lane, fate);
    result.strikes += run.wasStruck ? 1 : 0;
    const where = `${fate.what} call ${fate.call}, ${result.whole.calls[fate.call - 1]}`;
    result.wrongs.push(...wrongsOf(scenario, run).map((wrong) => `${where}: ${wrong}`));
  });
}, 120_000);
afterAll(async () => {
  await Promise.all(lanes.map((lane) => lane.close()));
  await redis.stop();
});

async function inLanes<T>(items: readonly T[], work: (item: T, lane: ViolationLane) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, lane);
    }),
  );
}

/** To be killed before a call is to be killed after the one before it: only the first has a before of its own. */
function fatesIn(scenario: ViolationScenario): { scenario: ViolationScenario; fate: Fate }[] {
  const fates: Fate[] = [{ call: 1, what: 'killed before' }];
  for (const index of resultOf(scenario).whole.calls.keys()) {
    fates.push({ call: index + 1, what: 'killed after' }, { call: index + 1, what: 'frozen before' });
  }
  return fates.map((fate) => ({ scenario, fate }));
}

function resultOf({ name }: ViolationScenario) {
  const result = results.get(name);
  if (!result) throw new Error(`${name} was not played`);
  return result;
}

/** What is wrong with a run in which a worker was struck; empty when nothing is. */
function wrongsOf(scenario: ViolationScenario, { end, made }: ViolationRun): string[] {
  const isSame = JSON.stringify(end) === JSON.stringify(ordered(scenario.end));
  // A tow request that echoes our id proves what was made; the guide form carries none, and not every vehicle is towed.
  const isProvable = made > 0 && scenario.api !== 'guide' && scenario.violationType === undefined;
  const isWithPerson =
    scenario.mayNeedPerson === true &&
    !isProvable &&
    JSON.stringify({ ...end, isTowJoined: null }) === JSON.stringify(ordered(UNKNOWN));
  return [
    ...(isSame || isWithPerson ? [] : [`it ends as ${JSON.stringify(end)}`]),
    ...(made > 1 ? [`the service has it ${made} times`] : []),
  ];
}

function ordered({ state, tasks, image, isTowJoined, standing }: ViolationEnd): ViolationEnd {
  return { state, tasks, image, isTowJoined, standing };
}

describe('a worker killed or frozen at any call it makes never leaves a violation twice, half or lost', () => {
  test.each(SCENARIOS)('$name', (scenario) => {
    const { wrongs, strikes, whole } = resultOf(scenario);

    expect(whole.end).toEqual(scenario.end);
    expect(whole.made).toBeLessThanOrEqual(1);
    expect(wrongs).toEqual([]);
    expect(strikes).toBeGreaterThanOrEqual(whole.calls.length);
  });
});
