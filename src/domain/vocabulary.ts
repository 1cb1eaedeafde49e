/**
 * The terms of the product, used by code, API, console and logs.
 *
 * - tow: one vehicle removal, identified by the service's `towing_reference_id`.
 * - service: the parking service that orders tows. operator: the company that runs towhook.
 * - delivery: one webhook call received from the service.
 * - fact: something that happened in the field or office, recorded by a person or by the operator's own software.
 * - report: one call owed to the service, an entry of a tow's outbox. attempt: one try to send it.
 * - violation: a parking violation the operator reports; the service may order a tow because of it.
 * - task: something a person must decide.
 *
 * Wire values are spelled exactly as the service spells them (docs/service-api.md#plate-types and #violation-types).
 */

/** The states of a tow. Only `TRANSITIONS` in tow.ts lead from one to another. */
export const TOW_STATES = ['requested', 'started', 'detained', 'released', 'canceled'] as const;
export type TowState = (typeof TOW_STATES)[number];

/** The facts of a tow. Each one owes the service exactly one report of the same name. */
export const FACT_EVENTS = ['started', 'detained', 'canceled', 'released', 'invoice', 'payment'] as const;
export type FactEvent = (typeof FACT_EVENTS)[number];

/** The kinds of report: a report has the name of its fact. */
export const REPORT_KINDS = FACT_EVENTS;
export type ReportKind = FactEvent;

/**
 * The states of a report.
 *
 * - pending: owed, not settled; sent when its turn and its time come.
 * - sending: a call that is not safe to repeat has been claimed and may be on the wire.
 * - unknown: such a call ended without an answer; proof, one more try, or a person settles it.
 * - refused: the service refused it; the outbox waits for a person.
 * - accepted, waived: settled; the next report may leave.
 */
export const REPORT_STATES = ['pending', 'sending', 'accepted', 'refused', 'unknown', 'waived'] as const;
export type ReportState = (typeof REPORT_STATES)[number];

/**
 * How a report or violation was accepted.
 *
 * - answered: by the answer of the service. late_answer: by one whose lease was lost.
 * - proved_by_webhook: an invoice, by an invoice webhook. proved_by_tow_request: a violation, by a tow request for it.
 * - by_hand: by a person.
 * - known: a violation that other software reported.
 */
export const ACCEPTED_HOW = [
  'answered',
  'late_answer',
  'proved_by_webhook',
  'proved_by_tow_request',
  'by_hand',
  'known',
] as const;
export type AcceptedHow = (typeof ACCEPTED_HOW)[number];

/**
 * The states of a violation.
 *
 * - pending: not sent yet.
 * - held: not sent, because the vehicle has an active ticket, the check for one was refused or had no answer for too long,
 *   or its images are missing; a person decides.
 * - sending: claimed; the call may be on the wire.
 * - unknown: the call ended without an answer; a tow request that echoes its id proves it, else a person decides.
 * - refused: the service refused it; a person decides.
 * - accepted: the service has it. waived: given up by a person.
 */
export const VIOLATION_STATES = ['pending', 'held', 'sending', 'unknown', 'refused', 'accepted', 'waived'] as const;
export type ViolationState = (typeof VIOLATION_STATES)[number];

/**
 * The two ways to report a violation (docs/service-api.md#create-violation and #guide-operations); which one is current
 * is not shown.
 */
export const VIOLATION_APIS = ['reference', 'guide'] as const;
export type ViolationApi = (typeof VIOLATION_APIS)[number];

/** The operations of the service that an operator calls (docs/service-api.md#operations). */
export const OPERATION_NAMES = ['token', ...FACT_EVENTS, 'violation', 'violation_guide', 'capacity', 'ticket'] as const;

/** Paths below the base address, or whole addresses, in place of the documented paths (`SERVICE_PATHS`). */
export type ServicePaths = Readonly<Partial<Record<(typeof OPERATION_NAMES)[number], string>>>;

/** The variables that decide which service a process calls, and as which client. */
export const ACCESS_VARIABLES = ['SERVICE_BASE_URL', 'SERVICE_PATHS', 'SERVICE_CLIENT_ID'] as const;
/** Digests of their values. */
export type AccessDigests = Readonly<Record<(typeof ACCESS_VARIABLES)[number], string>>;

/**
 * The kinds of outbox entries: the reports and the violation. The service may forbid each as a whole (403); it is then
 * paused and resumed.
 */
