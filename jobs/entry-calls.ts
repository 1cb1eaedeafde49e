import type { OperationName } from '../src/contracts/operations';
import type { Entry } from '../src/domain/entry';
import type { OutboxRecord } from '../src/domain/outbox-record';
import type { Exchange, Hint } from '../src/domain/policy';
import type { NewTask } from '../src/domain/tasks';
import type { ServiceName } from '../src/domain/violation-names';
import type { Claim, Claimant, Claimed, Leased } from '../src/workflow/outbox-port';
import type { CallOptions, CallResult } from '../src/workflow/service-port';

/** What differs between the kinds of records when their entries are sent; the run is the same for all (send-entry.ts). */
export interface EntryCalls<R extends OutboxRecord, T> {
  /** Whether a call could leave at once; false: a permit that is taken now would grow too old while a token is got. */
  hasToken(tools: T): Promise<boolean>;
  /** Gets a token. Null once there is one, else why there is none. */
  getToken(tools: T): Promise<Exchange | null>;
  /** Gets ready what the call needs, or gives the claim back. */
  prepare(claimed: Claimed<R>, tools: T): Promise<Prepared>;
  /** How long proof of an unanswered call is waited for, ms; null: as the failure policy says. */
  proofMs(claimed: Claimed<R>, tools: T): number | null;
  /** What the service calls the thing it took. */
  nameIn(call: CallResult<OperationName>): ServiceName | null;
  /** What a person is asked about an answer that breaks the contract, or about a refusal. */
  contractTask(entry: Entry, httpStatus: number): NewTask;
  refusedTask(entry: Entry, refusal: Refusal): NewTask;
  /** The log line about an attempt: its name, and what it says of the record. */
  logLine(claimed: Claimed<R>): { readonly event: string; readonly facts: Readonly<Record<string, unknown>> };
  /** What is asked before the entry is sent. */
  check(leased: Leased<R>, tools: T, nextClaimant: NextClaimant): Promise<Step<R>>;
  /** What is done once the record is settled; returns a word about it. */
  finish(record: R, tools: T): Promise<string>;
}

export type Prepared =
  | { readonly kind: 'ready'; readonly send: (options: CallOptions) => Promise<CallResult<OperationName>> }
  /** The claim was given back, and why. */
  | { readonly kind: 'given_back'; readonly what: string };

export interface Refusal {
  readonly httpStatus: number;
  readonly words: string | null;
  readonly hint: Hint | null;
}

/** Who claims the next step of a run; undefined when the run is to end. */
export type NextClaimant = () => Promise<Claimant | undefined>;

/** One step of a run, once it is stored. */
export interface Step<R extends OutboxRecord> {
  /** One word about it. */
  readonly what: string;
  /** Whether another step could follow at once. */
  readonly more: boolean;
  readonly next: Claim<R> | null;
  /** When it, and with it the next claim, began to be stored, by the monotonic clock. */
  readonly storedMs: number;
}
