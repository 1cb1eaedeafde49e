import type { Finding } from '../cli';
import { messagesIn } from '../console/messages';
import { isoTimestamp } from '../domain/timestamp';
import { DELIVERY_KINDS } from '../domain/vocabulary';
import { refusedWebhooks } from '../domain/webhook/webhook-alarms';
import type { Clock } from '../platform/clock';
import { signedHeaders } from '../platform/webhook-signature';
import type { Config } from '../platform/config/config';
import type { Redis } from '../store/redis/connect';
import { createWebhookAnswerStore } from '../store/webhook/webhook-answers';
import { notesOf } from './finding';
import { askListener, NO_RECEIVER_ADDRESS, receiverAddress } from './listeners';

const notes = notesOf('webhook test');
/** No webhook of the service has this path: the receiver verifies the call and keeps it as not for towhook. */
const PATH = '/towhook-first-day';

/**
 * Sends a signed call to the receiver, as the service would, with each kind's newest secret. It changes no tow. Proves
 * that the way from outside works, and that the receiver has the secrets of this environment.
 */
export async function checkTestCall(config: Config, webhookUrl: string | null, clock: Clock): Promise<Finding> {
  const { receiver, webhook } = config;
  const base = receiverAddress(receiver, webhookUrl);
  if (base === null) return notes.skipped('not_looked_at', NO_RECEIVER_ADDRESS);
  const secrets = new Set(DELIVERY_KINDS.map((kind) => webhook.secrets[kind][0] ?? null));
  try {
    for (const secret of secrets) {
      const body = JSON.stringify({ test: 'towhook first-day' });
      const headers = { 'content-type': 'application/json', ...signed({ secret, body, clock }), ...sharedIn(config) };
      const { status, body: answer } = await askListener(`${base}${PATH}`, { method: 'POST', headers, body });
      if (status === 401) return secretDiffers(base, answer?.['message']);
      if (status !== 200 || answer?.['code'] !== 'not_for_towhook') return otherAnswer(base, status);
    }
    return notes.fine('test_call_taken', `the receiver at ${base} takes a call that is signed as configured here`);
  } catch {
    const fix = 'Start the receiver; look at DNS, TLS, and the proxy that forwards this address to RECEIVER_PORT.';
    return notes.fault('test_call_unanswered', `a test call to ${base} got no answer`, fix);
  }
}

function secretDiffers(base: string, message: unknown): Finding {
  const why = typeof message === 'string' ? `: ${message}` : '';
  return notes.fault(
    'test_call_not_verified',
    `the receiver at ${base} does not accept the secrets of this environment${why}`,
    'Start the receiver with the same WEBHOOK_… variables as here; a proxy must pass body and headers unchanged.',
  );
}

function otherAnswer(base: string, status: number): Finding {
  return notes.fault(
    'test_call_refused',
    `what answers at ${base} refuses a test call (${status})`,
    'Forward this address to RECEIVER_PORT, with every path below it.',
  );
}

interface UnsignedCall {
  readonly secret: string | null;
  readonly body: string;
  readonly clock: Clock;
}

/** The headers of Standard Webhooks; none without a secret. */
function signed({ secret, body, clock }: UnsignedCall): Readonly<Record<string, string>> {
  if (secret === null) return {};
  const id = `first-day-${clock.id()}`;
  const timestamp = Math.floor(clock.nowMs() / 1000);
  return signedHeaders({ id, timestamp, body }, secret) ?? {};
}

function sharedIn({ webhook: { sharedSecret } }: Config): Readonly<Record<string, string>> {
  const [value] = sharedSecret?.values ?? [];
  if (sharedSecret === null || value === undefined) return {};
  // A header carries bytes: letters beyond ASCII leave as UTF-8.
  return { [sharedSecret.header]: Buffer.from(value).toString('latin1') };
}

/** Whether the service has sent a webhook, and why calls were refused: by what the receivers count in Redis. */
export async function checkFirstWebhook(redis: Redis): Promise<Finding> {
  const first = notesOf('first webhook');
  const { byPath, readAtMs } = await createWebhookAnswerStore(redis).read();
  const acceptedAtMs = Math.max(...DELIVERY_KINDS.map((kind) => byPath[kind].acceptedAtMs ?? 0));
  const accepted = acceptedAtMs > 0 ? `the last one was accepted at ${isoTimestamp(acceptedAtMs)}` : null;
  const refused = refusedWebhooks(byPath, readAtMs);
  const [cause] = refused;
  if (cause) {
    const { paths, reasons } = messagesIn('en').webhooks;
    const calls = refused.map(({ path, count, sinceMs, reason }) => {
      const some = count === 1 ? '1 call' : `${count} calls`;
      return `${some} to ${paths[path]} since ${isoTimestamp(sinceMs)} were refused: ${reasons[reason].cause}`;
    });
    const what = [accepted === null ? 'no webhook was accepted yet' : accepted, ...calls].join('; ');
    const { todo } = reasons[cause.reason];
    return accepted === null
      ? first.fault('webhooks_refused', what, todo)
      : first.warning('webhooks_refused', what, todo);
  }
  if (accepted !== null) return first.fine('webhook_seen', accepted);
  return first.fault(
    'no_webhook_yet',
    'no webhook of the service has come yet',
    'Give the administration of the service the public address of the receiver and its secret, and ask for a tow request.',
  );
}
