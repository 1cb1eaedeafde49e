import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../domain/vocabulary';
import type { Clock } from '../../platform/clock';
import type { Board } from './board';
import type { OperatorClient } from './client';
import type { TowPlan } from './plan';

/** What the crew said about one tow, as it was entered and answered. */
export interface Story {
  readonly ref: string;
  readonly plan: TowPlan;
  /** What each report must say at the service, in order. */
  readonly expected: readonly { readonly kind: string; readonly body: JsonObject }[];
}

export interface CrewTools {
  readonly client: Pick<OperatorClient, 'say'>;
  readonly board: Board;
  readonly clock: Clock;
  /** The mean pause between two things a person does, ms. */
  readonly paceMs: number;
}

/** Plays one tow through its plan like people in the field would: through the operator API only. */
export async function playTow(ref: string, plan: TowPlan, tools: CrewTools): Promise<Story> {
  const { client, board, clock, paceMs } = tools;
  const tow = await board.until(ref, () => true);
  const references = { violation_reference_id: tow.violation_reference_id, towing_reference_id: ref };
  const expected: { kind: string; body: JsonObject }[] = [];
  for (const { kind, entry, known = {} } of plan.steps) {
    await pause(paceMs * (0.5 + clock.random()));
    const occurredAt = new Date(clock.nowMs()).toISOString();
    const said = kind === 'invoice' ? entry : { ...entry, occurred_at: occurredAt };
    await client.say(ref, kind, said);
    expected.push({ kind, body: bodyOf(kind, { references, entry: { ...known, ...entry }, occurredAt }) });
  }
  return { ref, plan, expected };
}

/** service-api 4.2 to 4.4, written down once more and on purpose: the check must not share the rules it checks. */
function bodyOf(kind: string, said: { references: JsonObject; entry: JsonObject; occurredAt: string }): JsonObject {
  const { references, entry, occurredAt } = said;
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
