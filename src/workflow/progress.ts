import { advance } from '../domain/advance';
import { auditOfFact, type Actor } from '../domain/audit';
import type { FactCommand, TowRules } from '../domain/fact-command';
import { searchTerms } from '../domain/search';
import { unknown, type Refusal } from '../domain/refusal';
import type { JsonObject } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { Remember, TowStore, Wake } from './ports';
import { untilFresh } from './retry-stale';
import { noChange } from './tow-change';

export interface ProgressTools {
  readonly tows: TowStore;
  readonly wake: Wake;
  readonly clock: Clock;
  readonly rules: TowRules;
}

export type { Actor } from '../domain/audit';

/** What became of something a person asked for. */
export type Effect =
  | { readonly kind: 'done' }
  | { readonly kind: 'remembered'; readonly fingerprint: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface FactRequest {
  readonly ref: string;
  readonly command: FactCommand;
  readonly actor: Actor;
  readonly remember?: Remember | undefined;
}

/** Records what happened in the field and owes the service its report, in one write; or refuses and changes nothing. */
export async function recordFact(tools: ProgressTools, request: FactRequest): Promise<Effect> {
  const { ref, command, actor } = request;
  const effect = await untilFresh<Effect>(async () => {
    const record = await tools.tows.read(ref);
    if (!record) return { kind: 'refused', refusal: noSuchTow };
    const decision = advance(record.tow, command, {
      reports: record.reports,
      rules: tools.rules,
      by: actor.name,
      role: actor.role,
      nowMs: tools.clock.nowMs(),
    });
    if (!decision.ok) return { kind: 'refused', refusal: decision.refusal };
    const occurredAt = decision.tow.facts.at(-1)?.occurredAt ?? null;
    const saved = await tools.tows.save(
      record,
      {
        ...noChange(decision.tow),
        reports: [decision.owed],
        withdraw: { ids: decision.withdraw, reason: 'withdrawn by cancel' },
        timeline: [
          {
            type: 'fact.recorded',
            event: command.event,
            occurred_at: occurredAt,
            by: actor.name,
            ...explanationOf(command),
          },
        ],
        searchTerms: searchTerms(decision.tow),
        audit: auditOfFact(actor, command, { ref, occurredAt, withdrawn: decision.withdraw }),
      },
      request.remember,
    );
    return effectOf(saved);
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

/** What a write came to, for the person who asked. */
export function effectOf(saved: { kind: 'saved' | 'stale' | 'unknown' } | { kind: 'remembered'; fingerprint: string }) {
  switch (saved.kind) {
    case 'saved':
      return { kind: 'done' } as const;
    case 'remembered':
      return saved;
    case 'unknown':
      return { kind: 'refused', refusal: noSuchTow } as const;
    case 'stale':
      return 'stale';
  }
}

export const noSuchTow = unknown('tow_not_found', 'There is no such tow.').refusal;
