import { startTestRedis, type TestRedis } from '../support/redis';
import { RUN_SCENARIOS } from './run-scenarios';
import { DELIVERY_SCENARIOS } from './delivery-scenarios';
import { openTestBed, type TestBed } from './test-bed';
import { endOf, runScenario, problemsOf, type Run } from './run-scenario';
import { REPORT_SCENARIOS } from './report-scenarios';
import type { Scenario } from './scenario';
import type { Interruption } from './steps';
import { onTestBeds } from './sweep';
import { VIOLATION_SCENARIOS } from './violation-scenarios';

const NAMES: ReadonlySet<string> = new Set([
  'a tow request for which an invoice is parked',
  'a batch of twenty deliveries',
  'a tow whose facts are all entered at once',
  'a report that is given up',
  'reports that take permits',
  'a violation that depends on a ticket',
  'a violation whose tow is requested',
  'a run of waivers',
]);
const SCENARIOS = [...DELIVERY_SCENARIOS, ...REPORT_SCENARIOS, ...VIOLATION_SCENARIOS, ...RUN_SCENARIOS].filter(
  ({ name }) => NAMES.has(name),
);
/** A killed server ends the run of its test bed, so each test bed has its own. */
const SERVERS = 8;

const servers: TestRedis[] = [];
let testBeds: readonly TestBed[];
const results = new Map<string, { readonly uninterrupted: Run; kills: number; readonly problems: string[] }>();

beforeAll(async () => {
  for (let started = 0; started < SERVERS; started += 1) servers.push(await startTestRedis({ appendfsync: 'always' }));
  testBeds = await Promise.all(servers.map((server) => openTestBed(server.url, server)));
  await onTestBeds(testBeds, SCENARIOS, async (scenario, testBed) => {
    // Every server learns the scripts at its first runs; from then on all runs take the same steps.
    await runScenario(scenario, testBed, null);
    results.set(scenario.name, { uninterrupted: await runScenario(scenario, testBed, null), kills: 0, problems: [] });
  });
  const runs = SCENARIOS.flatMap((scenario) =>
    interruptionsOf(resultOf(scenario).uninterrupted).map((interruption) => ({ scenario, interruption })),
  );
  await onTestBeds(testBeds, runs, async ({ scenario, interruption }, testBed) => {
    const result = resultOf(scenario);
    const run = await runScenario(scenario, testBed, interruption);
    const { step, what } = interruption;
    const where = `${what} step ${step}, ${run.steps[step - 1]?.name}`;
    result.kills += run.wasInterrupted ? 1 : 0;
    result.problems.push(...problemsOf(scenario, run, result.uninterrupted).map((problem) => `${where}: ${problem}`));
    const waited = scenario.mayWaitForLease ? [] : run.leasesEnded;
    result.problems.push(...waited.map((name) => `${where}: ${name} waited for the end of a lease`));
  });
}, 600_000);
afterAll(async () => {
  await Promise.all(testBeds.map((testBed) => testBed.close()));
  await Promise.all(servers.map((server) => server.stop()));
});

function resultOf({ name }: Scenario) {
  const result = results.get(name);
  if (!result) throw new Error(`${name} was not played`);
  return result;
}

/** Before each command that may write, and between each command and its reply. Of reads that go together one is enough. */
function interruptionsOf({ steps }: Run): Interruption[] {
  return steps.flatMap(({ kind, mayWrite, isConcurrent }, index): Interruption[] => {
    if (kind !== 'redis' || (isConcurrent && !mayWrite)) return [];
    const step = index + 1;
    return [
      ...(mayWrite ? [{ step, what: 'redis killed before' } as const] : []),
      { step, what: 'redis killed after' },
    ];
  });
}

test.each(SCENARIOS)(
  'when Redis is killed and started again around any command of a worker that handles $name, the worker reaches the same end',
  (scenario) => {
    const { problems, kills, uninterrupted } = resultOf(scenario);

    expect(endOf(uninterrupted)).toEqual([...scenario.end].toSorted());
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(
      uninterrupted.steps.filter(({ kind, mayWrite }) => kind === 'redis' && mayWrite).length,
    );
  },
);
