import { ApiAnswerBroken, ApiRefusal, ApiUnreachable, createClient, type ApiRefusal as Refusal } from '../client';
import type { Finding } from '../cli';
import { jsonObject } from '../contracts/common';
import { ROUTES } from '../contracts/operator-routes';
import { WEBHOOKS } from '../contracts/webhook/webhooks';
import { jsonIn } from '../domain/json';
import {
  ApiKeyUnusable,
  ConfigurationError,
  loadCommandLineSettings,
  localAddress,
  type Config,
} from '../platform/config/config';
import type { Environment } from '../platform/config/variable-rules';
import { notesOf } from './finding';
import { messagesIn } from '../console/messages';
import { isoTimestamp } from '../domain/timestamp';
import { DELIVERY_KINDS } from '../domain/vocabulary';
import { refusedWebhooks } from '../domain/webhook/webhook-alarms';
import type { Clock } from '../platform/clock';
import { signedHeaders } from '../platform/webhook-signature';
import type { Redis } from '../store/redis/connect';
import { createWebhookAnswerStore } from '../store/webhook/webhook-answers';

const TIMEOUT_MS = 5000;

/** The address of the receiver, without a slash at its end; null if it is unknown. */
export function receiverAddress({ host, port }: Config['receiver'], webhookUrl: string | null): string | null {
  if (webhookUrl === null && port === 0) return null;
  return (webhookUrl ?? localAddress(host, port)).replace(/\/+$/, '');
}

export const NO_RECEIVER_ADDRESS = 'RECEIVER_PORT is 0, any free port: name it with --webhook-url';

/** Checks that the receiver answers at its public address or on this machine, and that it can use Redis. */
export async function checkReceiver({ receiver }: Config, webhookUrl: string | null): Promise<Finding> {
  const notes = notesOf('receiver');
  const base = receiverAddress(receiver, webhookUrl);
  if (base === null) return notes.skipped('not_looked_at', NO_RECEIVER_ADDRESS);
  const fix =
    webhookUrl === null
      ? 'Start it (npm start -- all, or -- receiver), or name its address with --webhook-url.'
      : 'Start the receiver; look at DNS, TLS, and the proxy that forwards this address to RECEIVER_PORT.';
  try {
    const alive = await askListener(`${base}/healthz`, { method: 'GET' });
    // Only the receiver refuses this method there. It would count a refused POST as a webhook of the service.
    const webhook = await askListener(`${base}${WEBHOOKS.tow_request.path}`, { method: 'GET' });
    const isReceiver = webhook.status === 405 && webhook.body?.['code'] === 'method_not_allowed';
    if (alive.body?.['status'] === 'alive' && isReceiver) {
      return (await unready(base)) ?? notes.fine('receiver_answers', `answers at ${base}`);
    }
    if (await isConsole(base)) {
      const consoleFix =
        'Give the address that is forwarded to RECEIVER_PORT. The console must not be reachable from the internet.';
      return notes.fault(
        'receiver_not_towhook',
        `what answers at ${base} is the console, not the receiver`,
        consoleFix,
      );
    }
    const what = `something answers at ${base} (${alive.status}, ${webhook.status}), but it is not the receiver`;
    return notes.fault('receiver_not_towhook', what, 'Forward this address to RECEIVER_PORT, without redirections.');
  } catch {
    return notes.fault('receiver_unreachable', `nothing answers at ${base}`, fix);
  }
}

/** The fault of a receiver that cannot store webhooks; null also where a proxy does not forward `/readyz`. */
async function unready(base: string): Promise<Finding | null> {
  const { body } = await askListener(`${base}/readyz`, { method: 'GET' });
  if (body?.['status'] !== 'not_ready') return null;
  const { redis } = body;
  const state = typeof redis === 'string' ? ` (${redis.replaceAll('_', ' ')})` : '';
  return notesOf('receiver').fault(
    'receiver_not_ready',
    `the receiver at ${base} cannot use Redis${state}, so it refuses webhooks`,
    'Check REDIS_URL and the log of the receiver, the network between it and Redis, and whether that Redis takes writes.',
  );
}

/** The console refuses a call of its API without a key. */
async function isConsole(base: string): Promise<boolean> {
  const { status, body } = await askListener(`${base}/api/queues`, { method: 'GET' });
  return status === 401 && body !== null && 'code' in body;
}

/** One call to a listener: its status, and its body if that is a JSON object. Rejects when nothing answers. */
export async function askListener(url: string, init: RequestInit) {
  const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await answer.text();
  return { status: answer.status, body: jsonObject.safeParse(jsonIn(text)).data ?? null };
}

