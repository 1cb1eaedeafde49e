import { CommanderError } from 'commander';
import { ApiAnswerBroken, ApiRefusal, ApiUnreachable } from '../client';
import type { FieldRule } from '../domain/refusal';
import { ApiKeyUnusable, ConfigurationError } from '../platform/config/config';
import { errorCode } from '../platform/errors';
import { printableJson, paint, terminalText, type OutputLine, type Terminal } from './terminal';

/** Exit codes, for scripts. */
export const EXIT = {
  done: 0,
  refused: 1,
  wrongUse: 2,
  unavailable: 3,
  notAuthenticated: 4,
  faultsFound: 5,
  notPrinted: 6,
} as const;

export const EXIT_CODES_TEXT = `Exit codes:
  0  done
  1  refused by towhook: unknown id, or not allowed by the state, the role or a field; a backup failed or has faults
  2  wrong use: unknown option, invalid value, or invalid environment variable
  3  towhook cannot be reached, asks to try again later, or is of another version
  4  no API key, or an invalid one
  5  towhook doctor found faults
  6  done, but the output could not be written`;

/** The command line is invalid; each detail names an option or argument. */
export class UsageError extends Error {
  readonly details: readonly FieldRule[];

  constructor(details: readonly FieldRule[]) {
    super(details.map(({ field, rule }) => `${field} ${rule}`).join('\n'));
    this.name = 'UsageError';
    this.details = details;
  }
}

export class NoApiKey extends Error {}

/** Standard output could not be written; `code` is that of the system. */
export class OutputFailed extends Error {
  constructor(
    readonly code: string,
    readonly next: string | null = null,
  ) {
    super(code);
  }
}

/** A backup cannot be made or restored. Message and next step contain no secret. */
export class BackupProblem extends Error {
  override readonly name = 'BackupProblem';

  constructor(
    /** Stable snake_case code. */
    readonly code: string,
    message: string,
    readonly next: string | null = null,
  ) {
    super(message);
  }
}

/** What went wrong and what to do next. It contains no value that was entered. */
export interface CommandProblem {
  readonly exitCode: number;
  readonly httpStatus: number | null;
  readonly code: string;
  readonly message: string;
  readonly details: readonly FieldRule[];
  readonly next: string | null;
}

/** The commands about what the failed one takes: those beside it, such as of `towhook tow`, or of `towhook service`. */
export interface Noun {
  readonly name: string;
  readonly verbs: readonly string[];
  /** True when the command takes the reference of a tow. */
  readonly isOfTow: boolean;
}

/**
 * Explains an error. `key` is the Idempotency-Key of a command that makes a change; the next step names commands of
 * `noun`.
 */
export function problemOf(error: unknown, key: string | null, noun: Noun | null = null): CommandProblem {
  if (error instanceof ApiRefusal) return refusal(error, key, noun);
  if (error instanceof ApiUnreachable) {
    return problem(EXIT.unavailable, error.reason, {
      message: `towhook did not answer: ${REASONS[error.reason] ?? error.reason.replaceAll('_', ' ')}.`,
      next: `Check that the console runs and that TOWHOOK_URL is its address: run \`towhook doctor\`.${repeating(key)}`,
    });
  }
  if (error instanceof ApiAnswerBroken) {
    return problem(EXIT.unavailable, 'answer_broken', { ...NOT_TOWHOOK, details: error.details });
  }
  if (error instanceof NoApiKey) {
    return problem(EXIT.notAuthenticated, 'no_api_key', {
      message: 'No API key is configured.',
      next: 'Set TOWHOOK_API_KEY. Someone with an ops key can make one with `towhook key create`.',
    });
  }
  if (error instanceof UsageError) {
    return problem(EXIT.wrongUse, 'wrong_use', {
      message: error.details.length === 1 ? '' : 'Some values are invalid.',
      details: error.details,
      next: 'Add --help to see the options of the command.',
    });
  }
  if (error instanceof ApiKeyUnusable) {
    return problem(EXIT.notAuthenticated, 'api_key_unusable', {
      message: 'The API key cannot be sent.',
      details: faultsOf(error),
      next: 'Set it to the text that `towhook key create` printed, without a line end or quotes.',
    });
  }
  if (error instanceof ConfigurationError) {
    return problem(EXIT.wrongUse, 'configuration_wrong', {
      message: 'The environment is invalid.',
      details: faultsOf(error),
      next: 'Run `towhook doctor` to check the whole configuration.',
    });
  }
  if (error instanceof BackupProblem) {
    const exitCode = error.code === 'redis_unreachable' ? EXIT.unavailable : EXIT.refused;
    return problem(exitCode, error.code, { message: error.message, next: error.next });
  }
  if (error instanceof OutputFailed) {
    return problem(EXIT.notPrinted, 'output_failed', {
      message: `The command was carried out, but its output could not be written: ${error.code}.`,
      next: error.next ?? (repeating(key).trim() || null),
    });
  }
  if (error instanceof CommanderError) return problem(EXIT.wrongUse, 'wrong_use', { message: '' });
  // The message of another error may repeat values that were entered.
  return problem(EXIT.wrongUse, 'failed', { message: `The command failed: ${errorCode(error) ?? 'unknown error'}.` });
}

