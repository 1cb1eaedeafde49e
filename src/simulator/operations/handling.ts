import type { Received } from '../received';
import { REFUSALS, type Refused } from '../refusals';
import type { JsonObject, Tow, Violation, World } from '../world';
import type { Access } from '../auth';
import type { Invoice } from '../pricing';

/** What the operations work with. */
export interface Handling {
  readonly world: World;
  readonly access: Access;
  /** Told of every created invoice; the invoice webhook follows from it. */
  readonly invoiceCreated: (tow: Tow, invoice: Invoice) => void;
  /** Told of every reported violation whose type can be towed; the tow request follows from it. */
  readonly towableReported: (violation: Violation) => void;
}

/** An authenticated call. */
export interface ServiceCall extends Pick<Received, 'fields' | 'images'> {
  /** A header's value by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** The operation's data (service-api 4), or why the service refuses. */
export type Handled = { readonly data: JsonObject } | Refused;

/** One operation of the service: checks the call, changes the world, answers; all at once. */
export type Handler = (call: ServiceCall, handling: Handling) => Handled;

/**
 * The tow that a call names. A violation that is not known, a tow that is not, and a tow of another violation are the
 * same to service-api 7.2: `Violation not found`.
 */
export function findTow(
  world: World,
  named: { towing_reference_id: string; violation_reference_id?: string },
): { tow: Tow } | Refused {
  const notFound = (field: string) => ({ refusal: REFUSALS.violationNotFound, field });
  const { violation_reference_id: violationReference } = named;
  if (violationReference !== undefined && !world.violation(violationReference)) {
    return notFound('violation_reference_id');
  }
  const tow = world.tow(named.towing_reference_id);
  if (!tow) return notFound('towing_reference_id');
  if (violationReference !== undefined && tow.violationReference !== violationReference) {
    return notFound('violation_reference_id');
  }
  return { tow };
}

/** The answer that names a tow (service-api 4.2, 4.4). */
export function towData(tow: Tow): JsonObject {
  return { towing_reference_id: tow.towingReference, metadata: tow.metadata };
}
