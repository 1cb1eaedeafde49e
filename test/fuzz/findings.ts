import { z } from 'zod';
import { TARGET_NAMES } from './target';

/** No input may hold the event loop longer. */
export const BLOCK_MS = 50;

/** An input that broke something, with what is needed to repeat it. */
export const failure = z.looseObject({
  target: z.enum(TARGET_NAMES),
  batch: z.number(),
  /** Its place in the batch; null when the batch as a whole is meant. */
  index: z.number().nullable(),
  way: z.enum(['direct', 'http']),
  /** True when all that is wrong is how long it took. */
  isBlock: z.boolean(),
  problem: z.string(),
});
export type Failure = z.output<typeof failure>;

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
