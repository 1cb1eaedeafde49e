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
