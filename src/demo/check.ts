import { isDeepStrictEqual } from 'node:util';
import { simulatorCalls, simulatorWebhooks, type SimulatorCall } from '../contracts/service/simulator';
import type { DeliveryPage, OperatorClient } from './client';
import type { DemoTow } from './plan';

/** The result of the demo, counted from the simulator's own record. */
export interface DemoFindings {
  readonly webhooksAcknowledged: number;
  readonly webhooksSent: number;
  /** Acknowledged webhooks that were not processed, and reports that did not arrive. */
  readonly lost: number;
  readonly outOfOrder: number;
  readonly wrongBodies: number;
  /** Reports that the service accepted twice, because an answer was lost. */
  readonly repeated: number;
  /** Invoice creates beyond the first of a tow. */
  readonly secondInvoices: number;
  readonly reportsOwed: number;
  readonly reportsArrived: number;
  readonly callsMade: number;
  readonly faultsInjected: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

/** Compares what the crew recorded with what arrived at the service. */
export async function check(
  simulatorUrl: string,
  client: Pick<OperatorClient, 'deliveries'>,
  playedTows: readonly DemoTow[],
): Promise<DemoFindings> {
  const calls = simulatorCalls.parse(await (await fetch(`${simulatorUrl}/simulator/calls`)).json()).items;
  const webhooks = simulatorWebhooks.parse(await (await fetch(`${simulatorUrl}/simulator/webhooks`)).json()).items;
  const acknowledged = new Set(webhooks.filter(({ status }) => status === 200).map(({ webhook_id: id }) => id));
  const problems: string[] = [];
  const compared = playedTows.map((played) => compare(played, callsOf(played.ref, calls), problems));
  const unfinished = await unfinishedDeliveries(client, acknowledged);
  if (unfinished > 0) problems.push(`${unfinished} acknowledged webhooks have no end`);
  const faultsInjected = new Map<string, number>();
  for (const { fault } of [...calls, ...webhooks]) {
    if (fault) faultsInjected.set(fault, (faultsInjected.get(fault) ?? 0) + 1);
  }
  const sum = (pick: (one: Comparison) => number) => compared.reduce((total, one) => total + pick(one), 0);
  return {
    webhooksAcknowledged: acknowledged.size,
    webhooksSent: playedTows.length + effectsOf(calls, 'invoice'),
    lost: unfinished + sum(({ missing }) => missing),
    outOfOrder: sum(({ outOfOrder }) => outOfOrder),
    wrongBodies: sum(({ wrongBodies }) => wrongBodies),
    repeated: sum(({ repeated }) => repeated),
    secondInvoices: sum(({ secondInvoices }) => secondInvoices),
    reportsOwed: playedTows.reduce((total, { expected }) => total + expected.length, 0),
    reportsArrived: sum(({ arrived }) => arrived),
    callsMade: calls.length,
    faultsInjected,
    problems,
  };
}

interface Comparison {
  readonly arrived: number;
  readonly missing: number;
  readonly outOfOrder: number;
  readonly wrongBodies: number;
  readonly repeated: number;
  readonly secondInvoices: number;
}

/** Compares one tow with its calls in order of arrival, and adds what is wrong to `problems`. */
export function compare(
  played: Pick<DemoTow, 'ref' | 'expected'>,
  calls: readonly SimulatorCall[],
  problems: string[],
): Comparison {
  const expectedKinds = played.expected.map(({ kind }) => kind);
  const effectsOfCalls = calls.filter(({ effect }) => effect);
  const effects = effectsOfCalls.map(({ operation }) => operation);
  // A call without an answer is repeated: the same report twice in a row is at-least-once delivery, not disorder. The
  // call of a caller that gave up may be read later than the calls after it.
  const answered = new Set(effectsOfCalls.filter(({ hung_up }) => !hung_up).map(({ operation }) => operation));
  const inOrder = effectsOfCalls
    .filter(({ hung_up, operation }) => !hung_up || !answered.has(operation))
    .map(({ operation }) => operation);
  const arrived = inOrder.filter((kind, index) => kind !== inOrder[index - 1]);
  const wrong = calls.filter(({ operation, body }) => {
    const expected = played.expected.find(({ kind }) => kind === operation);
    return !expected || !isDeepStrictEqual(body, expected.body);
  });
  const missing = expectedKinds.filter((kind) => !arrived.includes(kind)).length;
  const isInOrder = isDeepStrictEqual(
    arrived,
    expectedKinds.filter((kind) => arrived.includes(kind)),
  );
  const creates = effects.filter((kind) => kind === 'invoice').length;
  if (missing > 0) problems.push(`${played.ref}: ${missing} reports never arrived`);
  if (!isInOrder) problems.push(`${played.ref}: arrived as ${arrived.join(', ')}`);
  if (wrong.length > 0)
    problems.push(`${played.ref}: wrong body in ${wrong.map(({ operation }) => operation).join(', ')}`);
  return {
    arrived: expectedKinds.length - missing,
    missing,
    outOfOrder: isInOrder ? 0 : 1,
    wrongBodies: wrong.length,
    repeated: effects.length - arrived.length,
    secondInvoices: Math.max(0, creates - 1),
  };
}

function callsOf(ref: string, calls: readonly SimulatorCall[]): SimulatorCall[] {
  return calls.filter(({ body }) => body?.['towing_reference_id'] === ref);
}

function effectsOf(calls: readonly SimulatorCall[], kind: string): number {
  return calls.filter(({ operation, effect }) => effect && operation === kind).length;
}

/** The acknowledged webhooks that were not processed. */
async function unfinishedDeliveries(
  client: Pick<OperatorClient, 'deliveries'>,
  acknowledged: ReadonlySet<string>,
): Promise<number> {
  const open = new Set(acknowledged);
  let cursor: string | null = null;
  do {
    const page: DeliveryPage = await client.deliveries(cursor);
    for (const { state, signature_id: id } of page.items) {
      if (state === 'processed' && id !== null) open.delete(id);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return open.size;
}
