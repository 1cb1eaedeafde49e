import type { JsonObject, ReportKind } from '../domain/vocabulary';
import { isoTimestamp } from '../domain/timestamp';
import type { Clock } from '../platform/clock';
import { pause } from '../platform/timers';
import type { DemoBoard } from './board';
import type { OperatorClient } from './client';

/** The plans of the tows of the demo: complete, short and canceled ones, with faults of the service. */

export interface PlanStep {
  readonly kind: ReportKind;
  /** The fields that the crew enters. */
  readonly entry: JsonObject;
  /** Fields that are known without being entered. */
  readonly known?: JsonObject;
}

export interface TowPlan {
  readonly name: string;
  readonly steps: readonly PlanStep[];
}

const detained: PlanStep = { kind: 'detained', entry: {} };
const invoice: PlanStep = { kind: 'invoice', entry: { vehicle_type: 'HEAVY' } };
const payment: PlanStep = { kind: 'payment', entry: { payment_status: 'PAID' } };
const released: PlanStep = { kind: 'released', entry: {} };
const canceled = (reason: string): PlanStep => ({ kind: 'canceled', entry: { cancellation_reason: reason } });

const PLACES = [
  ['Olaya Street', 24.6946, 46.6853],
  ['King Fahd Road', 24.7136, 46.6753],
  ['Tahlia Street', 24.6997, 46.6811],
  ['Prince Turki Street', 24.7423, 46.6431],
] as const;

/** The vehicle of a tow and its place. */
export function placeOf(index: number) {
  const [place, latitude, longitude] = PLACES[index % PLACES.length] ?? PLACES[0];
  return { plate_number: `DMO ${1000 + index}`, towed_location: place, latitude, longitude };
}

/**
 * Of twelve tows eight are released after detention, one is released on the spot and three are canceled. A tow that
 * began with a violation takes plate and place from it.
 */
export function planFor(index: number, { hasViolation }: { hasViolation: boolean }): TowPlan {
  const place = placeOf(index);
  const started: PlanStep = hasViolation
    ? { kind: 'started', entry: {}, known: place }
    : { kind: 'started', entry: place };
  switch (index % 12) {
    case 3:
      return { name: 'gone on arrival', steps: [canceled('Vehicle gone on arrival')] };
    case 6:
      return { name: 'let go on the spot', steps: [started, released] };
    case 8:
      return { name: 'canceled while towing', steps: [started, canceled('Owner returned and moved the vehicle')] };
    case 10:
      return { name: 'gone on arrival', steps: [canceled('Vehicle gone on arrival')] };
    default:
      return { name: 'towed, paid, released', steps: [started, detained, invoice, payment, released] };
  }
}

/** The faults of the service; their number grows with the tows. */
export function faultsFor(tows: number): JsonObject[] {
  const times = Math.max(1, Math.round(tows / 12));
  return [
    { operation: 'violation', fault: 'lost_answer', times: 1 },
    { operation: 'tow_request', fault: 'duplicate', times },
    { operation: 'started', fault: '500', times },
    { operation: 'detained', fault: 'lost_answer', times },
    { operation: 'invoice', fault: 'lost_answer', times },
    { operation: 'released', fault: '429', times, ms: 1000 },
    { operation: 'payment', fault: 'expired_token', times: 1 },
  ];
}

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
