import { Webhook } from 'standardwebhooks';
import { WEBHOOKS } from '../contracts/webhooks';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import { BoundedList } from './bounded';
import type { Delay, Delays } from './delays';
import type { Faults, WebhookKind } from './faults';
import { Gate } from './gate';
import type { WebhookSecrets } from './options';
import { Poster } from './post';
import type { JsonObject } from './world';

/** One attempt to deliver a webhook, as `GET /simulator/webhooks` shows it. */
export interface Attempt {
  /** When it left, ISO 8601. */
  readonly at: string;
  readonly kind: WebhookKind;
  readonly towing_reference_id: string;
  readonly webhook_id: string;
  /** Null while unanswered, and when no answer came or the attempt was not sent. */
  status: number | null;
  /** When its status came, ISO 8601; null until then, and when none came. */
  answered_at: string | null;
  /** Counts from 1. */
  readonly attempt: number;
  readonly body: JsonObject;
  /** The fault that hit it. */
  readonly fault: string | null;
}

export interface WebhookSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly delays: Delays;
  readonly faults: Faults;
  readonly webhookUrl: () => string;
  readonly webhookSecrets: WebhookSecrets;
  readonly retryDelaysMs: readonly number[];
}

/** A webhook on its way; id and text stay the same on every attempt. */
interface Outgoing {
  readonly kind: WebhookKind;
  readonly towingReference: string;
  readonly id: string;
  readonly body: JsonObject;
  readonly text: string;
}

const ATTEMPT_TIMEOUT_MS = 15_000;
const POSTS_AT_ONCE_MAX = 64;
const ATTEMPTS_KEPT_MAX = 200_000;

/**
 * Sends the two webhooks (service-api 6) at least once: any 2xx within 15 s is success, everything else is repeated by
 * the schedule with the same id and body and a fresh timestamp and signature.
 */
export class WebhookSender {
  readonly #settings: WebhookSettings;
  readonly #poster = new Poster();
  readonly #gate = new Gate(POSTS_AT_ONCE_MAX);
  readonly #attempts = new BoundedList<Attempt>(ATTEMPTS_KEPT_MAX);
  /** Webhooks held by `reorder`, with the number of posts started when the hold began. */
  readonly #held = new Map<Delay, number>();
  readonly #running = new Set<Promise<void>>();
  #postsStarted = 0;
  #stopped = false;

  constructor(settings: WebhookSettings) {
    this.#settings = settings;
  }

  /** Starts to deliver and returns the webhook's id at once. */
  send(kind: WebhookKind, towingReference: string, body: JsonObject): string {
    const id = `msg_${this.#settings.clock.id()}`;
    const run = this.#deliver({ kind, towingReference, id, body, text: JSON.stringify(body) });
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
    return id;
  }

  /** The last attempts, oldest first. */
  attempts(): Attempt[] {
    return this.#attempts.items();
  }

  /** Starts no further attempt, waits for those under way and cuts them after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    const cut = setTimeout(() => this.#poster.close(), graceMs);
    await Promise.all(this.#running);
    clearTimeout(cut);
    this.#poster.close();
  }

  async #deliver(webhook: Outgoing): Promise<void> {
    const { delays, log, retryDelaysMs } = this.#settings;
    for (const [index, delayMs] of [...retryDelaysMs, null].entries()) {
      if (await this.#attempt(webhook, index + 1)) return;
      if (delayMs === null) break;
      if (!(await delays.wait(delayMs))) return;
    }
    if (this.#stopped) return;
    log.warn('simulator.webhook_given_up', { kind: webhook.kind, towing_reference_id: webhook.towingReference });
  }

  /** One attempt, as far as the fault lets it; true when the operator took it. */
  async #attempt(webhook: Outgoing, attempt: number): Promise<boolean> {
    const { delays, faults } = this.#settings;
    const { kind, towingReference } = webhook;
    const hit = faults.forWebhook({ name: kind, path: WEBHOOKS[kind].path, towingReference });
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
        await delays.wait(hit.ms);
        return post();
      case 'reorder':
        await this.#hold(hit.ms);
        return post();
    }
  }

  async #post(webhook: Outgoing, about: Pick<Attempt, 'attempt' | 'fault'>): Promise<boolean> {
    return this.#gate.run(async () => {
      if (this.#stopped) return false;
      this.#postsStarted += 1;
      const number = this.#postsStarted;
      const attempt = this.#note(webhook, about);
      const url = `${this.#settings.webhookUrl().replace(/\/+$/, '')}${WEBHOOKS[webhook.kind].path}`;
      const headers = this.#headers(webhook);
      const status = await this.#poster.post({ url, headers, body: webhook.text, timeoutMs: ATTEMPT_TIMEOUT_MS });
      attempt.status = status;
      if (status !== null) attempt.answered_at = new Date(this.#settings.clock.nowMs()).toISOString();
      for (const [delay, postsBefore] of this.#held) if (number > postsBefore) delay.end();
      const { kind, towingReference } = webhook;
      const facts = { kind, towing_reference_id: towingReference, attempt: about.attempt, fault: about.fault, status };
      this.#settings.log.debug('simulator.webhook_attempted', facts);
      return status !== null && status >= 200 && status < 300;
    });
  }

  async #hold(ms: number): Promise<void> {
    const delay = this.#settings.delays.start(ms);
    this.#held.set(delay, this.#postsStarted);
    await delay.ended;
    this.#held.delete(delay);
  }

  #note(webhook: Outgoing, about: Pick<Attempt, 'attempt' | 'fault'>): Attempt {
    const attempt: Attempt = {
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
    const [secret] = this.#settings.webhookSecrets[kind];
    return secret === undefined ? plain : { ...plain, 'webhook-signature': new Webhook(secret).sign(id, now, text) };
  }
}
