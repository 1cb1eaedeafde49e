import { auditOf, type Actor } from '../domain/audit';
import { conflict, invalid } from '../domain/refusal';
import { joinChange } from './join';
import type { Remember, TowStore } from './ports';
import { noSuchTow } from './change-tow';
import { effectOf, type Effect } from './effect';
import { untilFresh } from './retry-stale';
import type { ViolationStore } from './violation-port';

export interface LinkTools {
  readonly tows: TowStore;
  readonly violations: Pick<ViolationStore, 'read' | 'linked'>;
}

export interface LinkRequest {
  readonly ref: string;
  /** Our id of the violation, or the id in its metadata. */
  readonly violationId: string;
  readonly actor: Actor;
  readonly remember?: Remember | undefined;
}

/** A person says which violation a tow comes from; also where another one was found for it before. */
export async function linkViolation({ tows, violations }: LinkTools, request: LinkRequest): Promise<Effect> {
  return untilFresh<Effect>(async () => {
    const record = await tows.read(request.ref);
    if (!record) return { kind: 'refused', refusal: noSuchTow };
    const found = await violations.read(request.violationId);
    if (!found) {
      const rule = 'must be the id of one of our violations';
      return { kind: 'refused', refusal: invalid([{ field: 'violation_id', rule }]).refusal };
    }
    const { tow } = record;
    const { id } = found.violation;
    if (tow.violationId === id) {
      return { kind: 'refused', refusal: conflict('already_linked', 'The tow is linked to this violation.').refusal };
    }
    // The link from the violation to the tow comes first: it can be made again, while the save is remembered.
    const joining = { towingReference: tow.towingReferenceId, reference: tow.violationReferenceId };
    if ((await violations.linked(id, joining, tow.violationId)) === 'gone') return 'stale';
    const on = { towing_reference_id: request.ref, violation_id: id };
    const audit = auditOf(request.actor, 'tow.violation_linked', { on });
    const timeline = [{ type: 'violation.linked', violation_id: id, by: request.actor.name }];
    const change = { ...joinChange(record, found.violation), timeline, audit };
    return effectOf(await tows.save(record, change, request.remember)) ?? 'stale';
  });
}
