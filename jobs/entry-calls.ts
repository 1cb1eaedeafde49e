import type { EntryKind } from '../src/domain/vocabulary';
import type { OperationName } from '../src/contracts/service/operations';
import type { LeaseRight } from '../src/domain/outbox/lease';
import type { OutboxRecord } from '../src/domain/outbox/outbox-record';
import type { AcceptedViolation } from '../src/domain/violation/stored-violation';
import type { Claim, Claimed } from '../src/workflow/outbox/outbox-port';
import type { CallOptions, CallResult } from '../src/workflow/service/service-port';

/** What differs between the kinds of records when entries are sent; run-outbox.ts has the shared part. */
export interface EntryCalls<R extends OutboxRecord, T> {
  /** Prepares the call, or gives the claim back. */
  prepare(claimed: Claimed<R>, tools: T): Promise<Prepared>;
  /** The operation that is called. */
  operation(claimed: Claimed<R>): EntryOperation;
  /** The violation that an accepted answer names, also when the answer breaks its contract. None for reports. */
  acceptedViolationIn?(claimed: Claimed<R>, call: CallResult<OperationName>): AcceptedViolation | null;
  /** Event name and fields of the log line of an attempt. */
  logLine(claimed: Claimed<R>): { readonly event: string; readonly facts: Readonly<Record<string, unknown>> };
  /** The check before the entry is sent. Reports have none. */
  check?(right: LeaseRight<R>, tools: T, mayGoOn: () => boolean): Promise<RunStep<R>>;
  /** The cleanup of a settled record; returns a short text about it. Tows need none. */
  cleanUp?(record: R, tools: T): Promise<string>;
}

/** The operations that entries call. */
type EntryOperation = EntryKind | 'violation_guide';

export type Prepared =
  | {
      readonly kind: 'ready';
      /** True with images: on a slow line the call takes longer than a lease, which is then renewed. */
      readonly mayOutlastLease: boolean;
      readonly send: (options: CallOptions) => Promise<CallResult<OperationName>>;
    }
  | { readonly kind: 'given_back'; readonly what: string };

/** A stored step of a run. */
export interface RunStep<R extends OutboxRecord> {
  /** A short text about it. */
  readonly what: string;
  readonly next: Claim<R> | null;
  /** How long ago the commit of this step and the next claim began, ms. */
  readonly ageMs: () => number;
}
