import type { FactCommand } from '../../src/domain/fact-command';
import type { JsonObject } from '../../src/domain/vocabulary';
import type { FaultRule } from '../../src/simulator/faults';
import { towInvoice, towRequest } from '../support/stores';
import type { Lane } from './lane';

/** A piece of work for a worker and the ways in which it may end. */
export interface Scenario {
  readonly name: string;
  /** Reports, deliveries and open tasks at the end of an uninterrupted run. */
  readonly end: readonly string[];
  /** How long an unknown outcome waits for proof, ms. */
  readonly graceMs?: number;
  /** Faults of the service in calls about this tow. */
  readonly faults?: readonly Omit<FaultRule, 'towing_reference_id'>[];
  /** Creates the state that the worker finds. */
  readonly prepare: (stage: Stage) => Promise<void>;
  /** The job that starts the worker. */
  readonly wakeUp: 'delivery' | 'tow';
  /** How many extra calls of the interrupted report the service may receive. */
  readonly repeats: 0 | 1;
  /** An interruption before the answer may leave a person to decide whether the invoice exists. */
  readonly mayNeedPerson?: boolean;
  /** The most creates of an invoice that the service may receive, interrupted or not. */
  readonly createsMax?: number;
}

export interface Stage {
  readonly lane: Lane;
  readonly ref: string;
  readonly violation: string;
}

/** The id of the delivery that the worker processes. */
export const DELIVERY = 'the-delivery';

/** The body of the tow request. */
export function requestOf({ ref, violation }: Stage): JsonObject {
  return { ...towRequest(ref), violation_reference_id: violation };
}

/** The body of the invoice webhook. */
export function invoiceOf({ ref, violation }: Stage): JsonObject {
  return { ...towInvoice(ref), violation_reference_id: violation };
}

/** Creates a requested tow with these facts, none of them reported. */
export async function known(stage: Stage, ...facts: FactCommand[]): Promise<void> {
  const { stores } = stage.lane;
  await stores.accept('tow_request', requestOf(stage), 'request');
  await stores.process('request');
  for (const fact of facts) await stores.say(stage.ref, fact);
}
