import { LISTENER_GRACE_MS, listen, type Listener } from '../platform/http';
import { createReceiver } from '../receiver';
import { createIntake } from '../store/deliveries';
import type { Foundation } from './foundation';
import { publicHealthOf } from './health';
import { unverifiedPaths } from './webhook-proof';

/** A webhook is small: one that takes longer to arrive only keeps a connection. */
const REQUEST_MS = 15_000;

/** Starts the webhook receiver, the one listener that is meant for the internet. */
export async function startReceiver(foundation: Foundation): Promise<Listener> {
  const { config, clock, log, metrics, resources } = foundation;
  const { secrets, sharedSecret, bodyLimitBytes, ratePerMinute } = config.webhook;
  const app = createReceiver({
    intake: createIntake(foundation.redis, clock),
    verify: {
      tow_request: { secrets: secrets.tow_request, sharedSecret },
      tow_invoice: { secrets: secrets.tow_invoice, sharedSecret },
    },
    bodyLimitBytes,
    ratePerMinute,
    trustProxy: config.trustProxy,
    clock,
    log,
    troubleLog: foundation.troubleLog,
    metrics,
  });
  const openPaths = unverifiedPaths(config);
  if (openPaths.length > 0) {
    log.warn('receiver.unverified', {
      open_paths: openPaths,
      problem: 'no secret proves webhooks on these paths: anybody who can reach them can post tow requests or invoices',
    });
  }
  const listener = await listen(app, publicHealthOf(foundation), config.receiver, { requestMs: REQUEST_MS });
  resources.add('receiver', listener, (opened) => opened.stop(Math.min(config.stopGraceMs, LISTENER_GRACE_MS)));
  log.info('receiver.listening', { host: listener.host, port: listener.port });
  return listener;
}
