import type { FieldRule } from '../domain/refusal';

/** What can come of a call instead of its answer: three errors, and no other. None of them carries a body or an address. */

/** towhook said no: the status, its word for why, and the fields that failed. */
export class ApiRefusal extends Error {
  readonly httpStatus: number;
  /** One word; `http_<status>` when what answered did not speak as towhook does. */
  readonly code: string;
  readonly details: readonly FieldRule[];
  /** When to come back, s; null when nothing was said. */
  readonly retryAfterS: number | null;
  /** False when what answered does not speak as towhook does, or is another part of it than the console. */
  readonly isOfConsole: boolean;

  constructor(facts: {
    httpStatus: number;
    code: string;
    message: string;
    details: readonly FieldRule[];
    retryAfterS: number | null;
    isOfConsole: boolean;
  }) {
    super(facts.message);
    this.name = 'ApiRefusal';
    this.httpStatus = facts.httpStatus;
    this.code = facts.code;
    this.details = facts.details;
    this.retryAfterS = facts.retryAfterS;
    this.isOfConsole = facts.isOfConsole;
  }
}

/** No answer came: whether the call had its effect is not known, unless the connection was refused. */
export class ApiUnreachable extends Error {
  /** One word: `connection_refused`, `dns_failed`, `timeout`, `connection_reset`, `port_never_called`, or the system's own. */
  readonly reason: string;

  constructor(reason: string) {
    super(`towhook cannot be reached: ${reason.replaceAll('_', ' ')}`);
    this.name = 'ApiUnreachable';
    this.reason = reason;
  }
}

/** An answer came that breaks its contract: what answers is another version, or no towhook at all. */
export class ApiAnswerBroken extends Error {
  readonly details: readonly FieldRule[];

  constructor(details: readonly FieldRule[]) {
    super(`the answer is not what this version of towhook answers: ${details.map(wordsOf).join('; ')}`);
    this.name = 'ApiAnswerBroken';
    this.details = details;
  }
}

function wordsOf({ field, rule }: FieldRule): string {
  return `${field} ${rule}`;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ENOTFOUND: 'dns_failed',
  EAI_AGAIN: 'dns_failed',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
};

/** Why a call got no answer, from the codes of an error and of what caused it; their texts may name addresses. */
export function unreachable(error: unknown): ApiUnreachable {
  if (nameOf(error) === 'TimeoutError') return new ApiUnreachable('timeout');
  if (nameOf(error) === 'AbortError') return new ApiUnreachable('given_up');
  // Ports of other protocols (1, 22, 6000 …) are called by no browser, and by no `fetch`; there is no code for it.
  if (causeOf(error) === 'bad port') return new ApiUnreachable('port_never_called');
  const code = codeOf(error) ?? 'failed';
  return new ApiUnreachable(REASONS[code] ?? code.toLowerCase());
}

/** `fetch failed` carries its cause, and that of several addresses carries one for each. */
function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  return 'cause' in error ? codeOf(error.cause) : null;
}

function causeOf(error: unknown): unknown {
  const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : null;
  return typeof cause === 'object' && cause !== null && 'message' in cause ? cause.message : null;
}

/** True for what JSON.parse says of text that is none; errors may come from another context of the process. */
export function isSyntaxError(error: unknown): boolean {
  return nameOf(error) === 'SyntaxError';
}

function nameOf(error: unknown): string | null {
  const isNamed = typeof error === 'object' && error !== null && 'name' in error && typeof error.name === 'string';
  return isNamed ? String(error.name) : null;
}
