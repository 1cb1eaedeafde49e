import type { FactCommand } from '../../src/domain/fact-command';
import type { JsonObject } from '../../src/domain/vocabulary';
import type { FaultRule } from '../../src/simulator/faults';
import { towInvoice, towRequest } from '../support/stores';
import type { Lane } from './lane';

/** Something a worker is woken for, in all the ways it can come out. */
export interface Scenario {
  readonly name: string;
  /** How it ends when nobody dies: reports, deliveries and open tasks. */
  readonly end: readonly string[];
  /** How long an unknown outcome waits for its proof, ms. */
  readonly graceMs?: number;
  /** What goes wrong at the service with the calls about this tow. */
  readonly faults?: readonly Omit<FaultRule, 'towing_reference_id'>[];
  /** Brings about the state that the worker finds. */
  readonly prepare: (stage: Stage) => Promise<void>;
  /** The first thing the worker is woken for. */
  readonly wakeUp: 'delivery' | 'tow';
  /** How many more calls than without a death the service may see of the report that was under way. */
  readonly repeats: 0 | 1;
  /** A death before the answer may leave it to a person whether the invoice exists. */
  readonly mayNeedPerson?: boolean;
  /** How many creates of an invoice the service may see at most, deaths or not. */
  readonly createsMax?: number;
}

export interface Stage {
  readonly lane: Lane;
  readonly ref: string;
  readonly violation: string;
}

/** The id of the delivery that the worker is woken for. */
export const DELIVERY = 'the-delivery';

/** The body of a tow's request. */
export function requestOf({ ref, violation }: Stage): JsonObject {
  return { ...towRequest(ref), violation_reference_id: violation };
}

/** The body of a tow's invoice. */
export function invoiceOf({ ref, violation }: Stage): JsonObject {
  return { ...towInvoice(ref), violation_reference_id: violation };
}

/** A tow that was requested and of which these facts were said, nothing of it reported. */
export async function known(stage: Stage, ...facts: FactCommand[]): Promise<void> {
  const { stores } = stage.lane;
  await stores.accept('tow_request', requestOf(stage), 'request');
  await stores.process('request');
  for (const fact of facts) await stores.say(stage.ref, fact);
}
