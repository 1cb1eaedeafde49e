import type { Clock } from '../clock';
import type { Log, LogFields } from './log';

export interface Throttling {
  readonly clock: Clock;
  /** How long further lines of an event are suppressed. */
  readonly quietMs?: number;
  /** Fields that distinguish lines of one event. Beyond 100 kinds of lines at a time they count as one. */
  readonly by?: readonly string[];
}

const QUIET_MS = 10_000;
const KINDS_MAX = 100;

/**
 * A log for failures that repeat often: one line per event and `quietMs`. Its `suppressed` counts the lines that were
 * left out before it. Logs derived by `with` share the limit.
 */
export function throttledLog(log: Log, throttling: Throttling): Log {
  const { clock, quietMs = QUIET_MS, by = [] } = throttling;
  const quiet = new Map<string, { untilMs: number; suppressed: number }>();

  /** The number of lines suppressed before this one; null when this one is suppressed. */
  const pass = (event: string, fields: LogFields): number | null => {
    const nowMs = clock.monotonicMs();
    const full = [event, ...by.map((name) => String(fields[name]))].join(' ');
    if (quiet.size >= KINDS_MAX && !quiet.has(full)) {
      for (const [known, { untilMs }] of quiet) if (untilMs <= nowMs) quiet.delete(known);
    }
    const kind = quiet.size >= KINDS_MAX && !quiet.has(full) ? event : full;
    const last = quiet.get(kind);
    if (last && nowMs < last.untilMs) {
      last.suppressed += 1;
      return null;
    }
    quiet.set(kind, { untilMs: nowMs + quietMs, suppressed: 0 });
    return last?.suppressed ?? 0;
  };

  const over = (inner: Log, base: LogFields): Log => {
    const at =
      (level: 'debug' | 'info' | 'warn' | 'error') =>
      (event: string, fields: LogFields = {}) => {
        const suppressed = pass(event, { ...base, ...fields });
        if (suppressed !== null) inner[level](event, suppressed > 0 ? { ...fields, suppressed } : fields);
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      with: (fields) => over(inner.with(fields), { ...base, ...fields }),
    };
  };
  return over(log, {});
}
