import { systemClock, type Clock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createMetrics } from '../../src/platform/log/metrics';
import { NO_TRACING } from '../../src/platform/log/tracing';

/** A silent log, metrics that are not shown, and no traces. */
export function unobserved(clock: Clock = systemClock) {
  return { clock, log: silentLog, metrics: createMetrics(), tracing: NO_TRACING };
}
