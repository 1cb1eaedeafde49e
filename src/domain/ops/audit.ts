import type { FactCommand } from '../tow/fact-command';
import { FACTS, auditReasonOf } from '../tow/facts';
import type { NoticeChannel } from './notification-settings';
import type { ViolationImage } from '../violation/violation';
import { type EntryKind, FACT_EVENTS, type Role, WITHHELD_ACTIONS } from '../vocabulary';

/**
 * The audit log: one entry for each action of a person that had an effect. An entry has ids of things and names of changed
 * fields but no values, since it outlives the personal data of a tow. Only `why` is free text, written by the person.
 */
export const AUDIT_ACTIONS = [
  ...FACT_EVENTS.map((event) => FACTS[event].auditAction),
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
  ...Object.values(WITHHELD_ACTIONS),
  'violation.reported',
  'violation.known_added',
  'violation.retried',
  'violation.corrected',
  'violation.waived',
  'violation.accepted_by_hand',
  'task.resolved',
  'run.started',
  'run.aborted',
  'delivery.replayed',
  'operation.resumed',
  'sending.stopped',
  'sending.resumed',
  'difference.expected',
  'notifications.tested',
  'queue.paused',
  'queue.resumed',
  'key.created',
  'key.rotated',
  'key.revoked',
  'subscription.created',
  'subscription.rotated',
  'subscription.paused',
  'subscription.resumed',
  'subscription.replayed',
  'subscription.tested',
  'subscription.deleted',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who acts: the holder of an API key, or a person whom the identity provider has named. */
export interface Actor {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** Begins the id of a person whom the identity provider has named. No API key has an id like this. */
const PERSON_PREFIX = 'oidc:';

/** `subject`: the id of the person at the provider, which never changes and is never given again. */
export function personActor(person: { readonly subject: string; readonly name: string; readonly role: Role }): Actor {
  return { id: `${PERSON_PREFIX}${person.subject}`, name: person.name, role: person.role };
}

/** True for an actor who signed in through the provider. */
export function isPerson({ id }: Pick<Actor, 'id'>): boolean {
  return id.startsWith(PERSON_PREFIX);
}

/** The things that an action was about. */
export interface AuditSubject {
  readonly towing_reference_id?: string;
  readonly report_id?: string;
  readonly violation_id?: string;
  readonly hold_id?: string;
  readonly photo_id?: string;
  readonly queue?: string;
  readonly task_id?: string;
  readonly delivery_id?: string;
  readonly difference_id?: string;
  readonly key_id?: string;
  readonly subscription_id?: string;
  readonly operation?: EntryKind;
}

/** Details of an action. */
export interface AuditDetails {
  readonly occurred_at?: string;
  /** Names of corrected fields or changed settings. The timeline of a tow has old and new values. */
  readonly fields?: readonly string[];
  /** Images that a correction replaced, by their hashes. */
  readonly replaced_images?: readonly string[];
  /** Images of which a part is missing, and that were accepted so, by their hashes. */
  readonly damaged_images?: readonly string[];
  /** Reports that the same action waived. */
  readonly also_waived?: readonly string[];
  readonly task_type?: string;
  readonly step?: string;
  /** Photos that were added in one call. */
  readonly photo_ids?: readonly string[];
  /** The run. Each item that it carries out also has an entry. */
  readonly run_id?: string;
  readonly run_action?: string;
  /** The number of items that the run had still to carry out. */
  readonly item_count?: number;
  /** The number of violations that one call added. */
  readonly violation_count?: number;
  /** The role of a new key. */
  readonly granted_role?: Role;
  /** Where a test notice was sent. */
  readonly channel?: NoticeChannel;
  /** How long the earlier secret of a rotated key stays valid. */
  readonly grace_hours?: number;
}

export interface AuditEntry {
  readonly action: AuditAction;
  readonly by: string;
  /** The id of the key or of the person at the provider. Names can be used again, ids cannot. */
  readonly by_id: string;
  readonly role: Role;
  readonly on: AuditSubject;
  readonly why: string | null;
  readonly what: AuditDetails;
}

/** The entry of an action. The store adds its time. */
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

/** The entry of a fact. `withdrawn` has the ids of the reports that the fact withdrew. */
export function auditOfFact(
  actor: Actor,
  command: FactCommand,
  fact: { readonly ref: string; readonly occurredAt: string | null; readonly withdrawn: readonly string[] },
): AuditEntry {
  return auditOf(actor, FACTS[command.event].auditAction, {
    on: { towing_reference_id: fact.ref },
    why: auditReasonOf(command),
    what: { ...(fact.occurredAt === null ? {} : { occurred_at: fact.occurredAt }), ...alsoWaived(fact.withdrawn) },
  });
}

/** The images that were accepted although a part of them is missing; no detail without any. */
export function damagedAmong(images: readonly ViolationImage[]): AuditDetails {
  const damaged = images.filter(({ isDamaged }) => isDamaged === true);
  return damaged.length > 0 ? { damaged_images: damaged.map(({ sha256 }) => sha256) } : {};
}

/** The ids of the reports that are waived with what is audited; no detail without any. */
export function alsoWaived(ids: readonly string[]): AuditDetails {
  return ids.length > 0 ? { also_waived: ids } : {};
}
