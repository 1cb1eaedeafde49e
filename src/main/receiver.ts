import { listen, type Listener, type ListenerEvents } from '../platform/http';
import { hasSecretFiles, reloadWebhookSecrets } from '../platform/config/config';
import { describeProcess } from '../platform/process';
import { repeat } from '../platform/timers';
import { createReceiver } from '../receiver';
import { createAnswerTally, recordUnread } from '../receiver/record-answer';
import { createRefusedCalls } from '../receiver/refused-calls';
import { createSecretWatch, unverifiedPaths, type SecretWatch } from '../receiver/secrets';
import { createIntake } from '../store/webhook/deliveries';
import { createRefusedCallStore, createWebhookAnswerStore } from '../store/webhook/webhook-answers';
import { createCallCounter } from '../store/person/source-limits';
import type { WebhookAnswerStore } from '../workflow/webhook/webhook-port';
import type { Foundation } from './foundation';
import { addListener, listenerEvents, publicHealthOf } from './health';

/** A webhook is small; a slower request only occupies a connection. */
const REQUEST_MS = 15_000;
/** How long the answers of a receiver are counted in memory. */
const FLUSH_EVERY_MS = 1000;
/** How long replaced secrets may stay unnoticed. */
const SECRETS_EVERY_MS = 1000;

/** Starts the webhook receiver, the only listener meant for the internet. */
export async function startReceiver(foundation: Foundation): Promise<Listener> {
  const { config, clock, log, metrics } = foundation;
  const { bodyLimitBytes, ratePerMinute } = config.webhook;
  const answers = createWebhookAnswerStore(foundation.redis);
  const { tally, refusedCalls } = openAnswerLog(foundation, answers);
  const secrets = openSecrets(foundation, answers);
  const app = createReceiver({
    intake: createIntake(foundation.redis, clock, foundation.wake),
    verify: () => secrets.settings(),
    bodyLimitBytes,
    ratePerMinute,
    callCounter: createCallCounter(foundation.redis),
    trustProxy: config.trustProxy,
    proxyNote: foundation.proxyNote,
    clock,
    log,
    troubleLog: foundation.troubleLog,
    metrics,
    tracing: foundation.tracing,
    tally,
    refusedCalls,
  });
  const openPaths = unverifiedPaths(config);
  if (openPaths.length > 0) {
    log.warn('receiver.unverified', {
      open_paths: openPaths,
      problem:
        'no secret verifies webhooks on these paths: anyone who can reach them can post tow requests or invoices',
    });
  }
  const health = publicHealthOf(foundation);
  const unread = { metrics, tally, log: foundation.troubleLog };
  const events: ListenerEvents = {
    ...listenerEvents(foundation, 'receiver'),
    refused: (httpStatus, path) => recordUnread(httpStatus, path, unread),
  };
  const listener = await listen(app, health, config.receiver, { requestMs: REQUEST_MS }, events);
  addListener(foundation, 'receiver', listener);
  log.info('receiver.listening', { host: listener.host, port: listener.port });
  return listener;
}

/** Counts answers and keeps refused calls, and stores both every second until the receiver stops. */
function openAnswerLog(foundation: Foundation, store: WebhookAnswerStore) {
  const { resources, redis, clock, troubleLog: log } = foundation;
  const tally = createAnswerTally(store);
  const refusedCalls = createRefusedCalls(createRefusedCallStore(redis), clock);
  const flush = async () => {
    await Promise.all([tally.flush(), refusedCalls.flush()]);
  };
  const flushing = repeat({ name: 'webhook_answers', everyMs: FLUSH_EVERY_MS, log, work: flush });
  resources.add('webhook answers', flushing, async (opened) => {
    await opened.stop();
    await flush();
  });
  return { tally, refusedCalls };
}

/** The secrets of webhooks. Those in files are read again every few seconds. */
function openSecrets(
  { config, clock, log, troubleLog, resources }: Foundation,
  store: WebhookAnswerStore,
): SecretWatch {
  const secrets = createSecretWatch({
    initial: config.webhook,
    reload: () => reloadWebhookSecrets(config),
    report: (fault) => store.reportSecrets(fault),
    host: describeProcess().hostName,
    clock,
    log,
  });
  if (hasSecretFiles(config)) {
    const work = () => secrets.check();
    const checking = repeat({ name: 'webhook_secrets', everyMs: SECRETS_EVERY_MS, log: troubleLog, work });
    resources.add('webhook secrets', checking, (opened) => opened.stop());
  }
  return secrets;
}
