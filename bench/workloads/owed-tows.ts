import { z } from 'zod';
import { startLoad, type LoadReport, type TowRange } from '../stage/load';
import type { BenchWorld } from '../stage/world';

/** Connections while tows are made; no figure depends on it. */
const CONNECTIONS = 32;

export const serviceSummary = z.object({
  calls: z.int(),
  failed: z.int(),
  disorder: z.int(),
  firstAtMs: z.number().nullable(),
  lastAtMs: z.number().nullable(),
});

/** Makes tows from webhooks: delivers them, waits until they are taken in, and stops receiver and worker. */
export async function makeTows(world: BenchWorld, ranges: readonly TowRange[]): Promise<void> {
  const load = startLoad(world);
  const [receiver, worker, console] = await Promise.all([
    world.role('receiver'),
    world.role('worker'),
    world.role('console'),
  ]);
  for (const range of ranges) {
    await load.deliver(receiver.url('receiver'), range, CONNECTIONS);
    await load.untilKnown(console.url('console'), range, CONNECTIONS);
  }
  await Promise.all([receiver.stop(), worker.stop(), console.stop()]);
}

/** Makes tows whose facts are recorded and whose reports are all owed. Returns how the API took the facts. */
export async function oweReports(
  world: BenchWorld,
  range: TowRange,
  { connections = CONNECTIONS, factsPerTow = 5 }: { connections?: number; factsPerTow?: number } = {},
): Promise<LoadReport> {
  await makeTows(world, [range]);
  const console = await world.role('console');
  const report = await startLoad(world).facts(console.url('console'), range, { connections, factsPerTow });
  await console.stop();
  return report;
}

export interface Drained {
  /** From the first call at the service until the last. */
  readonly seconds: number;
}

/**
 * Waits until the service has accepted so many calls. Throws when they do not come in time, or when a call of a tow came
 * out of order.
 */
export async function untilDrained(world: BenchWorld, calls: number, timeoutMs: number): Promise<Drained> {
  const service = await world.service();
  const seen = await service.ask({ do: 'expect', calls, timeoutMs }, serviceSummary);
  if (seen.calls < calls) throw new Error(`only ${seen.calls} of ${calls} calls came within ${timeoutMs / 1000} s`);
  if (seen.disorder > 0) throw new Error(`${seen.disorder} calls came out of order`);
  return { seconds: ((seen.lastAtMs ?? 0) - (seen.firstAtMs ?? 0)) / 1000 };
}
