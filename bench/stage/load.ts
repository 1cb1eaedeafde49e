import { z } from 'zod';
import { API_KEY, type BenchWorld } from './world';

/** What the load generator reports of one command. */
const loadReport = z.object({
  requests: z.int(),
  /** Answers 503; the load generator repeats such a request. */
  unavailable: z.int(),
  seconds: z.number(),
  p50Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
});
export type LoadReport = z.output<typeof loadReport>;

export interface TowRange {
  readonly prefix: string;
  readonly from: number;
  readonly count: number;
}

/** A load generator in a process of its own. */
export interface Load {
  /** Posts new tow requests for a while. */
  webhooks(url: string, options: { connections: number; durationMs: number }): Promise<LoadReport>;
  /** Posts each tow request of a range once. */
  deliver(url: string, range: TowRange, connections: number): Promise<LoadReport>;
  /** Resolves when the operator API knows all tows of a range. */
  untilKnown(url: string, range: TowRange, connections: number): Promise<void>;
  /** Posts the first facts of every tow of a range; all five by default. */
  facts(url: string, range: TowRange, options: { connections: number; factsPerTow?: number }): Promise<LoadReport>;
}

/** Starts a load generator; the world ends it. */
export function startLoad(world: BenchWorld): Load {
  const program = world.program('load');
  return {
    webhooks: (url, options) => program.ask({ do: 'webhooks', url, prefix: 'w', ...options }, loadReport),
    deliver: (url, range, connections) => program.ask({ do: 'deliver', url, ...range, connections }, loadReport),
    async untilKnown(url, range, connections) {
      await program.ask({ do: 'known', url, apiKey: API_KEY, ...range, connections }, loadReport);
    },
    facts: (url, range, { connections, factsPerTow = 5 }) =>
      program.ask({ do: 'facts', url, apiKey: API_KEY, ...range, connections, factsPerTow }, loadReport),
  };
}

/** Requests per second. */
export function rateOf({ requests, seconds }: LoadReport): number {
  return requests / seconds;
}
