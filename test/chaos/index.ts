import { parseArgs } from 'node:util';
import { systemClock } from '../../src/platform/clock';
import { printLine, printProblem } from '../../src/platform/terminal';
import { compile } from '../support/compiled';
import { runChaos } from './run';
import { printSummary } from './summary';

/**
 * `npm run chaos -- [--seed N] [--tows 2000] [--minutes-limit 30]` plays tows through all their reports while processes
 * are killed and frozen and the service fails. Then it compares the calls that the service recorded with the facts.
 * Rounds are added until every kind of failure occurred often enough; the limit only ends a run that hangs.
 * Exit codes: 0 nothing lost, repeated without need or out of order · 1 otherwise · 2 wrong arguments.
 */

const TOWS_MAX = 10_000;
const SEED_MAX = 2 ** 32 - 1;
const MS_PER_TOW = 55;
const CHAOS_MIN_MS = 15_000;

const asked = new AbortController();

async function main(): Promise<number> {
  const wanted = argumentsOf();
  if (wanted === null) {
    printProblem('Usage: npm run chaos -- [--seed N] [--tows 2000] [--minutes-limit 30]');
    printProblem(`seed: a whole number to ${SEED_MAX}; tows: 1 to ${TOWS_MAX}; minutes-limit: more than 0`);
    return 2;
  }
  const { seed, tows, minutesLimit } = wanted;
  await compile();
  printLine(`  seed ${seed}, ${tows} tows`);
  const chaosMs = Math.max(CHAOS_MIN_MS, tows * MS_PER_TOW);
  const findings = await runChaos({
    seed,
    tows,
    chaosMs,
    limitMs: minutesLimit * 60_000,
    signal: asked.signal,
    show: (line) => printLine(`  ${line}`),
  });
  return printSummary(findings, { seed, tows }) ? 0 : 1;
}

/** Null for wrong arguments. */
function argumentsOf(): { seed: number; tows: number; minutesLimit: number } | null {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string' },
        tows: { type: 'string', default: '2000' },
        'minutes-limit': { type: 'string', default: '30' },
      },
    });
    const seed = values.seed === undefined ? Math.floor(systemClock.random() * SEED_MAX) : Number(values.seed);
    const [tows, minutesLimit] = [Number(values.tows), Number(values['minutes-limit'])];
    const isSane = Number.isInteger(seed) && seed >= 0 && seed <= SEED_MAX && Number.isInteger(tows);
    return isSane && tows >= 1 && tows <= TOWS_MAX && minutesLimit > 0 ? { seed, tows, minutesLimit } : null;
  } catch {
    return null;
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => asked.abort());

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const problem = error instanceof Error ? (error.stack ?? error.message) : 'The run broke off.';
    printProblem(asked.signal.aborted ? 'The run was stopped; everything it started has ended.' : problem);
    process.exit(1);
  },
);
