import type { AnswerOf, BudgetName, OperationName, RequestOf } from '../contracts/operations';
import type { ViolationApi } from '../domain/vocabulary';
import type { Exchange } from '../domain/policy';

/** The service as the work sees it: one way to make any call. */
export interface ServicePort {
  /**
   * Makes one call and says what happened; it never throws for anything the service or the network does.
   * On a 401 the token is renewed once and the call sent again, which no service can have acted on before.
   */
  call<N extends OperationName>(name: N, request: RequestOf<N>, options?: CallOptions): Promise<CallResult<N>>;
}

/** The operations that create a violation (service-api 4.1 and 4.5). */
export const VIOLATION_OPERATIONS = {
  reference: 'violation',
  guide: 'violation_guide',
} as const satisfies Record<ViolationApi, OperationName>;
export type ViolationOperation = (typeof VIOLATION_OPERATIONS)[ViolationApi];

/** An image on the disk, as it travels with a violation. */
export interface ImageOnDisk {
  readonly path: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
}

/** A violation as it is sent. */
export interface ViolationSubmission<N extends ViolationOperation> {
  readonly form: RequestOf<N>;
  /** Sent as the field `metadata` in place of the form's own, letter by letter. */
  readonly metadataText?: string | undefined;
  readonly images: readonly ImageOnDisk[];
}

/** The one call that carries images. */
export interface ViolationService {
  /** Reports a violation with its images, read only as fast as the service takes them; like `call` in everything else. */
  submitViolation<N extends ViolationOperation>(
    name: N,
    submission: ViolationSubmission<N>,
    options?: CallOptions,
  ): Promise<CallResult<N>>;
  /** Whether a call could leave at once: false while a token would have to be got first. */
  hasToken(): Promise<boolean>;
  /** Gets a token if none is at hand. Null once there is one, else what stands in the way. */
  getToken(): Promise<Exchange | null>;
}

export interface CallOptions {
  /** Asked right before bytes leave, each time; false means that the right to send has grown too old: nothing is sent. */
  readonly maySend?: () => boolean;
  /** The permit that was taken with the claim, for the first send; a second send after a 401 takes its own. */
  readonly permit?: ClaimedPermit;
  /**
   * How long the call may wait in all before its bytes leave, for its token and for slots of the budget, default 2 s; no
   * slot by then, and the call is `dropped`. What is free at once is taken however long the token took.
   */
  readonly slotWaitMs?: number;
}

/** A permit of a rate limit that was granted before the connection was open. */
export interface ClaimedPermit {
  /** When it was counted, ms since the epoch in Redis time. */
  readonly atMs: number;
  /** Asked on the open connection; one that is no longer fresh is exchanged for a new one of the same budget. */
  readonly isFresh: () => boolean;
}

/** How many calls a minute may be made, counted over all processes. */
export interface Budgets {
  /**
   * Reserves the next free slot if it lies at most `aheadMaxMs` ahead. Granted, the caller sends when it has come, in
   * `inMs`, and no later than `lastsMs` after that: slots are counted when they are granted, so a call that leaves late
   * would be pushed into the next minute. Not granted, `inMs` tells when a slot will be free.
   * @param insteadOfMs a slot that was counted at that time, in Redis time, and never used: granted another, it is free.
   */
  reserve(name: BudgetName, aheadMaxMs: number, insteadOfMs?: number): Promise<Reserved>;
}

export type Reserved =
  | { readonly granted: true; readonly inMs: number; readonly lastsMs: number }
  | { readonly granted: false; readonly inMs: number };

export interface CallResult<N extends OperationName> {
  readonly exchange: Exchange;
  /** The operation's data; null unless it was accepted and kept its contract. */
  readonly data: AnswerOf<N> | null;
  /** The body as received, cut at a sane length; null when there was none. May hold personal data: never log it. */
  readonly rawBody: string | null;
  /** True when a request of the call itself, or a part of one, may have gone over the wire. */
  readonly wasSent: boolean;
  /** False while the permit that was taken with the claim is there and unused, so that it can be given back. */
  readonly isPermitSpent: boolean;
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
