import { CommanderError } from 'commander';
import { ApiAnswerBroken, ApiRefusal, ApiUnreachable } from '../client';
import type { FieldRule } from '../domain/refusal';
import { ApiKeyUnusable, ConfigurationError } from '../platform/config';
import { codeOf } from '../platform/system-error';
import { EXIT } from './exit-codes';

/** The command line itself is wrong; every fault names its option or argument. */
export class WrongUse extends Error {
  readonly details: readonly FieldRule[];

  constructor(details: readonly FieldRule[]) {
    super(details.map(({ field, rule }) => `${field} ${rule}`).join('\n'));
    this.name = 'WrongUse';
    this.details = details;
  }
}

/** No API key is configured. */
export class NoApiKey extends Error {}

/** What went wrong: in words, with what to do next, and for scripts. None of it carries a value that was entered. */
export interface Problem {
  readonly exitCode: number;
  readonly httpStatus: number | null;
  readonly code: string;
  readonly message: string;
  readonly details: readonly FieldRule[];
  readonly next: string | null;
}

/** Says what an error means. `key` is the Idempotency-Key of a command that changes something. */
export function problemOf(error: unknown, key: string | null): Problem {
  if (error instanceof ApiRefusal) return refusal(error, key);
  if (error instanceof ApiUnreachable) {
    return problem(EXIT.unavailable, error.reason, {
      message: `No answer: ${REASONS[error.reason] ?? error.reason.replaceAll('_', ' ')}.`,
      next: `Does the console run, and is TOWHOOK_URL its address? \`towhook doctor\` looks.${repeating(key)}`,
    });
  }
  if (error instanceof ApiAnswerBroken) {
    return problem(EXIT.unavailable, 'answer_broken', { ...NO_TOWHOOK, details: error.details });
  }
  if (error instanceof NoApiKey) {
    return problem(EXIT.notAuthenticated, 'no_api_key', {
      message: 'No API key is configured.',
      next: 'Set TOWHOOK_API_KEY. `towhook key create`, called with a key of the role ops, makes one.',
    });
  }
  if (error instanceof WrongUse) {
    return problem(EXIT.wrongUse, 'wrong_use', {
      message: error.details.length === 1 ? '' : 'Some values break their rules.',
      details: error.details,
      next: 'Add --help to see what the command takes.',
    });
  }
  if (error instanceof ApiKeyUnusable) {
    return problem(EXIT.notAuthenticated, 'api_key_unusable', {
      message: 'The API key cannot be used.',
      details: faultsOf(error),
      next: 'Set it to the text of a key, as `towhook key create` shows it: no line end, no quotes around it.',
    });
  }
  if (error instanceof ConfigurationError) {
    return problem(EXIT.wrongUse, 'configuration_wrong', {
      message: 'The environment is wrong.',
      details: faultsOf(error),
      next: '`towhook doctor` checks all of it.',
    });
  }
  if (error instanceof CommanderError) return problem(EXIT.wrongUse, 'wrong_use', { message: '' });
  // Texts of libraries and of the system repeat what they were given.
  return problem(EXIT.wrongUse, 'failed', { message: `It could not be done: ${codeOf(error) ?? 'nobody knows why'}.` });
}

const NO_TOWHOOK = {
  message: 'What answers is no towhook console, or another version of it.',
  next: 'Check TOWHOOK_URL, and run the command line of the version that serves.',
};

function faultsOf({ faults }: ConfigurationError): FieldRule[] {
  return faults.map(({ variable, rule }) => ({ field: variable, rule }));
}

function refusal(error: ApiRefusal, key: string | null): Problem {
  const { httpStatus, code, message, details } = error;
  const wait = error.retryAfterS === null ? 'later' : `in ${error.retryAfterS} s`;
  const isUnavailable = httpStatus === 429 || (httpStatus >= 500 && httpStatus !== 501);
  // A proxy in front may say what is for later; everything else is said by towhook, or by none.
  if (!error.isOfConsole && !isUnavailable) {
    return { ...problem(EXIT.unavailable, code, NO_TOWHOOK), httpStatus };
  }
  const exitCode = httpStatus === 401 ? EXIT.notAuthenticated : isUnavailable ? EXIT.unavailable : EXIT.refused;
  const next = isUnavailable ? `Try again ${wait}.${repeating(key)}` : (NEXT[httpStatus] ?? null);
  // The fields are listed by themselves.
  const words = details.length > 0 && httpStatus === 422 ? 'Fields break their rules.' : message;
  return { exitCode, httpStatus, code, message: words, details, next };
}

const REASONS: Readonly<Record<string, string>> = {
  port_never_called: 'connection refused before it was tried, as its port is that of another protocol',
  failed: 'the connection failed',
};

const NEXT: Readonly<Record<number, string>> = {
  401: 'Set TOWHOOK_API_KEY to a valid key. `towhook key create`, called with a key of the role ops, makes one.',
  403: 'Use a key of that role, or ask somebody who has one.',
  404: 'Look for it with the `list` of the same noun. A tow is known once its webhook is processed.',
  409: 'Look at it with the `show` of the same noun: its state does not allow this now.',
};

/** A repetition that has its effect once. */
function repeating(key: string | null): string {
  return key === null ? '' : ` Repeat the command with --idempotency-key ${key}: it will have its effect once.`;
}

function problem(
  exitCode: number,
  code: string,
  said: { message: string; details?: readonly FieldRule[]; next?: string },
): Problem {
  const { message, details = [], next = null } = said;
  return { exitCode, httpStatus: null, code, message, details, next };
}
