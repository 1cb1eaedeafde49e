import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Webhook } from 'standardwebhooks';
import { WEBHOOKS } from '../contracts/webhook/webhooks';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log/log';
import { pause } from '../platform/timers';
import { BoundedList } from './bounded';
import type { FaultRules, WebhookKind } from './answer/faults';
import type { ActiveProfile } from './profile';
import { rewritten } from './wire-form';
import type { WireObject } from './world';

/** One attempt to deliver a webhook, as `GET /simulator/webhooks` shows it. */
export interface WebhookAttempt {
  /** When it was sent, ISO 8601. */
  readonly at: string;
  /** `other`: an event that no operation of the document has. */
  readonly kind: WebhookKind | 'other';
  /** Empty for other events. */
  readonly towing_reference_id: string;
  readonly webhook_id: string;
  /** Null until it is answered, and without an answer or when it was not sent. */
  status: number | null;
  /** When its status arrived, ISO 8601; null without a status. */
  answered_at: string | null;
  /** Counts from 1. */
  readonly attempt: number;
  readonly body: WireObject;
  /** The fault of the attempt. */
  readonly fault: string | null;
}

export interface WebhookSecrets {
  readonly tow_request: readonly string[];
  readonly tow_invoice: readonly string[];
}

export interface WebhookSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly profile: ActiveProfile;
  /** Waits; false when the simulator stops in the meantime. */
  readonly wait: (ms: number) => Promise<boolean>;
  readonly faults: FaultRules;
  readonly webhookUrl: () => string;
  readonly webhookSecrets: WebhookSecrets;
  readonly retryDelaysMs: readonly number[];
}

/** A webhook that is being delivered; id and text stay the same for every attempt. */
interface Outgoing {
  readonly kind: WebhookKind | 'other';
  /** Below the address of the operator and the prefix of the profile. */
  readonly path: string;
  readonly towingReference: string;
  readonly id: string;
  readonly body: WireObject;
  readonly text: string;
}

const ATTEMPT_TIMEOUT_MS = 15_000;
const POSTS_AT_ONCE_MAX = 64;
const ATTEMPTS_KEPT_MAX = 200_000;

/**
 * Sends the two webhooks (docs/service-api.md#webhooks) at least once. Any 2xx within 15 s is success. Other attempts
 * are repeated as scheduled, with the same id and body and a new timestamp and signature.
 */
export class WebhookSender {
  readonly #settings: WebhookSettings;
  readonly #agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  readonly #limit = new ConcurrencyLimit(POSTS_AT_ONCE_MAX);
  readonly #attempts = new BoundedList<WebhookAttempt>(ATTEMPTS_KEPT_MAX);
  /** Webhooks delayed by `reorder`, with the number of posts at the start of the delay. */
  readonly #held = new Map<AbortController, number>();
  readonly #running = new Set<Promise<void>>();
  #postsStarted = 0;
  #stopped = false;

  constructor(settings: WebhookSettings) {
    this.#settings = settings;
  }

  /** Starts the delivery and returns the webhook's id at once. */
  send(kind: WebhookKind, towingReference: string, message: WireObject): string {
    const profile = this.#settings.profile.current;
    const body = rewritten(message, { ...profile, missing: profile.webhook_fields_missing });
    return this.#start({ kind, path: WEBHOOKS[kind].path, towingReference, body });
  }

  /** Like `send`, for an event of another kind; its body is sent as it is. */
  sendEvent(path: string, body: WireObject): string {
    return this.#start({ kind: 'other', path, towingReference: '', body });
  }

