import type { FactCommand } from '../../src/domain/tow/fact-command';
import type { JsonObject } from '../../src/domain/vocabulary';
import type { FaultRule } from '../../src/simulator/answer/faults';
import { towInvoice, towRequest } from '../support/stores';
import { drain } from './drain';
import type { TestBed, TestBedSettings } from './test-bed';
import { createSteps } from './steps';
import { openWorker } from './worker';

/** A piece of work for a worker and the ways in which it may end. */
export interface Scenario {
  readonly name: string;
  /** Tows without a report, reports, violations, deliveries, decisions and open tasks at the end of an uninterrupted run. */
  readonly end: readonly string[];
  readonly settings?: TestBedSettings;
  /** Faults of the service while the worker works. */
  readonly faults?: readonly FaultRule[];
  /** Creates the state that the worker finds: some work is due. */
  readonly prepare: (stage: Stage) => Promise<void>;
  /** How many calls the service may receive more than in an uninterrupted run, per entry whose attempt was interrupted. */
  readonly repeats: 0 | 1;
  /** Whether an interruption around a create may leave a person to decide if it had an effect; by default never. */
  readonly mayNeedPerson?: 'if_nothing_was_created' | 'always';
  /** How it may end instead when the answer was lost with the worker. */
  readonly endWithoutAnswer?: readonly string[];
  /** Whether work may wait for the end of a lease after Redis was away: the check for a ticket is not made again at once. */
  readonly mayWaitForLease?: boolean;
  /** The most creates of an invoice, or of a violation, that the service may receive, interrupted or not. */
  readonly createsMax?: number;
}

export interface Stage {
  readonly testBed: TestBed;
  readonly settings: TestBedSettings;
  /** A tow that the service knows, and its violation. */
  readonly ref: string;
  readonly violation: string;
}

/** The body of the tow request. */
export function requestOf({ ref, violation }: Pick<Stage, 'ref' | 'violation'>): JsonObject {
  return { ...towRequest(ref), violation_reference_id: violation };
}

/** The body of the invoice webhook. */
export function invoiceOf({ ref, violation }: Pick<Stage, 'ref' | 'violation'>): JsonObject {
  return { ...towInvoice(ref), violation_reference_id: violation };
}

/** Creates a requested tow with these facts, none of them reported. */
export async function known(stage: Stage, ...facts: FactCommand[]): Promise<void> {
  const { stores } = stage.testBed;
  await stores.accept('tow_request', requestOf(stage), `request of ${stage.ref}`);
  await stores.process(`request of ${stage.ref}`);
  for (const fact of facts) await stores.say(stage.ref, fact);
}

/** Lets a worker that is never interrupted do everything that is due. */
export async function workOff(stage: Pick<Stage, 'testBed' | 'settings'>): Promise<void> {
  const worker = await openWorker(stage.testBed.workerSetup(stage.settings), createSteps(null));
  await drain(stage, worker);
  await worker.close();
}
