import type { TowView } from '../contracts/operator';
import { auditOf, type Actor, type AuditEntry } from '../domain/audit';
import { keep, type DispatchCommand } from '../domain/dispatch-rules';
import { noteEvent } from '../domain/outbox-record';
import type { Tow } from '../domain/tow';
import type { JsonObject } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { changeTow, type TowRequest } from './change-tow';
import type { Effect } from './effect';
import type { RecordStore } from './transaction-port';

export interface DispatchRequest extends TowRequest {
  readonly command: DispatchCommand;
  readonly actor: Actor;
}

/** Keeps what people tell about a tow for themselves, or refuses and changes nothing. No worker has anything to do. */
export function keepOnTow(
  tools: { records: RecordStore; clock: Clock },
  request: DispatchRequest,
): Promise<Effect<TowView>> {
  const { command, actor } = request;
  return changeTow(tools.records, request, (draft, { nowMs }) => {
    const decision = keep(draft.tow, command, { by: actor.name, nowMs: tools.clock.nowMs() });
    if (!decision.ok) return decision;
    draft.tow = decision.tow;
    const audit = auditOfKept(request, decision.tow);
    noteEvent(draft, { type: audit.action, ...told(command, decision.tow), by: actor.name }, nowMs);
    return { ok: true, audit };
  });
}

/** What the timeline keeps of it: names of crews may stand there. A note stands with the tow itself. */
function told(command: DispatchCommand, tow: Tow): JsonObject {
  switch (command.kind) {
    case 'assign':
      return { crew: command.crew, truck: command.truck ?? null };
    case 'step':
      return { step: command.step, occurred_at: momentOfStep(tow) ?? null };
    case 'yard':
      return { yard: command.yard, slot: command.slot ?? null };
    case 'hold':
    case 'lift':
      return { hold_id: command.holdId, reason: command.reason };
    case 'note':
      return {};
  }
}

/** What the audit keeps of it: no name of a crew, no note. */
function auditOfKept({ ref, command, actor }: DispatchRequest, tow: Tow): AuditEntry {
  const on = { towing_reference_id: ref };
  switch (command.kind) {
    case 'assign':
      return auditOf(actor, command.crew === null ? 'tow.unassigned' : 'tow.assigned', { on });
    case 'step': {
      const moment = momentOfStep(tow);
      const what = { step: command.step, ...(moment === undefined ? {} : { occurred_at: moment }) };
      return auditOf(actor, 'tow.step_recorded', { on, what });
    }
    case 'yard':
      return auditOf(actor, 'tow.yard_set', { on });
    case 'hold':
      return auditOf(actor, 'tow.hold_placed', { on: { ...on, hold_id: command.holdId }, why: command.reason });
    case 'lift':
      return auditOf(actor, 'tow.hold_lifted', { on: { ...on, hold_id: command.holdId }, why: command.reason });
    case 'note':
      return auditOf(actor, 'tow.note_added', { on });
  }
}

function momentOfStep(tow: Tow): string | undefined {
  return tow.dispatch.steps.at(-1)?.occurredAt;
}