/** Checks that the console answers at the address, and accepts the key, of the command line. */
export async function checkConsole(environment: Environment | undefined): Promise<Finding> {
  const notes = notesOf('console');
  const settings = settingsIn(environment);
  if (settings instanceof ConfigurationError) {
    const [wrong] = settings.faults;
    return settings instanceof ApiKeyUnusable && wrong
      ? notes.fault('api_key_unusable', `${wrong.variable} ${wrong.rule}`, `Set ${wrong.variable} to a valid key.`)
      : notes.skipped('not_looked_at', 'TOWHOOK_URL, HOST and CONSOLE_PORT must be right first');
  }
  const { url, apiKey } = settings;
  const key = 'Set TOWHOOK_API_KEY to a valid key; BOOTSTRAP_API_KEY must be the one the console was started with.';
  try {
    const client = createClient({ baseUrl: url, apiKey: apiKey ?? 'none', timeoutMs: TIMEOUT_MS });
    const queues = await client.call(ROUTES.listQueues);
    return notes.fine('console_answers', `answers at ${url}, and takes the key; ${queues.length} queues`);
  } catch (error) {
    if (error instanceof ApiUnreachable) {
      const what = `nothing answers at ${url}: ${error.reason.replaceAll('_', ' ')}`;
      return notes.fault(
        'console_unreachable',
        what,
        'Start it (npm start -- all, or -- console), or set TOWHOOK_URL to its address.',
      );
    }
    if (!(error instanceof ApiRefusal)) {
      const fix = 'Set TOWHOOK_URL to the address of the console, and run the command line of the same version.';
      const broken = error instanceof ApiAnswerBroken ? `: ${error.message}` : '';
      return notes.fault('console_not_towhook', `what answers at ${url} is no console${broken}`, fix);
    }
    if (error.httpStatus !== 401 || !error.isOfConsole) return refusing(error);
    if (apiKey === null) return notes.fault('api_key_missing', 'answers, but no API key is set', key);
    return notes.fault('api_key_wrong', 'answers, but does not accept the API key', key);
  }
}

function refusing({ httpStatus, isOfConsole, message }: Refusal): Finding {
  const notes = notesOf('console');
  if (!isOfConsole) {
    const what = `what answers there (${httpStatus}) is no console`;
    return notes.fault('console_not_towhook', what, 'Set TOWHOOK_URL to the address of the console.');
  }
  return notes.fault(
    'console_failing',
    `answers ${httpStatus}: ${message}`,
    'Look at its log, and at the findings above.',
  );
}

function settingsIn(environment: Environment | undefined) {
  try {
    return loadCommandLineSettings(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

const testNotes = notesOf('webhook test');
/** No webhook of the service has this path: the receiver verifies the call and keeps it as not for towhook. */
const PATH = '/towhook-first-day';

/**
 * Sends a signed call to the receiver, as the service would, with each kind's newest secret. It changes no tow. Proves
 * that the way from outside works, and that the receiver has the secrets of this environment.
 */
export async function checkTestCall(config: Config, webhookUrl: string | null, clock: Clock): Promise<Finding> {
  const { receiver, webhook } = config;
  const base = receiverAddress(receiver, webhookUrl);
  if (base === null) return testNotes.skipped('not_looked_at', NO_RECEIVER_ADDRESS);
  const secrets = new Set(DELIVERY_KINDS.map((kind) => webhook.secrets[kind][0] ?? null));
  try {
    for (const secret of secrets) {
      const body = JSON.stringify({ test: 'towhook first-day' });
      const headers = { 'content-type': 'application/json', ...signed({ secret, body, clock }), ...sharedIn(config) };
      const { status, body: answer } = await askListener(`${base}${PATH}`, { method: 'POST', headers, body });
      if (status === 401) return secretDiffers(base, answer?.['message']);
      if (status !== 200 || answer?.['code'] !== 'not_for_towhook') return otherAnswer(base, status);
    }
    return testNotes.fine('test_call_taken', `the receiver at ${base} takes a call that is signed as configured here`);
  } catch {
    const fix = 'Start the receiver; look at DNS, TLS, and the proxy that forwards this address to RECEIVER_PORT.';
    return testNotes.fault('test_call_unanswered', `a test call to ${base} got no answer`, fix);
  }
}

function secretDiffers(base: string, message: unknown): Finding {
  const why = typeof message === 'string' ? `: ${message}` : '';
  return testNotes.fault(
    'test_call_not_verified',
    `the receiver at ${base} does not accept the secrets of this environment${why}`,
    'Start the receiver with the same WEBHOOK_… variables as here; a proxy must pass body and headers unchanged.',
  );
}

function otherAnswer(base: string, status: number): Finding {
  return testNotes.fault(
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
