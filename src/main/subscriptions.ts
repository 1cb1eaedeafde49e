import { towViewOf, violationViewOf } from '../workflow/tow/views';
import { deliverChanges } from '../../jobs/deliver-changes';
import { subscriptionJob } from '../contracts/ops/jobs';
import type { ChangeSubject } from '../domain/ops/changes';
import { createSubscriber, brokenAddressRule } from '../notify/subscriber';
import { errorFacts } from '../platform/errors';
import { repeat, type Repetition } from '../platform/timers';
import type { JobHandler } from '../queue/workers';
import { createLocks } from '../store/redis/locks';
import { createChangeReader } from '../store/ops/changes';
import { createSubscriptionStore } from '../store/ops/subscriptions';
import { createTowStore } from '../store/tow/tows';
import { createViolationStore } from '../store/violation/violations';
import type { Foundation } from './foundation';

/** What sends to receivers, and the rule for their addresses. */
export function openSubscriber({ config, clock }: Pick<Foundation, 'config' | 'clock'>) {
  const options = { ...config.subscriptions, clock };
  return { sendChange: createSubscriber(options), brokenAddressRule: (url: string) => brokenAddressRule(url, options) };
}

/** Opens the job handler that sends the changes of a subscription. */
export function openSubscriptionHandler(foundation: Foundation): JobHandler {
  const { config, clock, log, redis } = foundation;
  const [tows, violations] = [createTowStore(redis), createViolationStore(redis)];
  const record = async ({ kind, id }: ChangeSubject) => {
    switch (kind) {
      case 'tow': {
        const tow = await tows.read(id);
        return tow && towViewOf(tow);
      }
      case 'violation': {
        const violation = await violations.read(id);
        return violation && violationViewOf(violation);
      }
      // Deliveries, and what a later version has.
      default:
        return null;
    }
  };
  const tools = {
    subscriptions: createSubscriptionStore(redis),
    changes: createChangeReader(redis),
    locks: createLocks(redis, clock),
    ...openSubscriber(foundation),
    record,
    giveUpMs: config.subscriptions.giveUpMs,
    clock,
    log,
  };
  return async (payload, isStopping) => deliverChanges(subscriptionJob.parse(payload), tools, isStopping);
}

const EVERY_MS = 5000;
/** Changes that come together are one job. */
const TOGETHER_MS = 100;

/** Adds a job for each subscription when something changes. The schedule of subscriptions is the net below. */
export function wakeSubscriptions(foundation: Foundation): Repetition {
  const { redis, queues, troubleLog: log } = foundation;
  const subscriptions = createSubscriptionStore(redis);
  let ids: readonly string[] = [];
  let unfollow: (() => void) | null = null;
  let timer: NodeJS.Timeout | undefined;
  const wake = () => {
    timer = undefined;
    queues.add('subscriptions', ids).catch((error: unknown) => {
      log.debug('job.not_added', { queue: 'subscriptions', ...errorFacts(error) });
    });
  };
  const changed = () => void (timer ??= setTimeout(wake, TOGETHER_MS));
  const look = async () => {
    ids = await subscriptions.ids();
    if (ids.length > 0) unfollow ??= foundation.changes().follow({ changed, missed: changed });
    else unfollow = unfollow?.() ?? null;
  };
  const repetition = repeat({ name: 'subscriptions', everyMs: EVERY_MS, work: look, log });
  return {
    async stop() {
      clearTimeout(timer);
      unfollow?.();
      await repetition.stop();
    },
  };
}
