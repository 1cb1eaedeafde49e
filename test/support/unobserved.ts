import { systemClock, type Clock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createMetrics } from '../../src/platform/metrics';
import { NO_TRACING } from '../../src/platform/tracing';

/** A silent log, metrics that are not shown, and no traces. */
export function unobserved(clock: Clock = systemClock) {
  return { clock, log: silentLog, metrics: createMetrics(), tracing: NO_TRACING };
}
