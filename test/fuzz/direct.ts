import { z } from 'zod';
import { batchSeed, TARGET_NAMES, type FuzzInput } from './target';
import { TARGETS } from './targets';
import { BLOCK_MS, medianOf, type FuzzFailure } from './findings';

/**
 * A child process that passes inputs to the exported parsers and measures each: time on the processor, and the heap
 * before and after. Its plan is its argument; its result is one message to its parent.
 */

const plan = z.object({
  seed: z.number(),
  work: z.array(z.object({ target: z.enum(TARGET_NAMES), from: z.number(), to: z.number() })),
});

const REPLAYS = 5;
/** A parser that runs longer never ends. */
const ENDS_WITHIN_MS = 20_000;
/** The share of inputs after which the code is compiled and the caches are full. */
const WARM_UP = 0.2;

interface BatchProgress {
  inputs: number;
  longestMs: number;
  failures: FuzzFailure[];
}

async function main(): Promise<void> {
  const { seed, work } = plan.parse(JSON.parse(process.argv[2] ?? ''));
  const total = work.reduce((sum, { from, to }) => sum + to - from, 0);
  const progress: BatchProgress = { inputs: 0, longestMs: 0, failures: [] };
  let batches = 0;
  let warm: number | null = null;
  // Interleaved, so that the warm-up has seen every target.
  for (const { target, batch } of interleaved(work)) {
    // Tells the parent the current batch, in case a parser ends this process.
    process.send?.({ target, batch });
    await runBatch(target, { seed, batch }, progress);
    batches += 1;
    if (warm === null && batches >= total * WARM_UP) warm = heapBytes();
  }
  const grownBytes = Math.max(0, heapBytes() - (warm ?? heapBytes()));
  await new Promise<void>((resolve) => process.send?.({ ...progress, grownBytes }, () => resolve()));
}

type BatchRanges = z.output<typeof plan>['work'];

function* interleaved(work: BatchRanges) {
  const longest = Math.max(...work.map(({ from, to }) => to - from));
  for (let step = 0; step < longest; step += 1) {
    for (const { target, from, to } of work) if (from + step < to) yield { target, batch: from + step };
  }
}

async function runBatch(
  name: BatchRanges[number]['target'],
  at: { seed: number; batch: number },
  progress: BatchProgress,
) {
  const target = TARGETS.find((each) => each.name === name);
  if (!target) throw new Error(`no target ${name}`);
  for (const [index, input] of target.batch(batchSeed(at.seed, name, at.batch)).entries()) {
    let { problem, ms } = await measured(input);
    if (ms > BLOCK_MS) {
      const replays: number[] = [];
      for (let replay = 0; replay < REPLAYS; replay += 1) replays.push((await measured(input)).ms);
      ms = medianOf(replays);
      if (ms > BLOCK_MS) problem ??= `blocks for ${Math.round(ms)} ms (median of ${REPLAYS})`;
    }
    progress.inputs += 1;
    progress.longestMs = Math.max(progress.longestMs, ms);
    if (problem !== null) {
      const isBlock = ms > BLOCK_MS;
      progress.failures.push({
        target: name,
        batch: at.batch,
        index,
        way: 'direct',
        isBlock,
        problem,
        ...input.describe(),
      });
    }
  }
}

/** Runs one input. The time is the CPU time, or the elapsed time if it is shorter. */
async function measured(input: FuzzInput): Promise<{ problem: string | null; ms: number }> {
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  const problem = await problemOf(input);
  const { user, system } = process.cpuUsage(startedCpu);
  return { problem, ms: Math.min(performance.now() - startedMs, (user + system) / 1000) };
}

async function problemOf(input: FuzzInput): Promise<string | null> {
  try {
    const result = input.direct();
    return result instanceof Promise ? await inTime(result) : result;
  } catch (error) {
    return `throws ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}

async function inTime(result: Promise<string | null>): Promise<string | null> {
  let limit: NodeJS.Timeout | undefined;
  const tooLate = new Promise<string>((resolve) => {
    limit = setTimeout(() => resolve(`has not ended after ${ENDS_WITHIN_MS} ms`), ENDS_WITHIN_MS);
  });
  const first = await Promise.race([result, tooLate]);
  clearTimeout(limit);
  return first;
}

function heapBytes(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

void main();
