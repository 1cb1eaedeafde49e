import type { Redis } from 'ioredis';
import type { FiguresStore, Range } from '../workflow/figures-port';
import { MINUTE_MS, seriesOf, stepsOf, type Bucket } from '../workflow/series';
import { KEYS } from './keys';
import { texts } from './parse';
import { Script } from './scripts';

const readFigures = new Script('read-figures');

/** Each minute goes by itself. One holds at most 90 numbers, less than 2 KB: all of them together less than 6 MB. */
const KEPT_HOURS = 48;
export const FIGURES_KEPT_SECONDS = KEPT_HOURS * 3600;
const KEPT_MS = FIGURES_KEPT_SECONDS * 1000;
/** Minutes read at a time: Redis is held for a few ms at most, and serves others in between. */
const SLICE = 120;

/** The figures of all processes, minute by minute (written by lua/beat.lua). */
export function createFiguresStore(redis: Redis): FiguresStore {
  return {
    async series(range) {
      checkRange(range);
      const { firstMs, count } = stepsOf(range);
      const first = firstMs / MINUTE_MS;
      const end = first + (count * range.stepMs) / MINUTE_MS;
      const buckets: (Bucket | null)[] = [];
      let running = 0;
      for (let minute = first; minute < end; minute += SLICE) {
        const reply = await readFigures.run(redis, [KEYS.figures], [minute, Math.min(SLICE, end - minute)]);
        const [now, ...minutes] = texts(reply, 'read-figures');
        running = Number(now);
        buckets.push(...minutes.map(bucketOf));
      }
      return seriesOf(range, buckets, running * MINUTE_MS);
    },

    openTasks: () => redis.zcard(KEYS.openTasks),
  };
}

/** What is no number, as only a foreign hand would write it, is left out. */
function bucketOf(text: string): Bucket | null {
  if (text === '') return null;
  const bucket = new Map<string, number>();
  const words = text.split(' ');
  for (let at = 0; at + 1 < words.length; at += 2) {
    const value = Number(words[at + 1]);
    if (Number.isFinite(value)) bucket.set(words[at] ?? '', value);
  }
  return bucket;
}

function checkRange({ fromMs, toMs, stepMs }: Range): void {
  const isStep = stepMs >= MINUTE_MS && stepMs <= KEPT_MS && stepMs % MINUTE_MS === 0;
  if (!isStep) throw new RangeError('a step is a whole number of minutes, and no longer than figures are kept');
  if (!(toMs > fromMs)) throw new RangeError('a range must end after it begins');
  if (toMs - fromMs > KEPT_MS) throw new RangeError(`figures are kept for ${KEPT_HOURS} hours`);
}
