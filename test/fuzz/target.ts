import * as fc from 'fast-check';
import type { FuzzedProduct } from './product';

/** The parsers under test. */
export const TARGET_NAMES = ['webhook', 'signature', 'api', 'multipart', 'cookie', 'answers'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** One input. Both ways return the fault or null; an exception is a crash of the parser. */
export interface FuzzInput {
  /** Passes it to the exported parsers, in this process. */
  direct(): string | null | Promise<string | null>;
  /** Sends it to a running product over HTTP. `again` counts repetitions: it makes the request new where that matters. */
  send(product: FuzzedProduct, again: number): Promise<string | null>;
  /** The input as JSON, for the file of a failing input. */
  describe(): object;
}

export interface FuzzTarget {
  readonly name: TargetName;
  /** Its share of the inputs of a run. */
  readonly share: number;
  /** The inputs of one batch. The same seed draws the same inputs. */
  batch(seed: number): FuzzInput[];
}

export interface TargetPlan<T> {
  readonly name: TargetName;
  readonly share: number;
  readonly inputs: fc.Arbitrary<T>;
  readonly direct: (input: T) => string | null | Promise<string | null>;
  readonly send: (input: T, product: FuzzedProduct, again: number) => Promise<string | null>;
  /** The part of an input that is shown; default: all of it. */
  readonly shown?: (input: T) => object;
}

/** The number of inputs that are drawn, sent and judged together. */
export const BATCH_SIZE = 50;

export function createTarget<T>({ name, share, inputs, direct, send, shown }: TargetPlan<T>): FuzzTarget {
  return {
    name,
    share,
    batch: (seed) =>
      fc.sample(inputs, { seed, numRuns: BATCH_SIZE }).map((input) => ({
        direct: () => direct(input),
        send: (product, again) => send(input, product, again),
        describe: () => ({ input: readable(shown ? shown(input) : input) }),
      })),
  };
}

/** Bytes as base64, everything else as JSON has it. */
function readable(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return { base64: value.toString('base64') };
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, readable(member)]));
}

/** The seed of one batch of a target: a mix of the run's seed, so that any batch can be repeated alone. */
export function batchSeed(seed: number, target: TargetName, batch: number): number {
  let mixed = seed ^ Math.imul(TARGET_NAMES.indexOf(target) + 1, 0x9e3779b1) ^ Math.imul(batch + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) | 0;
}
