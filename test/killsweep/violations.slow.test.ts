import { startTestRedis, type TestRedis } from '../support/redis';
import type { Interruption } from './interruptible-worker';
import { openViolationLane, type ViolationLane } from './violation-lane';
import { playViolation, type ViolationEnd, type ViolationRun, type ViolationScenario } from './violation-run';

const DONE = { state: 'accepted', tasks: [], image: 'deleted', isTowJoined: null, conservation: 'finished' } as const;
const TOWED: ViolationEnd = { ...DONE, isTowJoined: true };
const NEEDS_ACTION = { image: 'kept', isTowJoined: null, conservation: 'with_a_person' } as const;
const UNKNOWN: ViolationEnd = { ...NEEDS_ACTION, state: 'unknown', tasks: ['violation_unknown'] };

const SCENARIOS: readonly ViolationScenario[] = [
  { name: 'a violation whose tow is requested', end: TOWED, mayNeedPerson: true },
  { name: 'a violation that depends on a ticket', violationType: 'NO_TICKET', end: DONE, mayNeedPerson: true },
  {
    name: 'a violation whose vehicle has an active ticket',
    violationType: 'NO_TICKET',
    hasActiveTicket: true,
    end: { ...NEEDS_ACTION, state: 'held', tasks: ['active_ticket'] },
  },
  {
    name: 'a violation whose answer is lost',
    fault: { fault: 'lost_answer', times: 1 },
    end: TOWED,
    mayNeedPerson: true,
  },
  {
    name: 'a refused violation',
    fault: { fault: '400' },
    end: { ...NEEDS_ACTION, state: 'refused', tasks: ['violation_refused'] },
    mayNeedPerson: true,
  },
  { name: 'a violation answered 500 once', fault: { fault: '500', times: 1 }, end: TOWED, mayNeedPerson: true },
  { name: 'a violation that never gets an answer', fault: { fault: 'drop' }, end: UNKNOWN },
  { name: 'a violation of the guide API', api: 'guide', end: TOWED, mayNeedPerson: true },
  { name: 'a waived violation', isWaived: true, end: { ...DONE, state: 'waived' } },
];
const LANES = 32;

let redis: TestRedis;
let lanes: ViolationLane[];
const results = new Map<string, { uninterrupted: ViolationRun; interruptedRuns: number; problems: string[] }>();

beforeAll(async () => {
  redis = await startTestRedis({ databases: String(LANES) });
  lanes = await Promise.all(Array.from({ length: LANES }, (_, index) => openViolationLane(`${redis.url}/${index}`)));
  await inLanes(SCENARIOS, async (scenario, lane) => {
    results.set(scenario.name, {
      uninterrupted: await playViolation(scenario, lane, null),
      interruptedRuns: 0,
      problems: [],
    });
  });
  await inLanes(SCENARIOS.flatMap(interruptionsOf), async ({ scenario, interruption }, lane) => {
    const result = resultOf(scenario);
    const run = await playViolation(scenario, lane, interruption);
    result.interruptedRuns += run.wasInterrupted ? 1 : 0;
    const where = `${interruption.what} call ${interruption.call}, ${result.uninterrupted.calls[interruption.call - 1]}`;
    result.problems.push(...problemsOf(scenario, run).map((problem) => `${where}: ${problem}`));
  });
}, 600_000);
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

/** Killed before a call equals killed after the previous call, so only the first call has a "killed before". */
function interruptionsOf(scenario: ViolationScenario): { scenario: ViolationScenario; interruption: Interruption }[] {
  const interruptions: Interruption[] = [{ call: 1, what: 'killed before' }];
  for (const index of resultOf(scenario).uninterrupted.calls.keys()) {
    interruptions.push({ call: index + 1, what: 'killed after' }, { call: index + 1, what: 'frozen before' });
  }
  return interruptions.map((interruption) => ({ scenario, interruption }));
}

function resultOf({ name }: ViolationScenario) {
  const result = results.get(name);
  if (!result) throw new Error(`${name} was not played`);
  return result;
}

/** The problems of an interrupted run. */
function problemsOf(scenario: ViolationScenario, { end, made }: ViolationRun): string[] {
  const isSame = JSON.stringify(end) === JSON.stringify(ordered(scenario.end));
  // A tow request with our id proves the violation; the guide API carries no id, and not every vehicle is towed.
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

function ordered({ state, tasks, image, isTowJoined, conservation }: ViolationEnd): ViolationEnd {
  return { state, tasks, image, isTowJoined, conservation };
}

test.each(SCENARIOS)(
  'when a worker is killed or frozen at any call while it submits $name, the service has it at most once and it reaches its end',
  (scenario) => {
    const { problems, interruptedRuns, uninterrupted } = resultOf(scenario);

    expect(uninterrupted.end).toEqual(scenario.end);
    expect(uninterrupted.made).toBeLessThanOrEqual(1);
    expect(problems).toEqual([]);
    expect(interruptedRuns).toBeGreaterThanOrEqual(uninterrupted.calls.length);
  },
);
