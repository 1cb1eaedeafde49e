import { randomBytes } from 'node:crypto';
import { ROUTES } from '../../contracts/operator-routes';
import { cursorOf, isCursorAfter, readChangeCursor } from '../../contracts/ops/changes';
import { auditOf } from '../../domain/ops/audit';
import { newProgress, type Subscription } from '../../domain/ops/subscriptions';
import { conflict, invalid } from '../../domain/refusal';
import { HOUR_MS, isoTimestamp, timestampMs } from '../../domain/timestamp';
import { done, refused, type ActionResult } from '../../workflow/action-result';
import {
  changeSubscription,
  countChanges,
  lagMs,
  NO_SUBSCRIPTION,
  pause,
  replay,
  resume,
  subscriptionViewOf,
  testSubscription,
  type StoredSubscription,
} from '../../workflow/ops/subscriptions';
import type { ApiServer } from '../api-server';
import { refusedByRule } from '../responses';
import type { OperatorTools } from '../tools';

/** Subscriptions to changes. The secret of one is in the first answer only. */
export function serveSubscriptions(server: ApiServer, tools: OperatorTools): void {
  const { subscriptions, changes, clock, brokenAddressRule } = tools;
  const shown = async (stored: StoredSubscription) => {
    const nowMs = clock.nowMs();
    return subscriptionViewOf(stored, await lagMs(tools, stored.progress, nowMs), nowMs);
  };
  const viewOf = async (id: string) => {
    const stored = await subscriptions.read(id);
    if (!stored) throw new Error('the subscription was deleted before its change was answered');
    return shown(stored);
  };
  server.read(ROUTES.listSubscriptions, async () => ({
    items: await Promise.all((await subscriptions.list()).map(shown)),
  }));
  server.change(ROUTES.createSubscription, ({ body, actor }) => {
    const secret = newSecret();
    const id = clock.id();
    const subscription: Subscription = {
      id,
      ...body,
      createdAt: isoTimestamp(clock.nowMs()),
      secret,
      previous: null,
    };
    return {
      effect: async (idempotency): Promise<ActionResult<object>> => {
        const rule = brokenAddressRule(body.url);
        if (rule !== null) return refused(invalid([{ field: 'url', rule }]).refusal);
        const audit = auditOf(actor, 'subscription.created', { on: { subscription_id: id } });
        const nowMs = clock.nowMs();
        const progress = newProgress(await changes.now(), nowMs);
        const answer = subscriptionViewOf({ version: '', subscription, progress }, 0, nowMs);
        return subscriptions.create(subscription, progress, { audit, idempotency, answer });
      },
      secrets: { secret },
    };
  });
  server.change(ROUTES.rotateSubscription, ({ params, body, actor }) => {
    const id = params('subscription_id');
    const secret = newSecret();
    const graceMs = Math.round(body.grace_hours * HOUR_MS);
    return {
      effect: (idempotency) =>
        changeSubscription(tools, { id, actor, action: 'subscription.rotated', idempotency }, (stored, nowMs) => {
          const { subscription } = stored;
          const previous = graceMs > 0 ? { secret: subscription.secret, validUntilMs: nowMs + graceMs } : null;
          return { subscription: { ...subscription, secret, previous } };
        }),
      answer: () => viewOf(id),
      secrets: { secret },
    };
  });
  server.change(ROUTES.pauseSubscription, ({ params, actor }) => {
    const id = params('subscription_id');
    return {
      effect: (idempotency) =>
        changeSubscription(tools, { id, actor, action: 'subscription.paused', idempotency }, pause),
      answer: () => viewOf(id),
    };
  });
  server.change(ROUTES.resumeSubscription, ({ params, actor }) => {
    const id = params('subscription_id');
    return {
      effect: (idempotency) =>
        changeSubscription(tools, { id, actor, action: 'subscription.resumed', idempotency }, resume),
      answer: () => viewOf(id),
    };
  });
  server.ask(ROUTES.testSubscription, async ({ params }) => {
    const id = params('subscription_id');
    const tested = await testSubscription(tools, { id, messageId: clock.id(), nowMs: clock.nowMs() });
    if (tested.kind !== 'done') return refusedByRule(NO_SUBSCRIPTION);
    const { value } = tested;
    const problem = value.isAccepted ? null : value.problem;
    return { answer: { delivered: value.isAccepted, http_status: value.httpStatus, problem } };
  });
  server.change(ROUTES.replaySubscription, ({ params, body, actor }) => {
    const id = params('subscription_id');
    return {
      effect: async (idempotency): Promise<ActionResult<object | null>> => {
        const stored = await subscriptions.read(id);
        if (!stored) return refused(NO_SUBSCRIPTION);
        const after = await startOf(body);
        const counted = after === null ? null : await countChanges(tools, stored.subscription, after);
        if (after === null || counted === null) return refused(NOT_KEPT);
        const value = { changes: counted.changes, is_complete: counted.isComplete, preview: body.preview };
        if (body.preview) return done(value);
        const asked = { id, actor, action: 'subscription.replayed', idempotency, answer: value } as const;
        return changeSubscription(tools, asked, replay(after));
      },
      actsBeforeCommit: true,
    };
  });
  server.change(ROUTES.deleteSubscription, ({ params, actor }) => {
    const id = params('subscription_id');
    const audit = auditOf(actor, 'subscription.deleted', { on: { subscription_id: id } });
    return { effect: () => subscriptions.remove(id, audit) };
  });

  /** The cursor of a replay; null without one, or for a time before all that is kept. */
  async function startOf({ after, since }: { after?: string | undefined; since?: string | undefined }) {
    if (after !== undefined) return after;
    const sinceMs = since === undefined ? null : timestampMs(since);
    const end = await changes.now();
    const { epoch = null } = readChangeCursor(end) ?? {};
    if (sinceMs === null || epoch === null) return null;
    const cursor = cursorOf(epoch, `${sinceMs}-0`);
    return isCursorAfter(cursor, end) ? end : cursor;
  }
}

const NOT_KEPT = conflict('cursor_expired', 'Name `after` or `since` within KEEP_CHANGES_HOURS.').refusal;

/** 32 bytes; Standard Webhooks wants 24 to 64. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
