import type { TowView } from '../contracts/operator';
import { auditOf, type Actor, type AuditEntry } from '../domain/audit';
import { applyDispatch, type DispatchCommand } from '../domain/dispatch-rules';
import { addEvent } from '../domain/outbox-record';
import type { Tow } from '../domain/tow';
import type { JsonObject } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { changeTow, type TowRequest } from './change-tow';
import type { ActionResult } from './action-result';
import type { RecordStore } from './transaction-port';

export interface DispatchRequest extends TowRequest {
  readonly command: DispatchCommand;
  readonly actor: Actor;
}

/** Updates the dispatch data of a tow, or refuses and changes nothing. Dispatch data is never sent to the service. */
export function updateDispatch(
  tools: { records: RecordStore; clock: Clock },
  request: DispatchRequest,
): Promise<ActionResult<TowView>> {
  const { command, actor } = request;
  return changeTow(tools.records, request, (draft, { nowMs }) => {
    const decision = applyDispatch(draft.tow, command, { by: actor.name, nowMs: tools.clock.nowMs() });
    if (!decision.ok) return decision;
    draft.tow = decision.tow;
    const audit = auditOfKept(request, decision.tow);
    addEvent(draft, { type: audit.action, ...timelineFields(command, decision.tow), by: actor.name }, nowMs);
    return { ok: true, audit };
  });
}

/** The timeline fields of a command. Crew names are included; the text of a note is only in the note. */
function timelineFields(command: DispatchCommand, tow: Tow): JsonObject {
  switch (command.kind) {
    case 'assign':
      return { crew: command.crew, truck: command.truck ?? null };
    case 'step':
      return { step: command.step, occurred_at: lastStepAt(tow) ?? null };
    case 'yard':
      return { yard: command.yard, slot: command.slot ?? null };
    case 'hold':
    case 'lift':
      return { hold_id: command.holdId, reason: command.reason };
    case 'note':
      return {};
  }
}

/** The audit entry of a command, without crew names and notes. */
function auditOfKept({ ref, command, actor }: DispatchRequest, tow: Tow): AuditEntry {
  const on = { towing_reference_id: ref };
  switch (command.kind) {
    case 'assign':
      return auditOf(actor, command.crew === null ? 'tow.unassigned' : 'tow.assigned', { on });
    case 'step': {
      const occurredAt = lastStepAt(tow);
      const what = { step: command.step, ...(occurredAt === undefined ? {} : { occurred_at: occurredAt }) };
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

function lastStepAt(tow: Tow): string | undefined {
  return tow.dispatch.steps.at(-1)?.occurredAt;
}
