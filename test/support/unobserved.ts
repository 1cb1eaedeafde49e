import { systemClock, type Clock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createMetrics } from '../../src/platform/metrics';
import { NO_TRACING } from '../../src/platform/tracing';

/** The tools by which a process is observed, where nothing is. */
export function unobserved(clock: Clock = systemClock) {
  return { clock, log: silentLog, metrics: createMetrics(), tracing: NO_TRACING };
}
