import type { FieldRule } from '../domain/refusal';

/** The three errors of a call. None of them contains a body or an address. */

/** towhook refused the call. */
export class ApiRefusal extends Error {
  readonly httpStatus: number;
  /** Stable snake_case code; `http_<status>` for an answer that is not from towhook. */
  readonly code: string;
  readonly details: readonly FieldRule[];
  /** Seconds until a retry; null without a Retry-After header. */
  readonly retryAfterS: number | null;
  /** False for an answer that is not from a towhook console. */
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

/** No answer. Unless the connection was refused, it is not known whether the call took effect. */
export class ApiUnreachable extends Error {
  /** A code: `connection_refused`, `dns_failed`, `timeout`, `connection_reset`, `port_never_called`, or the system's own code. */
  readonly reason: string;

  constructor(reason: string) {
    super(`towhook cannot be reached: ${reason.replaceAll('_', ' ')}`);
    this.name = 'ApiUnreachable';
    this.reason = reason;
  }
}

/** The answer breaks its contract: it is from another version, or not from towhook. */
export class ApiAnswerBroken extends Error {
  readonly details: readonly FieldRule[];

  constructor(details: readonly FieldRule[]) {
    super(`the answer does not match this version of towhook: ${details.map(textOf).join('; ')}`);
    this.name = 'ApiAnswerBroken';
    this.details = details;
  }
}

function textOf({ field, rule }: FieldRule): string {
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

/** The reason from the codes of an error and its causes. Their messages may contain addresses and are not used. */
export function unreachable(error: unknown): ApiUnreachable {
  if (nameOf(error) === 'TimeoutError') return new ApiUnreachable('timeout');
  if (nameOf(error) === 'AbortError') return new ApiUnreachable('given_up');
  // `fetch` never calls ports of other protocols, such as 22. The error has no code.
  if (causeOf(error) === 'bad port') return new ApiUnreachable('port_never_called');
  const code = codeOf(error) ?? 'failed';
  return new ApiUnreachable(REASONS[code] ?? code.toLowerCase());
}

/** `fetch failed` has the code in its cause; a cause for several addresses has a list of errors. */
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

/** True for an error of JSON.parse. Compared by name, because it may come from another realm of the process. */
export function isSyntaxError(error: unknown): boolean {
  return nameOf(error) === 'SyntaxError';
}

function nameOf(error: unknown): string | null {
  const isNamed = typeof error === 'object' && error !== null && 'name' in error && typeof error.name === 'string';
  return isNamed ? String(error.name) : null;
}
