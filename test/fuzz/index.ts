import { parseArgs } from 'node:util';
import { systemClock } from '../../src/platform/clock';
import { printLine, printProblem } from '../../src/platform/terminal';
import { compile } from '../support/compiled';
import { runFuzz, type FuzzOptions } from './run';
import { printSummary } from './summary';
import { TARGET_NAMES } from './target';

/**
 * `npm run fuzz -- [--seed N] [--inputs 1000000] [--target name] [--batch N]`: hostile inputs for all code that
 * reads input from outside. Most go straight to the exported parsers, the rest over HTTP to a running product. No input may
 * crash a process, cause an undocumented 5xx or an invalid answer, block the event loop for more than 50 ms, or leak memory.
 * Failing inputs are stored below .cache/fuzz, each with the command that repeats it.
 * Exit codes: 0 all requirements met · 1 a requirement failed · 2 invalid arguments.
 */

const SEED_MAX = 2 ** 31 - 1;
const INPUTS_MAX = 100_000_000;

const asked = new AbortController();

async function main(): Promise<number> {
  const wanted = argumentsOf();
  if (wanted === null) {
    printProblem('Usage: npm run fuzz -- [--seed N] [--inputs 1000000] [--target name] [--batch N]');
    printProblem(`target: ${TARGET_NAMES.join(', ')}; batch: repeats one batch of a target`);
    return 2;
  }
  await compile();
  printLine(`  seed ${wanted.seed}, ${wanted.batch === null ? `${wanted.inputs} inputs` : `batch ${wanted.batch}`}`);
  const findings = await runFuzz({ ...wanted, signal: asked.signal, show: (line) => printLine(`  ${line}`) });
  return printSummary(findings, wanted.seed) ? 0 : 1;
}

/** Null for invalid arguments. */
function argumentsOf(): Pick<FuzzOptions, 'seed' | 'inputs' | 'target' | 'batch'> | null {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string' },
        inputs: { type: 'string', default: '1000000' },
        target: { type: 'string' },
        batch: { type: 'string' },
      },
    });
    const seed = values.seed === undefined ? Math.floor(systemClock.random() * SEED_MAX) : Number(values.seed);
    const inputs = Number(values.inputs);
    const target = TARGET_NAMES.find((name) => name === values.target) ?? null;
    const batch = values.batch === undefined ? null : Number(values.batch);
    const isWhole = (value: number, most: number) => Number.isInteger(value) && value >= 0 && value <= most;
    const isKnown = target !== null || values.target === undefined;
    const isBatch = batch === null || (target !== null && isWhole(batch, INPUTS_MAX));
    const isUsable = isWhole(seed, SEED_MAX) && isWhole(inputs, INPUTS_MAX) && inputs > 0 && isKnown && isBatch;
    return isUsable ? { seed, inputs, target, batch } : null;
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