const NOT_TOWHOOK = {
  message: 'The answer is not from a towhook console of this version.',
  next: 'Check TOWHOOK_URL, and use the command line of the version that runs there.',
};

function faultsOf({ faults }: ConfigurationError): FieldRule[] {
  return faults.map(({ variable, rule }) => ({ field: variable, rule }));
}

function refusal(error: ApiRefusal, key: string | null, noun: Noun | null): CommandProblem {
  const { httpStatus, code, message, details } = error;
  const wait = error.retryAfterS === null ? 'later' : `in ${error.retryAfterS} s`;
  const isUnavailable = httpStatus === 429 || (httpStatus >= 500 && httpStatus !== 501);
  // A proxy may answer 429 or 5xx for towhook. Any other status that is not from towhook means a wrong address.
  if (!error.isOfConsole && !isUnavailable) {
    return { ...problem(EXIT.unavailable, code, NOT_TOWHOOK), httpStatus };
  }
  const exitCode = httpStatus === 401 ? EXIT.notAuthenticated : isUnavailable ? EXIT.unavailable : EXIT.refused;
  const next = isUnavailable
    ? `Try again ${wait}.${repeating(key)}`
    : (LOOK_UP.get(code) ?? NEXT[httpStatus]?.(noun) ?? null);
  // A message of 422 repeats the details.
  const shortMessage = details.length > 0 && httpStatus === 422 ? 'Some fields are invalid.' : message;
  return { exitCode, httpStatus, code, message: shortMessage, details, next };
}

const REASONS: Readonly<Record<string, string>> = {
  port_never_called: 'the port of TOWHOOK_URL belongs to another protocol and is never called',
  failed: 'the connection failed',
};

const IN_TOW = 'Look for it with `towhook tow show`.';
/** The next step for a part of a tow that is known, by the code of the refusal. */
const LOOK_UP: ReadonlyMap<string, string> = new Map([
  ['hold_not_found', IN_TOW],
  ['report_not_found', IN_TOW],
]);

const NEXT: Readonly<Record<number, (noun: Noun | null) => string | null>> = {
  401: () => 'Set TOWHOOK_API_KEY to a valid key. Someone with an ops key can make one with `towhook key create`.',
  403: () => 'Use a key with that role.',
  404: (noun) => {
    const command = commandOf(noun, ['list', 'differences', 'stats']);
    const steps = [
      ...(command === null ? [] : [`Look for it with \`${command}\`.`]),
      ...(noun?.isOfTow ? ['A tow is known once its webhook is processed.'] : []),
    ];
    return steps.join(' ') || null;
  },
  409: (noun) => {
    const command = commandOf(noun, ['show', 'list', 'stats']);
    return `Its state does not allow this now.${command === null ? '' : ` Look at it with \`${command}\`.`}`;
  },
};

/** The first of the verbs that the noun has. */
function commandOf(noun: Noun | null, verbs: readonly string[]): string | null {
  const verb = verbs.find((name) => noun?.verbs.includes(name));
  return noun === null || verb === undefined ? null : `towhook ${noun.name} ${verb}`;
}

function repeating(key: string | null): string {
  return key === null ? '' : ` Repeat the command with --idempotency-key ${key}: the change is made once.`;
}

function problem(
  exitCode: number,
  code: string,
  text: { message: string; details?: readonly FieldRule[]; next?: string | null },
): CommandProblem {
  const { message, details = [], next = null } = text;
  return { exitCode, httpStatus: null, code, message, details, next };
}

/** Prints a problem on standard error: lines of text, or one line of JSON. */
export function printCommandProblem(
  { exitCode, httpStatus, code, message, details, next }: CommandProblem,
  { terminal, isJson }: { terminal: Terminal; isJson: boolean },
): void {
  if (isJson) {
    terminal.printError(printableJson({ exit_code: exitCode, http_status: httpStatus, code, message, details, next }));
    return;
  }
  const print = (line: OutputLine) => terminal.printError(terminalText(line, terminal));
  const heading = paint('red', 'towhook:');
  if (message !== '') print([heading, ` ${message}`]);
  for (const { field, rule } of details) {
    print(message === '' ? [heading, ` ${field} ${rule}`] : `  ${field} ${rule}`);
  }
  if (next !== null) print(next);
}
