import type { AnswerOf, BudgetName, OperationName, RequestOf } from '../../contracts/service/operations';
import type { ViolationApi } from '../../domain/vocabulary';
import type { Exchange } from '../../domain/service/policy';
import type { ImageSource } from '../ops/spool-port';

/** The service client as use cases see it. */
export interface ServicePort {
  /**
   * Makes one call and returns what happened. Never throws for a fault of the service or network. On a 401, on which
   * no service can have acted, the token is renewed once and the call sent again.
   */
  call<N extends OperationName>(name: N, request: RequestOf<N>, options?: CallOptions): Promise<CallResult<N>>;
}

/** Operations that create a violation (docs/service-api.md#create-violation and #guide-operations). */
export const VIOLATION_OPERATIONS = {
  reference: 'violation',
  guide: 'violation_guide',
} as const satisfies Record<ViolationApi, OperationName>;
export type ViolationOperation = (typeof VIOLATION_OPERATIONS)[ViolationApi];

/** An image on disk that is sent with a violation. */
export type ImageOnDisk = ImageSource & {
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
};

export interface ViolationSubmission<N extends ViolationOperation> {
  readonly form: RequestOf<N>;
  /** Sent verbatim as the field `metadata` instead of the form's own. */
  readonly metadataText?: string | undefined;
  readonly images: readonly ImageOnDisk[];
}

/** The only calls with images. */
export interface ViolationService {
  /** Sends a violation. Images are read as fast as the service accepts them; otherwise like `call`. */
  submitViolation<N extends ViolationOperation>(
    name: N,
    submission: ViolationSubmission<N>,
    options?: CallOptions,
  ): Promise<CallResult<N>>;
}

export interface CallOptions {
  /** Called before each send; false means that the claim has expired, and nothing is sent. */
  readonly maySend?: () => boolean | Promise<boolean>;
  /** The permit of the claim, for the first send. A second send after a 401 takes its own. */
  readonly permit?: ClaimedPermit;
  /**
   * How long the call may wait in all for its token and permits, default 2 s. Without a permit by then it is
   * `dropped`. A permit that is free at once is taken however long the token took.
   */
  readonly permitWaitMs?: number;
  /** Ends the call when it aborts: the right to send was lost. */
  readonly stop?: AbortSignal;
  /** Asked before each piece of a body with images: false means that the right to send may be lost, and the call ends. */
  readonly mayGoOn?: () => boolean;
}

/** A rate limit permit that was granted before the connection was open. */
export interface ClaimedPermit {
  /** When it was counted, ms since the epoch in Redis time. */
  readonly atMs: number;
  /** Called on the open connection; an expired permit is exchanged for a new one. */
  readonly isFresh: () => boolean;
}

/** Rate limits, in calls per minute, shared by all processes. */
export interface Budgets {
  /**
   * Reserves the next permit if it is free within `aheadMaxMs`. Granted: send after `inMs`, and no later than
   * `lastsMs` after that, since the permit counts from its grant. Not granted: `inMs` is when a permit will be free.
   * @param insteadOfMs the Redis time of an unused permit; granted another, it is freed.
   */
  reserve(name: BudgetName, aheadMaxMs: number, insteadOfMs?: number): Promise<Reservation>;
  /**
   * Records what an answer shows about a rate limit, for all processes: a 429 closes the budget, a lower limit is
   * followed. Returns how long the budget stays closed, ms; 0 when it is open.
   */
  observe(name: BudgetName, seen: ObservedLimit): Promise<{ readonly closedForMs: number }>;
}

/** What one answer shows about the rate limit of its calls. Waits are ms from now. */
export interface ObservedLimit {
  /** The service refused the call for its rate limit (429). */
  readonly isRefusal: boolean;
  /** The wait that a refusal asked for; null when it asked for none. */
  readonly askedMs: number | null;
  /** The announced calls per minute, how many of them are left, and when their count starts again; null if unknown. */
  readonly perMinute: number | null;
  readonly remaining: number | null;
  readonly resetInMs: number | null;
}

export type Reservation =
  | { readonly granted: true; readonly inMs: number; readonly lastsMs: number }
  | { readonly granted: false; readonly inMs: number };

export interface CallResult<N extends OperationName> {
  readonly exchange: Exchange;
  /** The data of the answer; null unless it was accepted, and where an accepted one needs none and has none. */
  readonly data: AnswerOf<N> | null;
  /** The received body, truncated at a limit; null when there was none. May contain personal data: never log it. */
  readonly rawBody: string | null;
  /** True when any part of the request itself may have been sent. */
  readonly wasSent: boolean;
  /** False while the permit of the claim is unused and can be given back. */
  readonly isPermitSpent: boolean;
  readonly durationMs: number;
}

/** The result of a call whose accepted answer breaks its contract if it is about something else than was asked. */
export function brokenIf<N extends OperationName>(
  isAboutAnother: (data: AnswerOf<N> | null) => boolean,
  issue: string,
  result: CallResult<N>,
): CallResult<N> {
  const { exchange, data } = result;
  if (exchange.kind !== 'accepted' || !isAboutAnother(data)) return result;
  const broken = { kind: 'contract_broken', httpStatus: exchange.httpStatus, issues: [issue] } as const;
  return { ...result, data: null, exchange: broken };
}

/** The access token, shared by all processes of one operator. */
export interface TokenCache {
  read(): Promise<StoredToken | null>;
  /** Acquires the renewal lock for at most `ttlMs`; false while another process owns it. */
  tryLock(holder: string, ttlMs: number): Promise<boolean>;
  write(token: StoredToken): Promise<void>;
  /** Releases the renewal lock if `holder` still owns it. */
  unlock(holder: string): Promise<void>;
}

export interface StoredToken {
  readonly token: string;
  /** When it expires, ms since the epoch; null when the token does not contain that. */
  readonly expiresAtMs: number | null;
}
