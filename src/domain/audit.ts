import type { FactCommand } from './fact-command';
import type { FactEvent, PausableOperation, Role } from './vocabulary';

/**
 * What people did: who, what, when and why, one entry for each act that had an effect. An entry names things by their
 * ids and changed fields by their names, never by their values: the audit outlives the personal data of a tow. `why` is
 * what the person wrote and nothing else is free text.
 */
export const AUDIT_ACTIONS = [
  'tow.started',
  'tow.detained',
  'tow.canceled',
  'tow.released',
  'tow.invoice_requested',
  'tow.payment_recorded',
  'tow.violation_linked',
  'tow.assigned',
  'tow.unassigned',
  'tow.step_recorded',
  'tow.yard_set',
  'tow.hold_placed',
  'tow.hold_lifted',
  'tow.note_added',
  'tow.photo_added',
  'report.retried',
  'report.corrected',
  'report.waived',
  'report.accepted_by_hand',
  'violation.reported',
  'violation.retried',
  'violation.corrected',
  'violation.waived',
  'violation.accepted_by_hand',
  'task.resolved',
  'bulk.started',
  'bulk.resumed',
  'bulk.aborted',
  'delivery.replayed',
  'operation.resumed',
  'queue.paused',
  'queue.resumed',
  'key.created',
  'key.rotated',
  'key.revoked',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who does something: an API key by its id, its name and its role. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** What an act was done to, as narrow as it is known. */
export interface AuditSubject {
  readonly towing_reference_id?: string;
  readonly report_id?: string;
  readonly violation_id?: string;
  readonly hold_id?: string;
  readonly photo_id?: string;
  readonly queue?: string;
  readonly task_id?: string;
  readonly delivery_id?: string;
  readonly key_id?: string;
  readonly operation?: PausableOperation;
}

/** Small facts about an act that its subject alone does not tell. */
export interface AuditDetails {
  readonly occurred_at?: string;
  /** Names of corrected fields; the timeline of the tow keeps old and new values. */
  readonly fields?: readonly string[];
  /** Reports that were waived by the same act. */
  readonly also_waived?: readonly string[];
  readonly task_type?: string;
  readonly step?: string;
  /** Photos that were added together. */
  readonly photo_ids?: readonly string[];
  /** A decision on many tasks at once; each of its tasks has an entry of its own. */
  readonly bulk_id?: string;
  readonly bulk_action?: string;
  /** How many tasks it was about to decide, or left undecided. */
  readonly task_count?: number;
  /** The role of the key that was made. */
  readonly granted_role?: Role;
  /** How long the text of a key before its rotation stays valid. */
  readonly grace_hours?: number;
}

export interface AuditEntry {
  readonly action: AuditAction;
  readonly by: string;
  /** The id of the key: names may be used again, ids never are. */
  readonly by_id: string;
  readonly role: Role;
  readonly on: AuditSubject;
  readonly why: string | null;
  readonly what: AuditDetails;
}

/** The entry of an act that is about to be done; the moment is added by whoever writes it. */
export function auditOf(
  actor: Actor,
  action: AuditAction,
  act: { readonly on: AuditSubject; readonly why?: string | null | undefined; readonly what?: AuditDetails },
): AuditEntry {
  return {
    action,
    by: actor.name,
    by_id: actor.id,
    role: actor.role,
    on: act.on,
    why: act.why ?? null,
    what: act.what ?? {},
  };
}

const FACT_ACTIONS = {
  started: 'tow.started',
  detained: 'tow.detained',
  canceled: 'tow.canceled',
  released: 'tow.released',
  invoice: 'tow.invoice_requested',
  payment: 'tow.payment_recorded',
} as const satisfies Record<FactEvent, AuditAction>;

/** The entry of a fact: `occurredAt` as it was recorded, `withdrawn` the ids of reports it took back. */
export function auditOfFact(
  actor: Actor,
  command: FactCommand,
  fact: { readonly ref: string; readonly occurredAt: string | null; readonly withdrawn: readonly string[] },
): AuditEntry {
  return auditOf(actor, FACT_ACTIONS[command.event], {
    on: { towing_reference_id: fact.ref },
    why: whyOf(command),
    what: { ...(fact.occurredAt === null ? {} : { occurred_at: fact.occurredAt }), ...alsoWaived(fact.withdrawn) },
  });
}

/** The field for reports waived along with something else; none when there are none. */
export function alsoWaived(ids: readonly string[]): AuditDetails {
  return ids.length > 0 ? { also_waived: ids } : {};
}

/** A reason for the record comes before the one that is told to the service. */
function whyOf(command: FactCommand): string | undefined {
  switch (command.event) {
    case 'canceled':
      return command.reason ?? command.cancellationReason;
    case 'invoice':
      return command.overrideReason;
    case 'started':
    case 'detained':
    case 'released':
    case 'payment':
      return undefined;
  }
}
