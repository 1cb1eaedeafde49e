import type { TowView } from '../../contracts/operator';
import { auditOf, type Actor, type AuditEntry } from '../../domain/ops/audit';
import { applyDispatch, type DispatchCommand } from '../../domain/tow/dispatch-rules';
import { addEvent } from '../../domain/outbox/outbox-record';
import type { FieldRule } from '../../domain/refusal';
import type { KnownTow } from '../../domain/tow/stored-tow';
import type { Tow } from '../../domain/tow/tow';
import type { JsonObject } from '../../domain/vocabulary';
import type { Clock } from '../../platform/clock';
import { changeTow, fieldFaults, type TowRequest } from '../outbox/change-record';
import type { ActionResult } from '../action-result';
import type { RecordStore } from '../transaction-port';

interface DispatchTools {
  readonly records: RecordStore;
  readonly clock: Clock;
}

interface DispatchRequest extends TowRequest {
  readonly command: DispatchCommand;
  readonly actor: Actor;
}

/** Updates the dispatch data of a tow, or refuses and changes nothing. Dispatch data is never sent to the service. */
export function updateDispatch(tools: DispatchTools, request: DispatchRequest): Promise<ActionResult<TowView>> {
  const { command, actor } = request;
  return changeTow(tools.records, request, (draft, { nowMs }) => {
    const decision = decideDispatch(tools, request, draft);
    if (!decision.ok) return decision;
    draft.tow = decision.tow;
    const audit = auditOfKept(request, decision.tow);
    addEvent(draft, { type: audit.action, ...timelineFields(command, decision.tow), by: actor.name }, nowMs);
    return { ok: true, audit };
  });
}

/** The fields of a change that break a rule of its tow; see `fieldFaults`. */
export function dispatchFaults(tools: DispatchTools, request: DispatchRequest): Promise<readonly FieldRule[]> {
  return fieldFaults(tools.records, request.ref, (tow) => decideDispatch(tools, request, tow));
}

function decideDispatch({ clock }: DispatchTools, { command, actor }: DispatchRequest, { tow }: KnownTow) {
  return applyDispatch(tow, command, { by: actor.name, clockMs: clock.nowMs() });
}

/** The timeline fields of a command. Crew names are included; the text of a note is only in the note. */
function timelineFields(command: DispatchCommand, tow: Tow): JsonObject {
  switch (command.kind) {
    case 'assign':
      return { crew: command.crew, truck: command.truck ?? null };
    case 'step':
      return lastStepOf(tow);
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
    case 'step':
      return auditOf(actor, 'tow.step_recorded', { on, what: lastStepOf(tow) });
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

/** The step that was just recorded. */
function lastStepOf({ dispatch }: Tow): JsonObject {
  const { step = null, occurredAt = null } = dispatch.steps.at(-1) ?? {};
  return { step, occurred_at: occurredAt };
}
