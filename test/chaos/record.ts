import { Agent } from 'node:http';
import axios, { isAxiosError } from 'axios';
import { z } from 'zod';
import {
  simulatorCall,
  simulatorOrders,
  simulatorViolation,
  simulatorWebhook,
} from '../../src/contracts/service/simulator';
import type { JsonObject } from '../../src/domain/vocabulary';
import type { FaultRule } from '../../src/simulator/answer/faults';

/** The control API of the simulator: its record of calls and webhooks, and the faults that it injects. */

/** Only the fields that are judged, because a long run makes many calls. */
const call = z.object({
  ...simulatorCall.pick({ operation: true, body: true, status: true, effect: true, fault: true }).shape,
  at: z.string(),
  hung_up: z.boolean().default(false),
});
export type RecordedCall = z.infer<typeof call>;
const calls = z.object({ items: z.array(call) });

const webhook = z.object({ ...simulatorWebhook.shape, at: z.string(), answered_at: z.string().nullable() });
export type RecordedWebhook = z.infer<typeof webhook>;
const webhooks = z.object({ items: z.array(webhook) });

/** A violation that the service stored, as it read the form. */
const storedViolation = z.object(
  simulatorViolation.pick({ violation_reference_id: true, metadata: true, fields: true, images: true }).shape,
);
export type ServiceViolation = z.infer<typeof storedViolation>;
const storedViolations = z.object({ items: z.array(storedViolation) });

const order = z.object({ towing_reference_id: z.string(), violation_reference_id: z.string() });
export type OrderedTow = z.infer<typeof order>;
const world = z.object({ tows: z.array(order) });

/** The simulator keeps this many calls; a judge that read so many may have missed some. */
export const CALLS_MAX = 200_000;

export interface ServiceRecord {
  calls(ref?: string): Promise<RecordedCall[]>;
  webhooks(): Promise<RecordedWebhook[]>;
  /** Forgets the calls and webhooks so far. */
  clear(): Promise<void>;
  /** The stored violations, oldest first. */
  violations(): Promise<ServiceViolation[]>;
  /** Every tow, and the violation for which it was ordered. */
  orders(): Promise<OrderedTow[]>;
  /** Orders a tow; `send` posts its webhook now. */
  orderTow(send: boolean): Promise<{ ref: string; violation: string }>;
  sendTowRequest(ref: string): Promise<void>;
  /** Posts an invoice without a request; returns the webhook's id. */
  sendInvoice(ref: string): Promise<string>;
  setFaults(rules: readonly FaultRule[]): Promise<void>;
}

const sent = z.object({ webhook_id: z.string() });

type Change =
  | { readonly method: 'POST' | 'PUT'; readonly body: JsonObject | readonly FaultRule[] }
  | { readonly method: 'DELETE' };

/**
 * On a busy machine a kept connection may be closed by the simulator while a request is written to it. With more
 * connections at once than it accepts in time, others fail, also those of the roles.
 */
const CONNECTIONS = { keepAlive: false, maxSockets: 64 };

export function openRecord(simulatorUrl: string): ServiceRecord {
  const agent = new Agent(CONNECTIONS);
  const ask = async (path: string, change?: Change) => {
    const send = () =>
      axios.request<unknown>({
        url: `${simulatorUrl}/simulator/${path}`,
        method: change?.method ?? 'GET',
        data: change && 'body' in change ? change.body : undefined,
        httpAgent: agent,
        validateStatus: () => true,
      });
    // On a busy machine a request may not be read in time. The simulator then has done nothing; it answers 408 and closes
    // the connection, which may overtake the answer.
    const sendUntilRead = async () => {
      for (;;) {
        const response = await send().catch((error: unknown) => {
          if (isAxiosError(error) && error.code === 'ECONNRESET') return null;
          throw error;
        });
        if (response !== null && response.status !== 408) return response;
      }
    };
    const { status, data } = await sendUntilRead();
    if (status >= 400) throw new Error(`the simulator answered ${status} to ${path}: ${JSON.stringify(data)}`);
    return data;
  };
  return {
    async calls(ref) {
      const filter = ref === undefined ? '' : `?towing_reference_id=${encodeURIComponent(ref)}`;
      return calls.parse(await ask(`calls${filter}`)).items;
    },
    webhooks: async () => webhooks.parse(await ask('webhooks')).items,
    async clear() {
      await Promise.all(['calls', 'webhooks'].map((list) => ask(list, { method: 'DELETE' })));
    },
    violations: async () => storedViolations.parse(await ask('violations')).items,
    orders: async () => world.parse(await ask('world')).tows,
    async orderTow(send) {
      const { items } = simulatorOrders.parse(await ask('tow-requests', { method: 'POST', body: { send } }));
      const [ordered] = items;
      if (!ordered) throw new Error('the simulator ordered no tow');
      return { ref: ordered.towing_reference_id, violation: ordered.violation_reference_id };
    },
    async sendTowRequest(ref) {
      await ask(`tow-requests/${encodeURIComponent(ref)}/send`, { method: 'POST', body: {} });
    },
    async sendInvoice(ref) {
      const body = { towing_reference_id: ref };
      return sent.parse(await ask('invoices', { method: 'POST', body })).webhook_id;
    },
    async setFaults(rules) {
      await ask('faults', { method: 'PUT', body: rules });
    },
  };
}

/** Occurrences by fault; those of webhooks are prefixed. */
export function faultsIn(calls: readonly RecordedCall[], webhooks: readonly RecordedWebhook[]): Map<string, number> {
  const names = [
    ...calls.flatMap(({ fault }) => fault ?? []),
    ...webhooks.flatMap(({ fault }) => (fault === null ? [] : `webhook ${fault}`)),
  ];
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Occurrences by fault of the creates of violations. */
export function violationFaultsIn(calls: readonly RecordedCall[]): Map<string, number> {
  return faultsIn(
    calls.filter(({ operation }) => operation === 'violation'),
    [],
  );
}

/** The tow of a call; empty when it has none. */
export function refOf({ body }: RecordedCall): string {
  const ref = body?.['towing_reference_id'];
  return typeof ref === 'string' ? ref : '';
}

/** The calls about tows beyond the first of each report. */
export function repeatsIn(calls: readonly RecordedCall[]): number {
  const names = calls.filter((call) => refOf(call) !== '').map((call) => `${refOf(call)} ${call.operation}`);
  return names.length - new Set(names).size;
}