export const ENTRY_KINDS = [...FACT_EVENTS, 'violation'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The circuits that block all calls. */
export const GENERAL_CIRCUITS = ['connection', 'outage', 'shadow'] as const;
export type GeneralCircuit = (typeof GENERAL_CIRCUITS)[number];
/** The one that lets nothing out, and that nothing tries. */
export const STOPPED = 'shadow' satisfies GeneralCircuit;

/** The circuits, in the order in which people see them (service/circuits.ts). */
export type CircuitName = GeneralCircuit | `paused.${EntryKind}`;
export const CIRCUIT_NAMES: readonly CircuitName[] = [
  ...GENERAL_CIRCUITS,
  ...ENTRY_KINDS.map((kind) => `paused.${kind}` as const),
];

/** Why a refusal deserves a second look. */
export const HINTS = ['perhaps_already_accepted'] as const;
export type Hint = (typeof HINTS)[number];

/** `shadow`: everything is received, recorded and shown, and nothing is sent. */
export const SERVICE_MODES = ['live', 'shadow'] as const;
export type ServiceMode = (typeof SERVICE_MODES)[number];

/**
 * What became of a tow or violation of a shadow time.
 *
 * - held: it waits for the decision of a person; nothing is sent.
 * - declined: it is never sent.
 */
export const WITHHELD_STATES = ['held', 'declined'] as const;
export type WithheldState = (typeof WITHHELD_STATES)[number];

/** The decisions about it, as the audit and the timeline name them. */
export const WITHHELD_ACTIONS = { send: 'shadow.sent', decline: 'shadow.declined' } as const;

/** The two webhook calls of the service (docs/service-api.md#webhooks). */
export const DELIVERY_KINDS = ['tow_request', 'tow_invoice'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/**
 * The states of an acknowledged delivery.
 *
 * - waiting: processed next. parked: an invoice that waits for its tow.
 * - differs: breaks the contract; kept until it is judged again.
 * - processed: acted on, or closed without effect.
 */
export const DELIVERY_STATES = ['waiting', 'parked', 'differs', 'processed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The kinds of work of a worker. Each has a schedule of what is due, and a queue. */
export const QUEUE_NAMES = ['deliveries', 'reports', 'violations', 'runs', 'subscriptions'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/**
 * Where everything stands that was acknowledged (deliveries, violations) or recorded (facts, by their reports); always
 * exactly one.
 *
 * - finished: processed, accepted or waived; of a violation also its tows matched and its files gone from the spool.
 * - waiting: is on the schedule, or is in an outbox behind a report that is.
 * - parked: an invoice that waits for its tow.
 * - with_a_person: waits for a decision; its task is open, or it is listed among the deliveries that differ.
 * - lost: none of these. There must be none.
 */
export const STANDINGS = ['finished', 'waiting', 'parked', 'with_a_person', 'lost'] as const;

/** The roles, weakest first. Each has the rights of the ones before it. */
export const ROLES = ['viewer', 'crew', 'dispatcher', 'ops'] as const;
export type Role = (typeof ROLES)[number];

/** True if `role` has at least the rights of `needed`. */
export function roleAllows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** docs/service-api.md#plate-types, spelling and case as listed there. */
export const PLATE_TYPES = [
  'PRIVATE',
  'PUBLIC_TRANSPORTATION',
  'PRIVATE_TRANSPORTATION',
  'PUBLIC_MINIBUS',
  'PRIVATE_MINIBUS',
  'TAXI',
  'Heavy_Equipment',
  'EXPORT',
  'DIPLOMATIC',
  'MOTORCYCLE',
] as const;
export type PlateType = (typeof PLATE_TYPES)[number];

/** docs/service-api.md#violation-types. */
export const VIOLATION_TYPES = [
  'NO_TICKET',
  'TICKET_ENDED',
  'USER_EXCEED_PARKING_TIME',
  'WRONG_PARKING',
  'RESERVED_PARKING',
  'OBS_CLS_PARKING',
  'EMRG_PARKING',
  'ENT_EXT_PARKING',
  'PROH_PARKING',
] as const;
export type ViolationType = (typeof VIOLATION_TYPES)[number];

declare const towing: unique symbol;
declare const violation: unique symbol;
declare const unknownValue: unique symbol;

/** The service's name of a tow (docs/service-api.md#tow-record). Its format is documented but not relied on. */
export type TowingReference = string & { readonly [towing]: true };
/** The service's name of a violation (docs/service-api.md#violation-record). */
export type ViolationReference = string & { readonly [violation]: true };

/** The longest reference that is accepted, in characters. */
export const REFERENCE_LENGTH_MAX = 200;

/**
 * The rule that a reference on its way in breaks; null when it may be taken in. References become keys, addresses, lines
 * of text and file names: a long one costs many times its length, and `..` cannot be opened by its address. Earlier
 * versions took in any non-empty text, so stored records are not held to this.
 */
export function brokenReferenceRule(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return 'must be a non-empty string';
  if (value.length > REFERENCE_LENGTH_MAX) return `must be at most ${REFERENCE_LENGTH_MAX} characters`;
  if (/\p{Cc}/u.test(value)) return 'must not contain control characters';
  if (!value.isWellFormed()) return 'must be well-formed Unicode text';
  return value === '.' || value === '..' ? 'must not be "." or ".."' : null;
}

export function isTowingReference(text: string): text is TowingReference {
  return text.length > 0;
}

export function isViolationReference(text: string): text is ViolationReference {
  return text.length > 0;
}

/** Plain JSON data that passes through unread, such as the operator's metadata. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };
/** Fields that another version of towhook stored. */
export type UnknownFields = Readonly<Record<string, unknown>>;
/**
 * A text that another version of towhook stored and this one does not know. It is shown, and stored again as it is. It is
 * not typed as `string`, because the compiler would then let a stored value be compared with any text.
 */
export interface UnknownValue {
  readonly [unknownValue]: true;
  toString(): string;
}
/** A stored value: a known one, or one of another version. */
export type OrUnknown<Known extends string> = Known | UnknownValue;

/** The text of a stored value, to show or store it. */
export function textOfValue(value: OrUnknown<string> | null): string | null {
  return value === null ? null : value.toString();
}

/** What the client id and secret of the service must be to travel in a header. */
const SENDABLE_CREDENTIAL = /^[\x21-\x7e]+$/;

export const CREDENTIAL_RULE = 'must be printable ASCII characters alone: no spaces, no line ends';

/** False for a client id or secret that no request can carry. */
export function isSendableCredential(text: string): boolean {
  return SENDABLE_CREDENTIAL.test(text);
}

/** What a key must be to travel in a header and to be found there again: `Authorization: Bearer <key>`. */
const SENDABLE = /^[\x21-\x7e\xa1-\xff]+$/;

export const API_KEY_RULE = 'must be visible Latin characters alone: no spaces, line ends or control characters';

/** False for a key that no request can carry. */
export function isSendableKey(key: string): boolean {
  return SENDABLE.test(key);
}
