import type { ChangeView } from '../../contracts/ops/changes';
import type { SubscriptionView } from '../../contracts/ops/subscriptions';
import { auditOf, type Actor, type AuditAction, type AuditEntry } from '../../domain/ops/audit';
import {
  replayedFrom,
  resumed,
  wantedTypes,
  type Progress,
  type SubscriberAnswer,
  type Subscription,
} from '../../domain/ops/subscriptions';
import type { NewTask } from '../../domain/ops/tasks';
import { conflict, unknown } from '../../domain/refusal';
import { isoOrNull, isoTimestamp } from '../../domain/timestamp';
import { refused, type ActionResult } from '../action-result';
import type { AuditedWrite } from '../ports';
import type { IdempotencyRecord } from '../transaction-port';
import type { ChangeFeed } from './changes';

/** Subscriptions to changes: what people decide about them. jobs/deliver-changes.ts sends. */

export interface StoredSubscription {
  readonly version: string;
  readonly subscription: Subscription;
  readonly progress: Progress;
}

/** What a decision about a subscription changes; absent parts stay. */
export interface SubscriptionChange {
  readonly subscription?: Subscription;
  readonly progress?: Progress;
}

export interface SubscriptionStore {
  list(): Promise<readonly StoredSubscription[]>;
  ids(): Promise<readonly string[]>;
  read(id: string): Promise<StoredSubscription | null>;
  /** `answer` is stored under the Idempotency-Key. */
  create<T>(
    subscription: Subscription,
    progress: Progress,
    write: AuditedWrite & { answer: T },
  ): Promise<ActionResult<T>>;
  /** Changes one; refused when there is none. */
  change(
    id: string,
    decide: (stored: StoredSubscription, nowMs: number) => SubscriptionChange,
    write: AuditedWrite & { readonly answer?: object | undefined },
  ): Promise<ActionResult<object | null>>;
  remove(id: string, audit: AuditEntry): Promise<ActionResult>;
  /**
   * Stores how far a subscription has come, opens these tasks, and schedules it. False when it was changed since `version`
   * was read: the changes are sent once more then.
   */
  keep(
    id: string,
    version: string,
    progress: Progress,
    more: { readonly tasks: readonly NewTask[]; readonly atMs: number },
  ): Promise<boolean>;
}

/** Posts one change. */
export type SendChange = (
  subscription: Subscription,
  message: { readonly id: string; readonly type: string; readonly timestamp: string; readonly data: object },
) => Promise<SubscriberAnswer>;

export interface SubscriptionTools {
  readonly subscriptions: SubscriptionStore;
  readonly changes: Pick<ChangeFeed, 'now' | 'read'>;
  readonly sendChange: SendChange;
}

export const NO_SUBSCRIPTION = unknown('subscription_not_found', 'There is no such subscription.').refusal;
export const SUBSCRIPTION_NAME_TAKEN = conflict('name_taken', 'There is a subscription with this name.').refusal;

/** What a person does with a subscription, with its audit. */
export function changeSubscription(
  { subscriptions }: Pick<SubscriptionTools, 'subscriptions'>,
  asked: {
    readonly id: string;
    readonly actor: Actor;
    readonly action: AuditAction;
    readonly idempotency: IdempotencyRecord | undefined;
    /** Stored under the Idempotency-Key. */
    readonly answer?: object;
  },
  decide: (stored: StoredSubscription, nowMs: number) => SubscriptionChange,
): Promise<ActionResult<object | null>> {
  const audit = auditOf(asked.actor, asked.action, { on: { subscription_id: asked.id } });
  return subscriptions.change(asked.id, decide, {
    audit,
    idempotency: asked.idempotency,
    answer: asked.answer,
  });
}

export const pause = ({ progress }: StoredSubscription): SubscriptionChange => ({
  progress: { ...progress, pausedBy: 'person' },
});

export const resume = ({ progress }: StoredSubscription, nowMs: number): SubscriptionChange => ({
  progress: resumed(progress, nowMs),
});

/** Counts its changes after a cursor, at most as many as one read looks at; null when they cannot be read. */
export async function countChanges(
  { changes }: Pick<SubscriptionTools, 'changes'>,
  subscription: Subscription,
  after: string,
) {
  const counted = await changes.read(after, { types: wantedTypes(subscription), limit: COUNTED_MAX });
  if (counted.isExpired) return null;
  return { changes: counted.items.length, isComplete: counted.items.length < COUNTED_MAX };
}

const COUNTED_MAX = 10_000;

/** Sends everything after a cursor again. */
export const replay =
  (cursor: string) =>
  ({ progress }: StoredSubscription): SubscriptionChange => ({ progress: replayedFrom(progress, cursor) });

/** Posts a change of the type `test`. */
export async function testSubscription(
  { subscriptions, sendChange }: Pick<SubscriptionTools, 'subscriptions' | 'sendChange'>,
  { id, messageId, nowMs }: { readonly id: string; readonly messageId: string; readonly nowMs: number },
): Promise<ActionResult<SubscriberAnswer>> {
  const stored = await subscriptions.read(id);
  if (!stored) return refused(NO_SUBSCRIPTION);
  const message = { id: `test-${messageId}`, type: 'test', timestamp: isoTimestamp(nowMs), data: {} };
  return { kind: 'done', value: await sendChange(stored.subscription, message) };
}

/** How long the oldest change has waited that the receiver has not accepted, ms; 0 when it has accepted all. */
export async function lagMs(
  { changes }: Pick<SubscriptionTools, 'changes'>,
  { cursor, behind, acceptedAtMs, startedAtMs }: Progress,
  nowMs: number,
): Promise<number> {
  const since = Object.values(behind).map(({ sinceMs }) => sinceMs);
  const { isExpired, items } = await changes.read(cursor, { limit: 1 });
  if (isExpired) since.push(acceptedAtMs ?? startedAtMs);
  for (const { at } of items) since.push(Date.parse(at));
  return nowMs - Math.min(nowMs, ...since);
}

export function subscriptionViewOf(
  { subscription, progress }: StoredSubscription,
  lag: number,
  nowMs: number,
): SubscriptionView {
  const { id, name, url, types, include, createdAt, previous } = subscription;
  const { lastAnswer, behind, pausedBy, failures, openUntilMs } = progress;
  return {
    id,
    name,
    url,
    types,
    include,
    created_at: createdAt,
    paused_by: pausedBy,
    lag_seconds: Math.round(lag / 1000),
    behind: Object.entries(behind).map(([subject, { sinceMs, attempts, nextAtMs }]) => ({
      subject,
      since: isoTimestamp(sinceMs),
      attempts,
      next_attempt_at: isoTimestamp(nextAtMs),
    })),
    failures,
    tried_again_at: isoOrNull(openUntilMs),
    last_answer: lastAnswer && {
      at: isoTimestamp(lastAnswer.atMs),
      http_status: lastAnswer.httpStatus,
      problem: lastAnswer.problem,
    },
    previous_valid_until: isoOrNull(previous !== null && previous.validUntilMs > nowMs ? previous.validUntilMs : null),
  };
}

/** The body of a delivery. */
export function messageOf(change: ChangeView, record: object | null) {
  const { cursor, at, type, subject, sequence, data } = change;
  return {
    id: cursor,
    type,
    timestamp: at,
    data: { cursor, subject, sequence, ...data, ...(record === null ? {} : { record }) },
  };
}
