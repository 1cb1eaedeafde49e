import { pause } from '../../src/platform/timers';
import { BLOCK_MS, medianOf, type FuzzFailure } from './findings';
import { setStage, type FuzzedProduct } from './product';
import { memoryOf, type HttpMemory } from './memory';
import { batchSeed, type FuzzInput, type TargetName } from './target';
import { TARGETS } from './targets';

/** Sends batches of inputs to a running product, several at a time, and judges its answers, event loop and memory. */

export interface HttpResult {
  readonly inputs: number;
  /** The longest time in which the product served nothing else, by the probe, and the same confirmed by replays. */
  readonly longestMs: number;
  /** Batches that were replayed because the event loop seemed blocked. */
  readonly replayedBatches: number;
  /** Inputs whose first answer was wrong and whose second was not: a busy machine. */
  readonly answeredLate: number;
  readonly memory: HttpMemory;
  readonly failures: readonly FuzzFailure[];
}

export interface HttpTools {
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly tick: (inputs: number) => void;
}

const AT_ONCE = 8;
const REPLAYS = 5;
/** An input fails when every one of these attempts fails. */
const ATTEMPTS = 3;
/** Time for the work that an accepted call causes after its answer. */
const WORK_BEHIND_MS = 40;
/** The share of batches after which the product's code is compiled and its caches are full. */
const WARM_UP = 0.2;
/** Every input fails after the product has ended. These failures are enough to see the cause. */
const FAILURES_MAX = 200;

interface Batch {
  readonly target: TargetName;
  readonly batch: number;
}

export async function runHttp(batches: readonly Batch[], tools: HttpTools): Promise<HttpResult> {
  const product = await setStage();
  try {
    return await sendAll(product, batches, tools);
  } finally {
    await product.stop();
  }
}

async function sendAll(
  product: FuzzedProduct,
  batches: readonly Batch[],
  { seed, signal, tick }: HttpTools,
): Promise<HttpResult> {
  const failures: FuzzFailure[] = [];
  const counts = { inputs: 0, longestMs: 0, replayedBatches: 0, answeredLate: 0 };
  const memory = memoryOf(product);
  await memory.begin();
  for (const [index, { target, batch }] of batches.entries()) {
    signal.throwIfAborted();
    if (failures.length > FAILURES_MAX) break;
    const inputs = TARGETS.find(({ name }) => name === target)?.batch(batchSeed(seed, target, batch)) ?? [];
    const fail = (at: number | null, problem: string, isBlock = false) =>
      void failures.push({
        isBlock,
        target,
        batch,
        index: at,
        way: 'http',
        problem,
        ...(at === null ? {} : inputs[at]?.describe()),
      });
    const problems = await inBatchesOf(AT_ONCE, inputs, (input) => problemOf(input, product, 0));
    for (const [at, problem] of problems.entries()) {
      if (problem === null) continue;
      const lasting = await lastingProblem(inputs[at], product);
      if (lasting === null) counts.answeredLate += 1;
      else fail(at, lasting);
    }
    const { blockedMs } = await product.meter.look();
    if (blockedMs > BLOCK_MS) {
      counts.replayedBatches += 1;
      for (const { at, ms } of await blocksOf(inputs, product)) {
        counts.longestMs = Math.max(counts.longestMs, ms);
        if (ms > BLOCK_MS) fail(at, `blocks the event loop for ${Math.round(ms)} ms (median of ${REPLAYS})`, true);
      }
    } else {
      counts.longestMs = Math.max(counts.longestMs, blockedMs);
    }
    for (const problem of product.problems()) fail(null, problem);
    counts.inputs += inputs.length;
    tick(counts.inputs);
    if (index + 1 === Math.ceil(batches.length * WARM_UP)) await memory.warm();
  }
  return { ...counts, memory: await memory.end(), failures };
}

async function problemOf(input: FuzzInput, product: FuzzedProduct, again: number): Promise<string | null> {
  try {
    return await input.send(product, again);
  } catch (error) {
    return `cannot be sent: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}

/** A problem that occurs each time the input is sent alone; null when one attempt succeeds. */
async function lastingProblem(input: FuzzInput | undefined, product: FuzzedProduct): Promise<string | null> {
  let problem: string | null = null;
  for (let again = 1; again < ATTEMPTS; again += 1) {
    problem = input ? await problemOf(input, product, again) : null;
    if (problem === null) return null;
  }
  return problem;
}

/**
 * The inputs of a batch that block the event loop by themselves, with the median of several replays of each alone.
 * Requests that wait for one another in a busy process block nothing longer than the longest of them does.
 */
async function blocksOf(inputs: readonly FuzzInput[], product: FuzzedProduct): Promise<{ at: number; ms: number }[]> {
  let again = ATTEMPTS;
  for (let run = 0; run < 2; run += 1) {
    for (const input of inputs) await problemOf(input, product, (again += 1));
    const { blockedMs } = await product.meter.look();
    if (blockedMs <= BLOCK_MS) return [];
  }
  const alone = async (input: FuzzInput): Promise<number> => {
    await product.meter.look();
    await problemOf(input, product, (again += 1));
    await pause(WORK_BEHIND_MS);
    return (await product.meter.look()).blockedMs;
  };
  const found: { at: number; ms: number }[] = [];
  for (const [at, input] of inputs.entries()) {
    if ((await alone(input)) <= BLOCK_MS) continue;
    const replays: number[] = [];
    for (let replay = 0; replay < REPLAYS; replay += 1) replays.push(await alone(input));
    found.push({ at, ms: medianOf(replays) });
  }
  return found;
}

async function inBatchesOf<T, R>(atOnce: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const runner = async () => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runner));
  return results;
}
