import type { Clock } from './clock';
import type { Log, LogFields } from './log';

export interface Throttling {
  readonly clock: Clock;
  /** After a line of an event, further ones are held back for so long. */
  readonly quietMs?: number;
  /** Fields whose values part lines of one event; each may have a few values only. */
  readonly by?: readonly string[];
}

const QUIET_MS = 10_000;

/**
 * A log for trouble that repeats by the thousand: of each event one line in `quietMs` gets through, and it says in
 * `suppressed` how many were held back before it. Logs made of it by `with` count together with it.
 */
export function throttledLog(log: Log, throttling: Throttling): Log {
  const { clock, quietMs = QUIET_MS, by = [] } = throttling;
  const quiet = new Map<string, { untilMs: number; suppressed: number }>();

  /** How many lines were held back before this one, or null when it is held back itself. */
  const pass = (event: string, fields: LogFields): number | null => {
    const kind = [event, ...by.map((name) => String(fields[name]))].join(' ');
    const nowMs = clock.monotonicMs();
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
