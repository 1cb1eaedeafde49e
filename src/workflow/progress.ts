import type { TowView } from '../contracts/operator';
import { advance } from '../domain/advance';
import { auditOfFact, type Actor } from '../domain/audit';
import type { FactCommand, TowRules } from '../domain/fact-command';
import { noteEvent } from '../domain/outbox-record';
import { waiveEntry } from '../domain/settle-entry';
import { entryNamed, oweReport, reportsOf } from '../domain/stored-tow';
import type { JsonObject } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { changeTow, type TowRequest } from './change-tow';
import type { Effect } from './effect';
import type { TowStore, Wake } from './ports';
import type { RecordStore } from './transaction-port';

export interface ProgressTools {
  readonly records: RecordStore;
  readonly wake: Wake;
  readonly clock: Clock;
  readonly rules: TowRules;
}

/** What pages and the API need of tows besides. */
export interface TowTools extends ProgressTools {
  readonly tows: TowStore;
}

export type { Actor } from '../domain/audit';

export interface FactRequest extends TowRequest {
  readonly command: FactCommand;
  readonly actor: Actor;
}

const WITHDRAWN = 'withdrawn by cancel';

/** Records what happened in the field and owes the service its report, in one commit; or refuses and changes nothing. */
export async function recordFact(tools: ProgressTools, request: FactRequest): Promise<Effect<TowView>> {
  const { ref, command, actor } = request;
  const effect = await changeTow(tools.records, request, (draft, { nowMs }) => {
    const decision = advance(draft.tow, command, {
      reports: reportsOf(draft),
      rules: tools.rules,
      by: actor.name,
      role: actor.role,
      nowMs: tools.clock.nowMs(),
    });
    if (!decision.ok) return decision;
    const { tow, owed, withdraw } = decision;
    const occurredAt = tow.facts.at(-1)?.occurredAt ?? null;
    draft.tow = tow;
    for (const id of withdraw) {
      waiveEntry(draft, entryNamed(draft, id), WITHDRAWN, nowMs);
      noteEvent(draft, { type: 'report.waived', report_id: id, reason: WITHDRAWN }, nowMs);
    }
    oweReport(draft, owed, nowMs);
    const fact = { type: 'fact.recorded', event: command.event, occurred_at: occurredAt, by: actor.name };
    noteEvent(draft, { ...fact, ...explanationOf(command) }, nowMs);
    return { ok: true, audit: auditOfFact(actor, command, { ref, occurredAt, withdrawn: withdraw }) };
  });
  if (effect.kind === 'done') tools.wake.tow(ref);
  return effect;
}

/** What a person gave for the record only, never sent to the service. */
function explanationOf(command: FactCommand): JsonObject {
  switch (command.event) {
    case 'canceled':
      return command.reason === undefined ? {} : { reason: command.reason };
    case 'invoice':
      return command.overrideReason === undefined ? {} : { override_reason: command.overrideReason };
    case 'payment':
      return command.externalReference === undefined ? {} : { external_reference: command.externalReference };
    case 'started':
    case 'detained':
    case 'released':
      return {};
  }
}
