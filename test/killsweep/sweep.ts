import { startTestRedis, type TestRedis } from '../support/redis';
import { UNUSED_PERMITS } from './outcome';
import { openTestBed, type TestBed } from './test-bed';
import { endOf, runScenario, problemsOf, type Run } from './run-scenario';
import type { Scenario } from './scenario';
import type { Interruption } from './steps';
import { WAITS_WITHOUT_CALL } from './stored';

/** A run mostly waits for webhooks and schedules, so many runs go on concurrently, each with its own database. */
const LANES = 24;
/** How often a run is repeated while a stall may explain what it found. A fault of the code is found each time. */
const REPEATS_MAX = 4;

interface Result {
  readonly uninterrupted: Run;
  interruptedRuns: number;
  readonly problems: string[];
}

/** Declares a test per scenario: its worker is killed or frozen at every step it takes, once per run. */
export function sweep(scenarios: readonly Scenario[]): void {
  const results = new Map<string, Result>();
  const resultOf = ({ name }: Scenario) => {
    const result = results.get(name);
    if (!result) throw new Error(`${name} was not played`);
    return result;
  };
  let redis: TestRedis;
  let testBeds: readonly TestBed[];
  beforeAll(async () => {
    redis = await startTestRedis({ databases: String(LANES) });
    testBeds = await Promise.all(Array.from({ length: LANES }, (_, index) => openTestBed(`${redis.url}/${index}`)));
    // The first run of a script is preceded by its text; all others take the same steps as each other.
    await onTestBeds(
      testBeds,
      scenarios,
      async (scenario, testBed) => void (await runScenario(scenario, testBed, null)),
    );
    await onTestBeds(testBeds, scenarios, async (scenario, testBed) => {
      results.set(scenario.name, {
        uninterrupted: await runScenario(scenario, testBed, null),
        interruptedRuns: 0,
        problems: [],
      });
    });
    const runs = scenarios.flatMap((scenario) =>
      interruptionsOf(resultOf(scenario).uninterrupted).map((interruption) => ({ scenario, interruption })),
    );
    await onTestBeds(testBeds, runs, async ({ scenario, interruption }, testBed) => {
      const result = resultOf(scenario);
      const { uninterrupted } = result;
      const { step, what } = interruption;
      const play = async () => {
        const run = await runScenario(scenario, testBed, interruption);
        const problems = problemsOf(scenario, run, uninterrupted).filter(
          (problem) => !(what.startsWith('frozen') && problem.endsWith(WAITS_WITHOUT_CALL)),
        );
        return { run, problems };
      };
      // A permit lasts a second. Where the machine stalls for longer, a worker takes another one, and the old one counts.
      const mayHaveStalled = ({ problems }: Awaited<ReturnType<typeof play>>) =>
        problems.length > 0 && problems.every((problem) => problem.startsWith(UNUSED_PERMITS));
      let played = await play();
      for (let again = 0; again < REPEATS_MAX && mayHaveStalled(played); again += 1) played = await play();
      const { run, problems } = played;
      const where = `${what} step ${step}, ${run.steps[step - 1]?.name}`;
      result.interruptedRuns += run.wasInterrupted ? 1 : 0;
      result.problems.push(...problems.map((problem) => `${where}: ${problem}`));
    });
  }, 600_000);
  afterAll(async () => {
    await Promise.all(testBeds.map((testBed) => testBed.close()));
    await redis.stop();
  });

  test.each(scenarios)(
    'when a worker is killed or frozen at any step while it handles $name, another worker reaches the same end',
    (scenario) => {
      const { problems, interruptedRuns, uninterrupted } = resultOf(scenario);
      const { outcome, leasesEnded, failures, steps } = uninterrupted;

      expect(endOf(uninterrupted)).toEqual([...scenario.end].toSorted());
      expect({ faults: outcome.faults, leasesEnded, failures }).toEqual({ faults: [], leasesEnded: [], failures: [] });
      expect(problems).toEqual([]);
      expect(interruptedRuns).toBeGreaterThanOrEqual(steps.filter(({ mayWrite }) => mayWrite).length);
    },
  );
}

/** Gives each item to the next free test bed. */
export async function onTestBeds<T>(
  testBeds: readonly TestBed[],
  items: readonly T[],
  work: (item: T, testBed: TestBed) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  await Promise.all(
    testBeds.map(async (testBed) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, testBed);
    }),
  );
}

/**
 * Every step is interrupted before and after it, in as few runs as that takes. A killed worker leaves nothing but what it
 * has written, so that all places between two writes are one. Killed before a write is killed after the one before, unless
 * both are under way at once.
 *
 * A worker freezes before each write, and between each step and the call of the service that follows it. Frozen within the
 * call it may be overtaken: its bytes may be on their way.
 */
function interruptionsOf({ steps }: Run): Interruption[] {
  return steps.flatMap(({ kind, mayWrite, isConcurrent }, index): Interruption[] => {
    const step = index + 1;
    const isBeforeCall = steps[index + 1]?.kind === 'service';
    return [
      ...(step === 1 || (mayWrite && isConcurrent) ? [{ step, what: 'killed before' } as const] : []),
      ...(mayWrite ? [{ step, what: 'killed after' } as const] : []),
      ...(mayWrite && kind !== 'service' ? [{ step, what: 'frozen before' } as const] : []),
      ...(isBeforeCall ? [{ step, what: 'frozen after' } as const] : []),
    ];
  });
}
