import type { Redis } from 'ioredis';
import { MINUTE_MS } from '../../domain/timestamp';
import type { MetricsStore, TimeRange } from '../../workflow/ops/metrics-port';
import { seriesOf, stepsOf, type Bucket } from '../../workflow/ops/metric-series';
import { KEYS } from '../keys';
import { texts } from '../redis/parse';
import { Script } from '../scripts';

const readMetrics = new Script('read-metrics');

/** Each minute expires separately. It holds at most 128 numbers, less than 3 KB: less than 9 MB for all minutes. */
const KEPT_HOURS = 48;
export const METRICS_KEPT_SECONDS = KEPT_HOURS * 3600;
const KEPT_MS = METRICS_KEPT_SECONDS * 1000;
/** Minutes that one command reads, so that it occupies Redis for a few ms at most. */
const MINUTES_PER_READ = 120;

/** The metrics of all processes, minute by minute (written by lua/heartbeat.lua). */
export function createMetricsStore(redis: Redis): MetricsStore {
  return {
    async series(range) {
      checkRange(range);
      const { firstMs, count } = stepsOf(range);
      const first = firstMs / MINUTE_MS;
      const end = first + (count * range.stepMs) / MINUTE_MS;
      const buckets: (Bucket | null)[] = [];
      let currentMinute = 0;
      for (let minute = first; minute < end; minute += MINUTES_PER_READ) {
        const reply = await readMetrics.run(redis, [KEYS.metrics], [minute, Math.min(MINUTES_PER_READ, end - minute)]);
        const [now, ...minutes] = texts(reply, 'read-metrics');
        currentMinute = Number(now);
        buckets.push(...minutes.map(bucketOf));
      }
      return seriesOf(range, buckets, currentMinute * MINUTE_MS);
    },
  };
}

/** Skips values that are not numbers, which only manual changes in Redis can cause. */
function bucketOf(text: string): Bucket | null {
  if (text === '') return null;
  const bucket = new Map<string, number>();
  const parts = text.split(' ');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const value = Number(parts[at + 1]);
    if (Number.isFinite(value)) bucket.set(parts[at] ?? '', value);
  }
  return bucket;
}

function checkRange({ fromMs, toMs, stepMs }: TimeRange): void {
  const isStep = stepMs >= MINUTE_MS && stepMs <= KEPT_MS && stepMs % MINUTE_MS === 0;
  if (!isStep) throw new RangeError('a step is a whole number of minutes, and no longer than metrics are kept');
  if (!(toMs > fromMs)) throw new RangeError('a range must end after it begins');
  if (toMs - fromMs > KEPT_MS) throw new RangeError(`metrics are kept for ${KEPT_HOURS} hours`);
}
