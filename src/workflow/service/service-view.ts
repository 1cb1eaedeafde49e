import { documentedFields } from '../../contracts/service/contract-fields';
import { OPERATIONS } from '../../contracts/service/operations';
import type { ServiceView } from '../../contracts/service/seen-service';
import { WEBHOOKS } from '../../contracts/webhook/webhooks';
import type { DifferenceSource } from '../../domain/service/difference';
import { LATENCY_STEPS_MS, quantileMs } from '../../domain/ops/metric-names';
import { isRecentSlot, type CallCounts, type MessageCounts } from '../../domain/service/seen-service';
import { compareFields, type ObservedMessage } from '../../domain/service/service-shapes';
import { isoTimestamp } from '../../domain/timestamp';
import type { DifferenceStore } from '../ports';
import { differenceViewOf } from './differences';

/** The service as it was seen, beside its document. */

/** What all processes have seen: messages by `<source>.<name>`, and calls by operation. */
export interface StoredService {
  readonly messages: Readonly<Record<string, MessageCounts>>;
  readonly calls: Readonly<Record<string, CallCounts>>;
}

export interface SeenServiceStore {
  /** What all processes have seen, and the Redis time of the reading. */
  read(): Promise<{ readonly stored: StoredService; readonly nowMs: number }>;
}

export interface ServiceViewTools {
  readonly seenService: SeenServiceStore;
  readonly differences: Pick<DifferenceStore, 'all'>;
}

export async function readServiceView({ seenService, differences }: ServiceViewTools): Promise<ServiceView> {
  const [{ stored, nowMs }, kinds] = await Promise.all([seenService.read(), differences.all()]);
  return {
    messages: [
      ...Object.keys(WEBHOOKS).map((name) => messageView(stored, 'webhook', name)),
      ...Object.keys(OPERATIONS).map((name) => messageView(stored, 'answer', name)),
    ],
    operations: Object.entries(OPERATIONS).map(([operation, { budget }]) => ({
      operation,
      ...callsView(stored.calls[operation] ?? {}, nowMs),
      budget,
    })),
    differences: kinds.map(differenceViewOf),
  };
}

function messageView(stored: StoredService, source: DifferenceSource, name: string): ServiceView['messages'][number] {
  const message = observed(stored, source, name);
  const hasEnvelope = message?.fields.some(({ field, type }) => field === 'data' && type === 'object') ?? false;
  const fields = compareFields(documentedFields(source, name, { hasEnvelope }), message);
  return {
    source,
    name,
    samples: message?.samples ?? 0,
    first_seen_at: message && isoTimestamp(message.firstSeenMs),
    last_seen_at: message && isoTimestamp(message.lastSeenMs),
    fields: fields.map(({ field, documented, isRequired, seen, mark }) => ({
      field,
      documented: documented && [...documented],
      required: isRequired,
      seen: seen.map(({ type, count, firstSeenMs, lastSeenMs }) => ({
        type,
        count,
        first_seen_at: isoTimestamp(firstSeenMs),
        last_seen_at: isoTimestamp(lastSeenMs),
      })),
      mark,
    })),
  };
}

function observed({ messages }: StoredService, source: DifferenceSource, name: string): ObservedMessage | null {
  const message = messages[`${source}.${name}`];
  if (!message || message.samples === 0) return null;
  const fields = Object.entries(message.fields).map(([key, { count, first, last }]) => {
    const at = key.lastIndexOf(' ');
    return { field: key.slice(0, at), type: key.slice(at + 1), count, firstSeenMs: first, lastSeenMs: last };
  });
  return { samples: message.samples, firstSeenMs: message.first, lastSeenMs: message.last, fields };
}

function callsView(slots: CallCounts, nowMs: number) {
  const recent = Object.entries(slots).flatMap(([slot, calls]) => (isRecentSlot(slot, nowMs) ? [calls] : []));
  const statuses = new Map<string, number>();
  const steps = Array.from({ length: LATENCY_STEPS_MS.length + 1 }, () => 0);
  for (const slot of recent) {
    for (const [status, count] of Object.entries(slot.statuses)) {
      statuses.set(status, (statuses.get(status) ?? 0) + count);
    }
    for (const [step, count] of Object.entries(slot.steps)) steps[Number(step)] = (steps[Number(step)] ?? 0) + count;
  }
  const calls = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  return {
    calls,
    statuses: [...statuses].map(([status, count]) => ({ status, count })).toSorted((a, b) => b.count - a.count),
    p50_ms: rounded(quantileMs(steps, 0.5)),
    p95_ms: rounded(quantileMs(steps, 0.95)),
  };
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
