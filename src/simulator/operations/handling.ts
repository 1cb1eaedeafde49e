import type { ReceivedRequest } from '../received';
import { REFUSALS, type RefusedCall } from '../answer/faults';
import type { ActiveProfile } from '../profile';
import type { WireObject, SimulatedTow, SimulatedViolation, SimulatedWorld } from '../world';
import type { Access } from '../auth';
import type { Invoice } from '../pricing';

/** The tools of the operations. */
export interface Handling {
  readonly world: SimulatedWorld;
  readonly access: Access;
  readonly profile: ActiveProfile;
  /** Called for every created invoice; its webhook follows. */
  readonly invoiceCreated: (tow: SimulatedTow, invoice: Invoice) => void;
  /** Called for every reported violation whose type can be towed; its tow request follows. */
  readonly towableReported: (violation: SimulatedViolation) => void;
}

/** An authenticated call. */
export interface OperationCall extends Pick<ReceivedRequest, 'fields' | 'images'> {
  /** A header's value by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** The data of the operation (docs/service-api.md#operations), or its refusal. */
export type Handled = { readonly data: WireObject } | RefusedCall;

/** One operation of the service: checks the call, changes the world and answers in one step. */
export type OperationHandler = (call: OperationCall, handling: Handling) => Handled;

/**
 * The tow of a call. An unknown violation, an unknown tow and a tow of another violation give the same error of
 * docs/service-api.md#tow-errors: `Violation not found`.
 */
export function findTow(
  world: SimulatedWorld,
  named: { towing_reference_id: string; violation_reference_id?: string },
): { tow: SimulatedTow } | RefusedCall {
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

/** The answer that names a tow (docs/service-api.md#tow-status-updates and #update-payment-status). */
export function towData(tow: SimulatedTow): WireObject {
  return { towing_reference_id: tow.towingReference, metadata: tow.metadata };
}
