import { z } from 'zod';
import { pause } from '../../src/platform/timers';
import { machineMs } from '../measure/resources';
import type { BenchRedis } from '../stage/redis';
import { visitConsole, type ConservationRow, type ConsoleVisitor } from './console-visitor';
import type { StoredWorld } from './stored-world';

/** A record that is gone has to be named within this time; a complete check may take as long. */
const WITHIN_MS = 15 * 60_000;
const LOOK_EVERY_MS = 500;
const SCANNED_AT_ONCE = '10000';

/**
 * Waits for a complete check without findings, deletes the record of a stored tow, and waits until a check names it. A
 * value is NaN when that does not happen in 15 minutes.
 */
export async function measureConservation({ world, clone }: StoredWorld): Promise<ReadonlyMap<string, number>> {
  const console = await world.role('console');
  const worker = await world.role('worker');
  const visitor = await visitConsole(console.url('console'));
  const figures = new Map<string, number>();
  const complete = await untilChecked(visitor, ({ lost }) => lost === 0);
  figures.set('conservation check, s', complete === null ? Number.NaN : (complete.check_ms ?? Number.NaN) / 1000);
  figures.set('conservation check, items', complete?.acknowledged ?? Number.NaN);
  figures.set('open tasks before anything was lost', await visitor.openTasks());
  const victim = clone(0);
  await deleteRecord(world.redis, victim);
  const deletedMs = machineMs();
  const named = await untilChecked(visitor, ({ lost_names: names }) => names.some((name) => name.includes(victim)));
  figures.set('deleted record named after, s', named === null ? Number.NaN : (machineMs() - deletedMs) / 1000);
  await Promise.all([console.stop(), worker.stop()]);
  return figures;
}

/** The first check that begins from now on, is complete and passes; null when there is none in time. */
async function untilChecked(
  visitor: ConsoleVisitor,
  passes: (check: ConservationRow) => boolean,
): Promise<ConservationRow | null> {
  const givesUpAtMs = machineMs() + WITHIN_MS;
  const before = (await visitor.conservation()).started_at;
  while (machineMs() < givesUpAtMs) {
    const check = await visitor.conservation();
    if (check.started_at !== null && check.started_at !== before && passes(check)) return check;
    await pause(LOOK_EVERY_MS);
  }
  return null;
}

/** Deletes every key whose name contains the reference. */
async function deleteRecord(redis: BenchRedis, ref: string): Promise<void> {
  let cursor = '0';
  do {
    const reply = await redis.ask('SCAN', cursor, 'MATCH', `*${ref}*`, 'COUNT', SCANNED_AT_ONCE);
    const [next, keys] = z.tuple([z.string(), z.array(z.string())]).parse(reply);
    if (keys.length > 0) await redis.ask('DEL', ...keys);
    cursor = next;
  } while (cursor !== '0');
}