  #start(webhook: Pick<Outgoing, 'kind' | 'path' | 'towingReference' | 'body'>): string {
    const id = `msg_${this.#settings.clock.id()}`;
    const mark = this.#settings.profile.current.webhook_byte_order_mark ? '\uFEFF' : '';
    const run = this.#deliver({ ...webhook, id, text: `${mark}${JSON.stringify(webhook.body)}` });
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
    return id;
  }

  /** The last attempts, oldest first. */
  attempts(): WebhookAttempt[] {
    return this.#attempts.values();
  }

  /** Forgets the attempts so far; deliveries that are under way go on. */
  clearAttempts(): void {
    this.#attempts.clear();
  }

  /** Starts no further attempt, waits for running ones and cancels them after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    for (const delay of this.#held.keys()) delay.abort();
    const close = () => Object.values(this.#agents).forEach((agent) => agent.destroy());
    const cut = setTimeout(close, graceMs);
    await Promise.all(this.#running);
    clearTimeout(cut);
    close();
  }

  async #deliver(webhook: Outgoing): Promise<void> {
    const { wait, log, retryDelaysMs } = this.#settings;
    for (const [index, delayMs] of [...retryDelaysMs, null].entries()) {
      if (await this.#attempt(webhook, index + 1)) return;
      if (delayMs === null) break;
      if (!(await wait(delayMs))) return;
    }
    if (this.#stopped) return;
    log.warn('simulator.webhook_given_up', { kind: webhook.kind, towing_reference_id: webhook.towingReference });
  }

  /** One attempt with its fault, if any; true when the operator accepted it. */
  async #attempt(webhook: Outgoing, attempt: number): Promise<boolean> {
    const { wait, faults } = this.#settings;
    const { kind, towingReference } = webhook;
    const hit = kind === 'other' ? null : faults.forWebhook({ name: kind, path: webhook.path, towingReference });
    const fault = hit?.fault ?? null;
    const post = () => this.#post(webhook, { attempt, fault });
    if (hit === null) return post();
    switch (hit.fault) {
      case 'drop':
        this.#note(webhook, { attempt, fault });
        return false;
      case 'lost_answer':
        await post();
        return false;
      case 'duplicate':
        return (await Promise.all([post(), post()])).some(Boolean);
      case 'latency':
      case 'late':
        await wait(hit.ms);
        return post();
      case 'reorder':
        await this.#hold(hit.ms);
        return post();
    }
  }

  async #post(webhook: Outgoing, about: Pick<WebhookAttempt, 'attempt' | 'fault'>): Promise<boolean> {
    return this.#limit.run(async () => {
      if (this.#stopped) return false;
      this.#postsStarted += 1;
      const number = this.#postsStarted;
      const attempt = this.#note(webhook, about);
      const { webhook_prefix, webhook_content_type, webhook_headers } = this.#settings.profile.current;
      const url = `${this.#settings.webhookUrl().replace(/\/+$/, '')}${webhook_prefix}${webhook.path}`;
      const headers = { ...this.#headers(webhook), ...webhook_headers, 'content-type': webhook_content_type };
      const status = await this.#statusOf(url, webhook.text, headers);
      attempt.status = status;
      if (status !== null) attempt.answered_at = new Date(this.#settings.clock.nowMs()).toISOString();
      for (const [delay, postsBefore] of this.#held) if (number > postsBefore) delay.abort();
      const { kind, towingReference } = webhook;
      const facts = { kind, towing_reference_id: towingReference, attempt: about.attempt, fault: about.fault, status };
      this.#settings.log.debug('simulator.webhook_attempted', facts);
      return status !== null && status >= 200 && status < 300;
    });
  }

  async #hold(ms: number): Promise<void> {
    const delay = new AbortController();
    this.#held.set(delay, this.#postsStarted);
    await pause(ms, delay.signal);
    this.#held.delete(delay);
  }

  /** Posts a body; null without an answer in time, and for headers that cannot be sent. */
  async #statusOf(url: string, text: string, headers: Record<string, string>): Promise<number | null> {
    // With a string as body, Node encodes the headers as UTF-8 instead of Latin-1.
    const body = Buffer.from(text);
    const [send, agent] = url.startsWith('https:')
      ? ([httpsRequest, this.#agents.https] as const)
      : ([httpRequest, this.#agents.http] as const);
    const posting = new Promise<number | null>((resolve, reject) => {
      const options = { method: 'POST', agent, timeout: ATTEMPT_TIMEOUT_MS };
      const request = send(url, { ...options, headers: { ...headers, 'content-length': body.length } });
      request.on('response', (response) => {
        response.on('error', () => {}).resume();
        resolve(response.statusCode ?? null);
      });
      request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer in time')));
      request.end(body);
    });
    return posting.catch(() => null);
  }

  #note(webhook: Outgoing, about: Pick<WebhookAttempt, 'attempt' | 'fault'>): WebhookAttempt {
    const attempt: WebhookAttempt = {
      at: new Date(this.#settings.clock.nowMs()).toISOString(),
      kind: webhook.kind,
      towing_reference_id: webhook.towingReference,
      webhook_id: webhook.id,
      status: null,
      answered_at: null,
      attempt: about.attempt,
      body: webhook.body,
      fault: about.fault,
    };
    this.#attempts.push(attempt);
    return attempt;
  }

  #headers({ kind, id, text }: Outgoing): Record<string, string> {
    const now = new Date(this.#settings.clock.nowMs());
    const plain = { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(now.getTime() / 1000)) };
    const [secret] = this.#settings.webhookSecrets[kind === 'other' ? 'tow_request' : kind];
    return secret === undefined ? plain : { ...plain, 'webhook-signature': new Webhook(secret).sign(id, now, text) };
  }
}

/** Runs at most `limit` pieces of work at once; the others wait in order. */
class ConcurrencyLimit {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // The next waiting work takes the place directly, so that later work cannot overtake it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
