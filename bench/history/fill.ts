import { Redis } from 'ioredis';
import { z } from 'zod';
import { towNames } from '../programs/tow';
import type { TowRange } from '../stage/load';
import { API_KEY, type BenchWorld } from '../stage/world';
import { cloned, type Replacement } from './clone';
import { footprintOf, type Footprint } from './footprint';

/**
 * Fills Redis with finished tows. It clones tows that were played through the product: everything in Redis that names one
 * of them is written again with other ids. So it does not depend on how records are stored.
 */

/** Clones are written in pipelines of so many tows. */
const TOWS_AT_ONCE = 250;
/** From the time of one clone to the next, backwards. */
const APART_MS = 10;
/** Digits at the end of a delivery id that tell its clones apart; decimal digits are valid in any id. */
const DIGITS = 9;

const deliveryPage = z.looseObject({
  items: z.array(z.looseObject({ id: z.string() })),
  next_cursor: z.string().nullable(),
});

/** The ids of a finished tow that clones need others for. */
interface Template {
  readonly suffix: string;
  readonly deliveryIds: readonly string[];
}

/**
 * Writes clones until there are `total` tows, the played ones included. `played` are finished tows; no process of towhook
 * may run but the console at `consoleUrl`. Returns the towing references of the clones by number.
 */
export async function fillHistory(
  world: BenchWorld,
  { played, total, consoleUrl, progress }: Fill,
): Promise<(number: number) => string> {
  const templates = await readTemplates(consoleUrl, played);
  const redis = new Redis(world.redis.url);
  try {
    const footprints: { template: Template; footprint: Footprint }[] = [];
    for (const template of templates) {
      footprints.push({ template, footprint: await footprintOf(redis, [template.suffix, ...template.deliveryIds]) });
    }
    // Synced to disk in one go at the end.
    await redis.config('SET', 'appendfsync', 'no');
    const clones = total - played.count;
    for (let from = 0; from < clones; from += TOWS_AT_ONCE) {
      const pipeline = redis.pipeline();
      for (let number = from; number < Math.min(clones, from + TOWS_AT_ONCE); number += 1) {
        const chosen = footprints[number % footprints.length];
        if (chosen === undefined) throw new Error('there is no finished tow to clone');
        write(pipeline, chosen.footprint, replacementsOf(chosen.template, number), number);
      }
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
      if (from % (TOWS_AT_ONCE * 100) === 0) progress(`filled ${from} of ${clones} tows`);
    }
    await redis.config('SET', 'appendfsync', 'always');
  } finally {
    redis.disconnect();
  }
  return (number) => towNames(CLONE_PREFIX, number).towingReferenceId;
}

interface Fill {
  readonly played: TowRange;
  readonly total: number;
  readonly consoleUrl: string;
  readonly progress: (text: string) => void;
}

/** Digits alone: search terms are stored in one case. */
const CLONE_PREFIX = '88800';

function replacementsOf({ suffix, deliveryIds }: Template, number: number): Replacement[] {
  const mark = String(number + 1).padStart(DIGITS, '0');
  return [
    [suffix, towNames(CLONE_PREFIX, number).towingReferenceId.slice('TW-20261120-'.length)],
    ...deliveryIds.map((id, place): Replacement => [id, `${id.slice(0, -DIGITS - 1)}${place}${mark}`]),
  ];
}

function write(
  pipeline: ReturnType<Redis['pipeline']>,
  { commands, timed }: Footprint,
  replacements: readonly Replacement[],
  number: number,
): void {
  for (const template of commands) {
    const [name, ...parameters] = cloned(template, replacements);
    pipeline.call(String(name), ...parameters);
  }
  for (const { key, member, score } of timed) {
    const [bytes = Buffer.alloc(0)] = cloned(member, replacements);
    pipeline.call('ZADD', key, String(score - number * APART_MS), bytes);
  }
}

/** The played tows with the ids of their deliveries, as the operator API lists them. */
async function readTemplates(consoleUrl: string, { prefix, from, count }: TowRange): Promise<Template[]> {
  const suffixes = Array.from({ length: count }, (_, index) =>
    towNames(prefix, from + index).towingReferenceId.slice('TW-20261120-'.length),
  );
  const idsBySuffix = new Map<string, string[]>(suffixes.map((suffix) => [suffix, []]));
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: '100', ...(cursor === null ? {} : { cursor }) });
    const answer = await fetch(`${consoleUrl}/api/deliveries?${query.toString()}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const { items, next_cursor: next }: z.output<typeof deliveryPage> = deliveryPage.parse(await answer.json());
    for (const item of items) {
      const text = JSON.stringify(item);
      const suffix = suffixes.find((each) => text.includes(each));
      if (suffix !== undefined) idsBySuffix.get(suffix)?.push(item.id);
    }
    cursor = next;
  } while (cursor !== null);
  return [...idsBySuffix].map(([suffix, deliveryIds]) => ({ suffix, deliveryIds }));
}
