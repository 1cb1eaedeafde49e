import { createLogger, format, transports } from 'winston';

/** Structured fields of a log line, in wire names (`towing_reference_id`). */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * One line of JSON per event on standard output. `event` is noun.verb in the past tense (`report.attempted`).
 * Values of sensitive fields never get out, at any depth.
 */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** A log whose lines all carry these fields. */
  with(fields: LogFields): Log;
}

export interface LogSettings {
  readonly level: string;
  /** Names of fields whose values are personal data or secrets; main reads them off the contracts. */
  readonly sensitiveNames: readonly string[];
  /** Writes to this file instead of standard output. */
  readonly file?: string;
}

/** Field names that are secrets by nature, whatever contract they come from. */
const ALWAYS_SENSITIVE = [
  'authorization',
  'x-client-secret',
  'x-client-id',
  'secret',
  'password',
  'api_key',
  'cookie',
  'set-cookie',
];

export function createLog(settings: LogSettings): Log {
  const hidden = new Set([...settings.sensitiveNames, ...ALWAYS_SENSITIVE].map((name) => name.toLowerCase()));
  const winston = createLogger({
    level: settings.level,
    format: format.combine(format.timestamp(), format.json()),
    transports: [
      settings.file === undefined ? new transports.Console() : new transports.File({ filename: settings.file }),
    ],
  });
  const write = (level: string, event: string, fields: LogFields) => {
    winston.log({ ...redactFields(fields, hidden), level, message: event });
  };
  return logWith(write, {});
}

/** A log that keeps nothing; for tools that must stay quiet. */
export const silentLog: Log = logWith(() => {}, {});

function logWith(write: (level: string, event: string, fields: LogFields) => void, base: LogFields): Log {
  const at =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      write(level, event, { ...base, ...fields });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => logWith(write, { ...base, ...fields }),
  };
}

/** The facts of anything thrown, without its properties: a request or a response hangs on many errors. */
export function errorFacts(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error === 'string' ? error : 'not an Error' };
  // What cannot be parsed is quoted by the error, and may be anything.
  if (error.name === 'SyntaxError') return { error: 'could not be parsed', error_name: error.name };
  const code = 'code' in error && typeof error.code === 'string' ? { error_code: error.code } : {};
  return { error: error.message, error_name: error.name, ...code, stack: error.stack };
}

function redactFields(fields: LogFields, hidden: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      hidden.has(name.toLowerCase()) ? '[hidden]' : redact(value, hidden),
    ]),
  );
}

function redact(value: unknown, hidden: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, hidden));
  if (value instanceof Error) return errorFacts(value);
  if (typeof value === 'object' && value !== null)
    return redactFields(Object.fromEntries(Object.entries(value)), hidden);
  return value;
}
