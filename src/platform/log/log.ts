import { createLogger, format, transports } from 'winston';
import { systemClock } from '../clock';
import { errorFacts } from '../errors';
import { INSTALLATION } from '../config/installation';
import { standardLogOutput } from './log-output';

/** Structured fields of a log line, in wire names (`towing_reference_id`). */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Writes one line of JSON per event to standard output. `event` is noun.verb in the past tense (`report.attempted`).
 * Values of sensitive fields are hidden at any depth.
 */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** A log that adds these fields to every line. */
  with(fields: LogFields): Log;
}

export interface LogSettings {
  readonly level: string;
  /** Field names of personal data and secrets, collected from the contracts. */
  readonly sensitiveNames: readonly string[];
  readonly file?: string;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

/** Field names that are secrets in any contract. */
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

/** The symbol under which winston's transports read the text of a line. */
const MESSAGE = Symbol.for('message');

export function createLog(settings: LogSettings): Log {
  const hidden = new Set([...settings.sensitiveNames, ...ALWAYS_SENSITIVE].map((name) => name.toLowerCase()));
  const { transport, flush } = openTransport(settings.file);
  const winston = createLogger({
    level: settings.level,
    format: format((info) => {
      info[MESSAGE] = info.message;
      return info;
    })(),
    transports: [transport],
  });
  const enabled: ReadonlySet<Level> = new Set(LEVELS.filter((level) => winston.isLevelEnabled(level)));
  return logWith(
    (level, event, layers) => {
      if (!enabled.has(level)) return;
      winston.log({ level, message: lineOf(level, event, { layers, hidden }) });
      // An error may be the last line before the process is killed.
      if (level === 'error') flush();
    },
    [{ installation: INSTALLATION }],
  );
}

function openTransport(file: string | undefined) {
  if (file !== undefined) return { transport: new transports.File({ filename: file }), flush: () => {} };
  const output = standardLogOutput(droppedLine);
  return {
    transport: new transports.Stream({ stream: output.stream, eol: '\n' }),
    flush: () => void output.flush(),
  };
}

/** A log that writes nothing. */
export const silentLog: Log = logWith(() => {}, []);

/** Writes a line; the fields of a later layer replace those of an earlier one. */
type Write = (level: Level, event: string, layers: readonly LogFields[]) => void;

function logWith(write: Write, base: readonly LogFields[]): Log {
  const at = (level: Level) => (event: string, fields?: LogFields) =>
    write(level, event, fields === undefined ? base : [...base, fields]);
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => logWith(write, [...base, { ...fields }]),
  };
}

/** The names that every line has; fields with these names are left out. */
const OWN_NAMES: ReadonlySet<string> = new Set(['timestamp', 'level', 'message']);

/** A line of JSON without its line end: time, level and event first. */
function lineOf(
  level: Level,
  event: string,
  { layers, hidden }: { layers: readonly LogFields[]; hidden: ReadonlySet<string> },
): string {
  const line: Record<string, unknown> = {
    timestamp: timestampOf(systemClock.nowMs()),
    level,
    message: event,
  };
  for (const fields of layers) {
    for (const name of Object.keys(fields)) {
      if (!OWN_NAMES.has(name)) set(line, name, shown(name, fields[name], hidden));
    }
  }
  return JSON.stringify(line);
}

let lastTimestamp = { atMs: 0, text: new Date(0).toISOString() };

/** The time as ISO 8601. Each millisecond is formatted once, because under load many lines share it. */
function timestampOf(atMs: number): string {
  if (atMs !== lastTimestamp.atMs) lastTimestamp = { atMs, text: new Date(atMs).toISOString() };
  return lastTimestamp.text;
}

function droppedLine(count: number): string {
  return `${lineOf('warn', 'log.dropped', { layers: [{ lines: count }], hidden: new Set() })}\n`;
}

/** The value of a field with sensitive values hidden at every depth. */
function shown(name: string, value: unknown, hidden: ReadonlySet<string>): unknown {
  return hidden.has(name.toLowerCase()) ? '[hidden]' : redact(value, hidden);
}

function redact(value: unknown, hidden: ReadonlySet<string>): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map((item) => redact(item, hidden));
  if (value instanceof Error) return errorFacts(value);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) set(copy, name, shown(name, value[name], hidden));
  return copy;
}

function set(copy: Record<string, unknown>, name: string, value: unknown): void {
  // A plain assignment to this name would set the prototype.
  if (name === '__proto__') Object.defineProperty(copy, name, { value, enumerable: true, configurable: true });
  else copy[name] = value;
}

function isObject(value: unknown): value is LogFields {
  return typeof value === 'object' && value !== null;
}
