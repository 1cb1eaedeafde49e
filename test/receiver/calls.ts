import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { towView, type TowView } from '../../src/contracts/operator';
import type { Foundation } from '../../src/main/foundation';
import { createDeliveryStore } from '../../src/store/deliveries';
import { KEYS } from '../../src/store/keys';
import type { App } from '../support/app';
import { eventually } from '../support/eventually';
import type { TestRedis } from '../support/redis';

/** The service as the receiver meets it: bodies, signatures and calls. */

/** A tow request (service-api 6). */
export function towRequest(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    violation_reference_id: 'V-20261120-K7P2QX',
    towing_reference_id: 'TW-20261120-9F4D1A',
    metadata: { id: 'patrol-17' },
    ...changes,
  };
}

/** Invoice information (service-api 6). */
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

const answer = z.object({
  code: z.string(),
  message: z.string().optional(),
  details: z.array(z.object({ field: z.string(), rule: z.string() })).optional(),
});

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: z.infer<typeof answer>;
  /** From the call to the end of its answer. */
  readonly tookMs: number;
}

export type Path = '/tow-request' | '/tow/invoice';

/** Posts a call to a receiver. Text and bytes go out as they are, anything else as JSON. */
export async function post(
  receiverUrl: string,
  path: Path,
  body: string | Uint8Array<ArrayBuffer> | Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const startedMs = performance.now();
  const response = await fetch(`${receiverUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: answer.parse(JSON.parse(text)),
    tookMs: performance.now() - startedMs,
  };
}

/** A new signing secret. */
export function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

export interface Signing {
  readonly secret: string;
  readonly id?: string;
  /** Seconds that the signature's time is off. */
  readonly offSeconds?: number;
  readonly family?: 'webhook' | 'svix';
}

/** The headers of a signed call, made from the specification and not with the library that checks them. */
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

/** Everything that is stored, by key, besides what a process says of itself. */
export async function keysIn(redis: Pick<TestRedis, 'ask'>): Promise<string[]> {
  const reply = await redis.ask('KEYS', '*');
  const itsOwn = [KEYS.processes, KEYS.processBeats, KEYS.figures];
  const isItsOwn = (key: string) => itsOwn.some((begin) => key.startsWith(begin));
  return z
    .array(z.string())
    .parse(reply)
    .filter((key) => !isItsOwn(key))
    .toSorted();
}

/** The deliveries stored, newest first. */
export async function deliveriesIn({ redis }: Pick<Foundation, 'redis'>) {
  return (await createDeliveryStore(redis).list({ cursor: null, limit: 200 })).items;
}

/** The calls kept in quarantine, newest first. */
export function quarantinedIn({ redis }: Pick<Foundation, 'redis'>) {
  return createDeliveryStore(redis).quarantined(100);
}

/** The tow as the operator API shows it, once it is there. */
export function towOf(app: Pick<App, 'consoleUrl' | 'apiKey'>, ref: string): Promise<TowView> {
  return eventually(async () => {
    const response = await read(app, `/api/tows/${encodeURIComponent(ref)}`);
    return towView.parse(await response.json());
  });
}

/** Reads an address of the operator API. */
export function read(app: Pick<App, 'consoleUrl' | 'apiKey'>, path: string): Promise<Response> {
  return fetch(`${app.consoleUrl}${path}`, { headers: { authorization: `Bearer ${app.apiKey}` } });
}
