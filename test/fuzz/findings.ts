import { z } from 'zod';
import { TARGET_NAMES } from './target';

/** No input may block the event loop longer. */
export const BLOCK_MS = 50;

/** An input that broke something, with what is needed to repeat it. */
export const failure = z.looseObject({
  target: z.enum(TARGET_NAMES),
  batch: z.number(),
  /** Its index in the batch; null for the whole batch. */
  index: z.number().nullable(),
  way: z.enum(['direct', 'http']),
  /** True when only its duration is wrong. */
  isBlock: z.boolean(),
  problem: z.string(),
});
export type FuzzFailure = z.output<typeof failure>;

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
