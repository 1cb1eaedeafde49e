import { z } from 'zod';
import { simulatorCalls, simulatorOrders, type SimulatorCall } from '../../src/contracts/service/simulator';
import { REPORT_KINDS } from '../../src/domain/vocabulary';
import type { FaultRule, OperationFault } from '../../src/simulator/answer/faults';
import type { Town } from '../support/town';

type Simulated = Pick<Town, 'simulator'>;

/** Sends one request to the control API of the simulator and returns the parsed answer. */
async function control({ simulator }: Simulated, path: string, change?: { method: string; body: unknown }) {
  const headers = { 'content-type': 'application/json' };
  const init = change ? { method: change.method, headers, body: JSON.stringify(change.body) } : {};
  const response = await fetch(`${simulator.url}/simulator/${path}`, init);
  if (!response.ok) throw new Error(`the simulator answered ${response.status} to ${path}`);
  const answer: unknown = await response.json();
  return answer;
}

/** All calls the service received, in order of arrival. */
export async function callsAt(town: Simulated): Promise<SimulatorCall[]> {
  return simulatorCalls.parse(await control(town, 'calls')).items;
}

/** The calls of one operation that the service received, in order of arrival. */
export async function callsOf(town: Simulated, operation: string): Promise<SimulatorCall[]> {
  return (await callsAt(town)).filter((call) => call.operation === operation);
}

/** Replaces the faults in force. */
export async function setFaults(town: Simulated, faults: readonly FaultRule[]): Promise<void> {
  await control(town, 'faults', { method: 'PUT', body: faults });
}

/** The same fault for the calls of every report kind, and for nothing else. */
export function reportFaults(fault: { fault: OperationFault; ms: number }) {
  return REPORT_KINDS.map((operation) => ({ operation, ...fault }));
}

/** Has the service request tows, `body` as in `POST /simulator/tow-requests`; returns their references. */
export async function requestTows(town: Simulated, body: object = {}): Promise<string[]> {
  const { items } = simulatorOrders.parse(await control(town, 'tow-requests', { method: 'POST', body }));
  return items.map(({ towing_reference_id: ref }) => ref);
}

/** Has the service request one tow; returns its reference. */
export async function requestTow(town: Simulated, body: object = {}): Promise<string> {
  const [ref] = await requestTows(town, body);
  if (ref === undefined) throw new Error('the simulator requested no tow');
  return ref;
}

const violations = z.object({ items: z.array(z.object({ violation_reference_id: z.string() })) });

/** The reference of the violation that the service accepted last, whether its answer arrived or not. */
export async function acceptedReference(town: Simulated): Promise<string> {
  const last = violations.parse(await control(town, 'violations')).items.at(-1);
  if (last === undefined) throw new Error('the service has no violation');
  return last.violation_reference_id;
}
