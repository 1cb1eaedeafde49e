import type { TowView } from '../../contracts/operator';
import { auditOfFact, type Actor } from '../../domain/ops/audit';
import type { Advance, FactCommand, TowRules } from '../../domain/tow/fact-command';
import { advance, explanationOf } from '../../domain/tow/facts';
import { addEvent } from '../../domain/outbox/outbox-record';
import type { FieldRule } from '../../domain/refusal';
import { waiveIfDeclined } from '../../domain/outbox/withheld';
import { waiveEntry } from '../../domain/outbox/settle-entry';
import { editEntryNamed, appendReport, reportsOf, type KnownTow } from '../../domain/tow/stored-tow';
import { markFactRecorded } from '../../domain/tow/timeline';
import type { Clock } from '../../platform/clock';
import { changeTow, fieldFaults, type TowRequest } from '../outbox/change-record';
import type { ActionResult } from '../action-result';
import { holdUnlessLive } from '../outbox/service-mode';
import type { RecordStore } from '../transaction-port';

export interface FactTools {
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly rules: TowRules;
}

interface FactRequest extends TowRequest {
  readonly command: FactCommand;
  readonly actor: Actor;
}

const WITHDRAWN = 'withdrawn by cancel';

/** Records what happened in the field and owes the service its report, in one commit; or refuses and changes nothing. */
export function recordFact(tools: FactTools, request: FactRequest): Promise<ActionResult<TowView>> {
  const { ref, command, actor } = request;
  return changeTow(tools.records, request, async (draft, transaction) => {
    const { nowMs } = transaction;
    const decision = decideFact(tools, request, draft);
    if (!decision.ok) return decision;
    const { tow, owed, withdraw } = decision;
    const occurredAt = tow.facts.at(-1)?.occurredAt ?? null;
    draft.tow = tow;
    markFactRecorded(draft, explanationOf(command), nowMs);
    for (const id of withdraw) {
      waiveEntry(draft, editEntryNamed(draft, id), WITHDRAWN, nowMs);
      addEvent(draft, { type: 'report.waived', report_id: id, reason: WITHDRAWN }, nowMs);
    }
    appendReport(draft, owed, nowMs);
    await holdUnlessLive(transaction, draft);
    waiveIfDeclined(draft, nowMs);
    return { ok: true, audit: auditOfFact(actor, command, { ref, occurredAt, withdrawn: withdraw }) };
  });
}

/** The fields of a fact that break a rule of its tow; see `fieldFaults`. */
export function factFaults(tools: FactTools, request: FactRequest): Promise<readonly FieldRule[]> {
  return fieldFaults(tools.records, request.ref, (tow) => decideFact(tools, request, tow));
}

function decideFact({ rules, clock }: FactTools, { command, actor }: FactRequest, draft: KnownTow): Advance {
  const { name: by, role } = actor;
  return advance(draft.tow, command, { reports: reportsOf(draft), rules, by, role, clockMs: clock.nowMs() });
}
