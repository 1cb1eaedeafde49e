import type { AnswerOf, BudgetName, OperationName, RequestOf } from '../contracts/operations';
import type { Exchange } from '../domain/policy';

/** The service as the work sees it: one way to make any call. */
export interface ServicePort {
  /**
   * Makes one call and says what happened; it never throws for anything the service or the network does.
   * On a 401 the token is renewed once and the call sent again, which no service can have acted on before.
   */
  call<N extends OperationName>(name: N, request: RequestOf<N>, options?: CallOptions): Promise<CallResult<N>>;
}

export interface CallOptions {
  /** Asked right before bytes leave, each time; false means that the right to send has grown too old: nothing is sent. */
  readonly maySend?: () => boolean;
  /** True when the slot for the first send was taken with the claim; a second send after a 401 takes its own. */
  readonly slotTaken?: boolean;
  /** How long a slot of the budget is waited for at most, default 2 s; no slot by then, and the call is `dropped`. */
  readonly slotWaitMs?: number;
}

/** How many calls a minute may be made, counted over all processes. */
export interface Budgets {
  /**
   * Reserves the next free slot if it lies at most `aheadMaxMs` ahead. The caller sends when it has come, in `inMs`; not
   * granted, `inMs` tells when one will be free.
   */
  reserve(name: BudgetName, aheadMaxMs: number): Promise<{ granted: boolean; inMs: number }>;
}

export interface CallResult<N extends OperationName> {
  readonly exchange: Exchange;
  /** The operation's data; null unless it was accepted and kept its contract. */
  readonly data: AnswerOf<N> | null;
  /** The body as received, cut at a sane length; null when there was none. May hold personal data: never log it. */
  readonly rawBody: string | null;
  readonly durationMs: number;
}

/** The access token shared by all processes of one operator. */
export interface TokenCache {
  read(): Promise<StoredToken | null>;
  /** Takes the right to renew for at most `ttlMs`; false while another process holds it. */
  tryLock(holder: string, ttlMs: number): Promise<boolean>;
  /** Stores the token for all processes. */
  write(token: StoredToken): Promise<void>;
  /** Gives back the right to renew, if `holder` still has it. */
  unlock(holder: string): Promise<void>;
}

export interface StoredToken {
  readonly token: string;
  /** When it ends, ms since the epoch, if the token tells; null when it does not. */
  readonly expiresAtMs: number | null;
}
