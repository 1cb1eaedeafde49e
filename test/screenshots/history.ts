import { LATENCY_STEPS_MS } from '../../src/domain/ops/metric-names';
import type { Foundation } from '../../src/main/foundation';
import { KEYS } from '../../src/store/keys';

/** The figures of the hours before the pictures, as processes would have left them: a calm day with one short outage. */

const HOURS = 6;
const MINUTE_MS = 60_000;
const OUTAGE = { fromMinute: 95, toMinute: 107 };

/** Writes the history into Redis; the minutes of the pictures themselves are towhook's own. */
export async function writeHistory({ redis, clock }: Foundation): Promise<void> {
  const nowMinute = Math.floor(clock.nowMs() / MINUTE_MS);
  const pipeline = redis.pipeline();
  for (let ago = 1; ago < HOURS * 60; ago += 1) {
    const key = `${KEYS.metrics}:${nowMinute - ago}`;
    pipeline.hset(key, figuresOf(ago)).expire(key, 3600);
  }
  await pipeline.exec();
}

function figuresOf(ago: number): Record<string, number> {
  const wave = 1 + Math.sin(ago / 23) + 0.6 * Math.sin(ago / 5) ** 2;
  const isDown = ago >= OUTAGE.fromMinute && ago <= OUTAGE.toMinute;
  const requests = Math.round(3 * wave);
  const sent = isDown ? 0 : Math.round(9 * wave) + (ago > OUTAGE.fromMinute - 6 && ago < OUTAGE.fromMinute ? 25 : 0);
  const waiting = isDown ? (OUTAGE.toMinute - ago) * 9 : Math.round(wave);
  return {
    lived: 1,
    'accepted.tow_request': requests,
    'accepted.tow_invoice': Math.round(requests / 2),
    'processed.tow_request': requests,
    'processed.tow_invoice': Math.round(requests / 2),
    'delivered.started': Math.round(sent / 3),
    'delivered.detained': Math.round(sent / 4),
    'delivered.released': Math.round(sent / 5),
    'attempts.accepted': sent,
    'attempts.failed': isDown ? 2 : 0,
    ...timed('delivery', [8, 12, 25], requests),
    ...timed('report', isDown ? [] : [90, 160, 700], sent),
    ...timed('attempt', isDown ? [9000] : [45, 80, 300], Math.max(1, sent)),
    'due.deliveries': Math.round(wave / 2),
    'due.reports': waiting,
    'due.violations': 0,
    'oldest.reports': isDown ? (OUTAGE.toMinute - ago) * MINUTE_MS : 400,
    tasks: ago < 200 ? 3 : 1,
  };
}

/** Most take the first of these times, few the last. */
function timed(latency: string, timesMs: readonly number[], count: number): Record<string, number> {
  const steps: Record<string, number> = {};
  for (const [index, ms] of timesMs.entries()) {
    const step = LATENCY_STEPS_MS.findIndex((end) => ms <= end);
    const share = Math.ceil(count / 4 ** index);
    steps[`${latency}.${step}`] = (steps[`${latency}.${step}`] ?? 0) + share;
  }
  return steps;
}
