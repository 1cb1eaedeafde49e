import { isoTimestamp } from '../domain/timestamp';
import type { JsonObject } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { pause } from '../platform/timers';
import type { DemoBoard } from './board';
import type { OperatorClient } from './client';
import type { TowPlan } from './plan';

/** A played tow: what the crew recorded, and what the service must receive. */
export interface DemoTow {
  readonly ref: string;
  readonly plan: TowPlan;
  /** The expected reports, in order. */
  readonly expected: readonly { readonly kind: string; readonly body: JsonObject }[];
}

export interface DemoCrewTools {
  readonly client: Pick<OperatorClient, 'recordFact'>;
  readonly board: DemoBoard;
  readonly clock: Clock;
  /** The mean pause between two facts, ms. */
  readonly paceMs: number;
}

/** Plays the plan of one tow through the operator API, as people in the field do. */
export async function playTow(ref: string, plan: TowPlan, tools: DemoCrewTools): Promise<DemoTow> {
  const { client, board, clock, paceMs } = tools;
  const tow = await board.until(ref, () => true);
  const references = { violation_reference_id: tow.violation_reference_id, towing_reference_id: ref };
  const expected: { kind: string; body: JsonObject }[] = [];
  for (const { kind, entry, known = {} } of plan.steps) {
    await pause(paceMs * (0.5 + clock.random()));
    const occurredAt = isoTimestamp(clock.nowMs());
    const entered = kind === 'invoice' ? entry : { ...entry, occurred_at: occurredAt };
    await client.recordFact(ref, kind, entered);
    expected.push({ kind, body: bodyOf(kind, { references, entry: { ...known, ...entry }, occurredAt }) });
  }
  return { ref, plan, expected };
}

/**
 * The bodies of docs/service-api.md#operations, written a second time on purpose: the check must not share the rules
 * that it checks.
 */
function bodyOf(kind: string, entered: { references: JsonObject; entry: JsonObject; occurredAt: string }): JsonObject {
  const { references, entry, occurredAt } = entered;
  const towing = { towing_reference_id: references['towing_reference_id'] ?? null };
  switch (kind) {
    case 'started':
      return { ...references, ...entry, status_update_time: occurredAt };
    case 'invoice':
      return { ...towing, vehicle_type: entry['vehicle_type'] ?? null, delay_in_days: 0 };
    case 'payment':
      return { ...towing, payment_status: entry['payment_status'] ?? null };
    default:
      return { ...references, ...entry };
  }
}
