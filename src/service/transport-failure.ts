import { AxiosError } from 'axios';
import type { OwnCause } from '../domain/service/policy';

/**
 * How far an attempt got before it failed.
 *
 * - dropped: there was no permission to send; nothing was written.
 * - surely_not_sent: no byte of the request was handed to a connected socket.
 * - partly_sent: bytes have left, but the last byte of the body surely not.
 * - unanswered: the whole request may have left and no status came back.
 */
export type FailedPhase = 'dropped' | 'surely_not_sent' | 'partly_sent' | 'unanswered';

/**
 * An attempt that ended without a status. Carries its reason and nothing else: neither the request nor its configuration
 * is attached, so that no address, token or body can travel with it into a log.
 */
export class TransportFailure extends AxiosError {
  readonly phase: FailedPhase;
  /** `not_permitted` of a dropped attempt, a word of `OWN_CAUSES`, or one of `transportFailureReason`. */
  readonly reason: string;
  /** Of a dropped attempt, when it may be sent, if that is known. */
  readonly notBeforeMs: number | null;

  constructor(facts: FailureFacts) {
    const reason =
      typeof facts.reason === 'string' ? facts.reason : transportFailureReason(facts.reason.error, facts.reason.stage);
    super(`the call to the service failed: ${reason}`, reason);
    this.name = 'TransportFailure';
    this.phase = facts.phase;
    this.reason = reason;
    this.notBeforeMs = facts.phase === 'dropped' ? facts.notBeforeMs : null;
  }
}

/** Why an attempt has no answer: a cause of our own, whose fault the domain must know, or an error of the connection. */
export type FailureReason = OwnCause | { readonly error: unknown; readonly stage: ConnectionStage };

type FailureFacts =
  | { readonly phase: 'dropped'; readonly reason: 'not_permitted'; readonly notBeforeMs: number | null }
  | { readonly phase: Exclude<FailedPhase, 'dropped'>; readonly reason: FailureReason };

/** Where a connection stood when it failed. */
export type ConnectionStage = 'connecting' | 'securing' | 'connected';

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'dns_failed',
  EAI_AGAIN: 'dns_failed',
  EAI_FAIL: 'dns_failed',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
};

/**
 * Why a connection failed, as one word: `dns_failed`, `connection_refused`, `connection_reset`, `unreachable`,
 * `connect_timeout`, `timeout`, `not_http`, `unreadable_<code>` for the head of an answer that breaks HTTP (the code of
 * Node's parser, such as `unreadable_header_overflow`), `tls_<code>` while securing, `proxy_<word>` for a tunnel that
 * was not opened (`proxy_http_407`, `proxy_connection_refused`, `proxy_timeout`), else the system's own code in lower case.
 * Taken from the error's code alone, never from its text, which may name hosts and paths.
 */
export function transportFailureReason(error: unknown, stage: ConnectionStage): string {
  const code = codeOf(error);
  if (code === 'ETIMEDOUT') return stage === 'connected' ? 'timeout' : 'connect_timeout';
  if (stage === 'securing') return `tls_${codeWord(code)}`;
  if (code === 'HPE_INVALID_CONSTANT') return 'not_http';
  if (code.startsWith('HPE_')) return codeWord(code.replace('HPE', 'unreadable'));
  return REASONS[code] ?? codeWord(code);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'failed';
}

function codeWord(code: string): string {
  return /^\w+$/.test(code) ? code.toLowerCase() : 'failed';
}
