import { createHmac, randomBytes } from 'node:crypto';
import request from 'supertest';
import { z } from 'zod';
import type { Foundation } from '../../src/main/foundation';
import { createDeliveryStore } from '../../src/store/webhook/deliveries';
import { KEYS } from '../../src/store/keys';
import type { TestRedis } from '../support/redis';

/** Webhooks as the service sends them: bodies, signatures and requests. */

/** A tow request (docs/service-api.md#tow-request-webhook). */
export function towRequest(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    violation_reference_id: 'V-20261120-K7P2QX',
    towing_reference_id: 'TW-20261120-9F4D1A',
    metadata: { id: 'patrol-17' },
    ...changes,
  };
}

/** Invoice information (docs/service-api.md#tow-invoice-webhook). */
export function towInvoice(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const charge = {
    invoice_number: 'INV-1',
    vat_number: '300000000000003',
    total_amount: 115,
    paid_amount: 0,
    tax: 15,
  };
  return {
    ...towRequest(),
    towing_invoice: charge,
    delay_invoice: { ...charge, invoice_number: 'INV-2' },
    ...changes,
  };
}

const webhookResponse = z.object({
  code: z.string(),
  message: z.string().optional(),
  details: z.array(z.object({ field: z.string(), rule: z.string() })).optional(),
});

export type WebhookResponse = z.infer<typeof webhookResponse>;

export type Path = '/tow-request' | '/tow/invoice';

/**
 * A supertest request that posts a webhook to a receiver. Strings and Buffers are sent byte for byte, objects as JSON.
 * The request fails when the response body is not a webhook response.
 */
export function deliver(
  receiverUrl: string,
  path: Path,
  body: string | Buffer | Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): request.Test {
  return (
    request(receiverUrl)
      .post(path)
      .set({ 'content-type': 'application/json', ...headers })
      // Without this, superagent would write a Buffer as a JSON object.
      .serialize((content: string) => content)
      .send(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
      .expect((response) => void webhookResponse.parse(response.body))
  );
}

/** The body of a response to a webhook. */
export function bodyOf(response: { readonly body: unknown }): WebhookResponse {
  return webhookResponse.parse(response.body);
}

/** A new signing secret. */
export function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

export interface Signing {
  readonly secret: string;
  readonly id?: string;
  /** Seconds added to the current time in the signature's timestamp. */
  readonly offSeconds?: number;
  readonly family?: 'webhook' | 'svix';
}

/**
 * The headers of a signed webhook. They are made from the specification of Standard Webhooks, without the library that
 * the receiver verifies them with.
 */
export function signed(body: string | Uint8Array, signing: Signing): Record<string, string> {
  const { secret, id = 'msg_1', offSeconds = 0, family = 'webhook' } = signing;
  const timestamp = String(Math.floor(Date.now() / 1000) + offSeconds);
  const signature = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64');
  return {
    [`${family}-id`]: id,
    [`${family}-timestamp`]: timestamp,
    [`${family}-signature`]: `v1,${signature}`,
  };
}

/** All Redis keys in sorted order, without those of a process, its counted answers and refused calls. */
export async function keysIn(redis: Pick<TestRedis, 'ask'>): Promise<string[]> {
  const reply = await redis.ask('KEYS', '*');
  const { processes, heartbeats, metrics, webhookAnswers, webhookHours, refusedGroups, refusedCalls } = KEYS;
  const stored = [KEYS.schemaVersion, KEYS.spoolMarker];
  const ownKeys = [
    processes,
    heartbeats,
    metrics,
    webhookAnswers,
    webhookHours,
    refusedGroups,
    refusedCalls,
    ...stored,
  ];
  const isOwnKey = (key: string) => ownKeys.some((prefix) => key.startsWith(prefix));
  return z
    .array(z.string())
    .parse(reply)
    .filter((key) => !isOwnKey(key))
    .toSorted();
}

/** The deliveries stored, newest first. */
export async function deliveriesIn({ redis }: Pick<Foundation, 'redis'>) {
  return (await createDeliveryStore(redis).list({ cursor: null, limit: 200 })).items;
}
