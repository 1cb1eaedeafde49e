import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock';
import type { RetryingClient } from './client';
import type { ServiceRecord } from './record';

export interface DeliveryFindings {
  readonly acknowledged: number;
  /** Acknowledged webhooks that were not processed. */
  readonly lost: number;
  /** Webhooks that were processed as more than one delivery. */
  readonly doubled: number;
  readonly neverAcknowledged: number;
  readonly processed: number;
}

export interface DeliveryTools {
  readonly client: RetryingClient;
  readonly record: ServiceRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When to give up, on the monotonic clock. */
  readonly untilMs: number;
}

const LOOK_EVERY_MS = 500;

/** Compares the service's webhooks with towhook's deliveries until all are processed or the limit is reached. */
export async function untilDelivered(tools: DeliveryTools): Promise<DeliveryFindings> {
  for (;;) {
    const findings = await compareDeliveries(tools);
    const isSettled = findings.lost + findings.neverAcknowledged === 0;
    if (isSettled || tools.clock.monotonicMs() >= tools.untilMs) return findings;
    await pause(LOOK_EVERY_MS, undefined, { signal: tools.signal });
  }
}

async function compareDeliveries({ client, record }: DeliveryTools): Promise<DeliveryFindings> {
  const webhooks = await record.webhooks();
  const sent = new Set(webhooks.map(({ webhook_id: id }) => id));
  const acknowledged = new Set(webhooks.filter(({ status }) => status === 200).map(({ webhook_id: id }) => id));
  const states = new Map<string, string[]>();
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page: Awaited<ReturnType<RetryingClient['deliveries']>> = await client.deliveries(cursor);
    for (const { signature_id: id, state } of page.items) {
      if (id !== null) states.set(id, [...(states.get(id) ?? []), state]);
    }
    cursor = page.next_cursor;
  }
  const isProcessed = (id: string) => states.get(id)?.every((state) => state === 'processed') ?? false;
  return {
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter((id) => !isProcessed(id)).length,
    doubled: [...states.values()].filter(({ length }) => length > 1).length,
    neverAcknowledged: [...sent].filter((id) => !acknowledged.has(id)).length,
    processed: [...states.keys()].filter(isProcessed).length,
  };
}
