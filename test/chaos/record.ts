import { z } from 'zod';
import { simulatorCall, simulatorOrders, simulatorViolation, simulatorWebhook } from '../../src/contracts/simulator';
import type { JsonObject } from '../../src/domain/vocabulary';
import type { FaultRule } from '../../src/simulator/faults';

/** The service's stand-in, seen through its own doors: what it recorded, and what it is told to do. */

/** Of a call no more than is judged: a long run makes many. */
const call = z.object({
  ...simulatorCall.pick({ operation: true, body: true, status: true, effect: true, fault: true }).shape,
  at: z.string(),
  hung_up: z.boolean().default(false),
});
export type Call = z.infer<typeof call>;
const calls = z.object({ items: z.array(call) });

const webhook = z.object({ ...simulatorWebhook.shape, at: z.string(), answered_at: z.string().nullable() });
export type Webhook = z.infer<typeof webhook>;
const webhooks = z.object({ items: z.array(webhook) });

/** A violation that the service has: its form as the service read it. */
const heldViolation = z.object(
  simulatorViolation.pick({ violation_reference_id: true, metadata: true, fields: true, images: true }).shape,
);
export type HeldViolation = z.infer<typeof heldViolation>;
const heldViolations = z.object({ items: z.array(heldViolation) });

const order = z.object({ towing_reference_id: z.string(), violation_reference_id: z.string() });
export type Order = z.infer<typeof order>;
const world = z.object({ tows: z.array(order) });

/** It forgets calls beyond this many; a judge who has seen so many has not seen all. */
export const CALLS_MAX = 200_000;

export interface ServiceRecord {
  calls(ref?: string): Promise<Call[]>;
  webhooks(): Promise<Webhook[]>;
  /** The violations it has, as they came. */
  violations(): Promise<HeldViolation[]>;
  /** Every tow, and the violation it was ordered for. */
  orders(): Promise<Order[]>;
  /** Orders a tow; its webhook leaves now or when told. */
  orderTow(send: boolean): Promise<{ ref: string; violation: string }>;
  sendTowRequest(ref: string): Promise<void>;
  /** Posts an invoice that nobody asked for; returns the webhook's id. */
  sendInvoice(ref: string): Promise<string>;
  setFaults(rules: readonly FaultRule[]): Promise<void>;
}

const sent = z.object({ webhook_id: z.string() });

export function openRecord(simulatorUrl: string): ServiceRecord {
  const ask = async (path: string, change?: { method: 'POST' | 'PUT'; body: JsonObject | readonly FaultRule[] }) => {
    const headers = { 'content-type': 'application/json' };
    const init = change ? { method: change.method, headers, body: JSON.stringify(change.body) } : {};
    const response = await fetch(`${simulatorUrl}/simulator/${path}`, init);
    if (!response.ok) throw new Error(`the simulator answered ${response.status} to ${path}: ${await response.text()}`);
    const answer: unknown = await response.json();
    return answer;
  };
  return {
    async calls(ref) {
      const filter = ref === undefined ? '' : `?towing_reference_id=${encodeURIComponent(ref)}`;
      return calls.parse(await ask(`calls${filter}`)).items;
    },
    webhooks: async () => webhooks.parse(await ask('webhooks')).items,
    violations: async () => heldViolations.parse(await ask('violations')).items,
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

/** How often each fault hit; those of webhooks say so. */
export function faultsIn(calls: readonly Call[], webhooks: readonly Webhook[]): Map<string, number> {
  const names = [
    ...calls.flatMap(({ fault }) => fault ?? []),
    ...webhooks.flatMap(({ fault }) => (fault === null ? [] : `webhook ${fault}`)),
  ];
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The tow a call is about, empty when it is about none. */
export function refOf({ body }: Call): string {
  const ref = body?.['towing_reference_id'];
  return typeof ref === 'string' ? ref : '';
}

/** How many calls about tows were made beyond the first of each report. */
export function repeatsIn(calls: readonly Call[]): number {
  const names = calls.filter((call) => refOf(call) !== '').map((call) => `${refOf(call)} ${call.operation}`);
  return names.length - new Set(names).size;
}
