import type { Log, LogFields } from '../../src/platform/log/log';

/** One line: its level, its event and its fields. */
export type RecordedLine = { readonly level: string; readonly event: string } & LogFields;

/** A log that keeps its lines. */
export function recordedLog(): { readonly log: Log; readonly lines: readonly RecordedLine[] } {
  const lines: RecordedLine[] = [];
  const over = (base: LogFields): Log => {
    const at =
      (level: string) =>
      (event: string, fields: LogFields = {}) => {
        lines.push({ ...base, ...fields, level, event });
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      with: (fields) => over({ ...base, ...fields }),
    };
  };
  return { log: over({}), lines };
}
