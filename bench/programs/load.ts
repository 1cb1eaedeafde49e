import { z } from 'zod';
import { pause } from '../../src/platform/timers';
import { machineMs } from '../measure/resources';
import { quantile } from '../measure/statistics';
import { openConnection, requestTemplate, sendUntilTaken, type BenchConnection } from './connection';
import { serveCommands } from './protocol';
import { FACTS, towNames, towRequest } from './tow';

/** The load generator: posts webhooks and facts over keep-alive connections, in a process of its own. */

const tows = { prefix: z.string(), connections: z.int().min(1) };
const command = z.discriminatedUnion('do', [
  z.object({ do: z.literal('webhooks'), url: z.string(), ...tows, durationMs: z.number() }),
  z.object({ do: z.literal('deliver'), url: z.string(), ...tows, from: z.int(), count: z.int() }),
  z.object({ do: z.literal('known'), url: z.string(), apiKey: z.string(), ...tows, from: z.int(), count: z.int() }),
  z.object({
    do: z.literal('facts'),
    url: z.string(),
    apiKey: z.string(),
    ...tows,
    from: z.int(),
    count: z.int(),
    factsPerTow: z.int().min(1).max(FACTS.length),
  }),
]);
type Command<D extends z.output<typeof command>['do']> = Extract<z.output<typeof command>, { do: D }>;

const KNOWN_WITHIN_MS = 600_000;
const LOOK_AGAIN_MS = 20;

/** Answers 503 since the last report. */
let unavailable = 0;

async function handle(received: unknown): Promise<unknown> {
  const wanted = command.parse(received);
  switch (wanted.do) {
    case 'webhooks':
      return postForTime(wanted);
    case 'deliver':
      return deliver(wanted);
    case 'known':
      return untilKnown(wanted);
    case 'facts':
      return postFacts(wanted);
  }
}

/** Posts new tow requests until the time is over; counts those that were answered within it. */
async function postForTime({ url, prefix, connections, durationMs }: Command<'webhooks'>): Promise<unknown> {
  const request = requestTemplate(`${url}/tow-request`, 'POST', null);
  const tookMs: number[] = [];
  let number = 0;
  const endsAtMs = machineMs() + durationMs;
  await onConnections(url, connections, async (connection) => {
    while (machineMs() < endsAtMs) {
      number += 1;
      const sentMs = machineMs();
      await expectSuccess(connection, request(towRequest(towNames(prefix, number))));
      const answeredMs = machineMs();
      if (answeredMs <= endsAtMs) tookMs.push(answeredMs - sentMs);
    }
  });
  return report(tookMs, durationMs);
}

/** Posts the tow requests of a range, each once. */
async function deliver({ url, prefix, connections, from, count }: Command<'deliver'>): Promise<unknown> {
  const request = requestTemplate(`${url}/tow-request`, 'POST', null);
  return overRange({ url, connections, from, count }, async (connection, number, measure) => {
    await measure(() => expectSuccess(connection, request(towRequest(towNames(prefix, number)))));
  });
}

/** Reads every tow of a range until the operator API knows it. */
async function untilKnown({ url, apiKey, prefix, connections, from, count }: Command<'known'>): Promise<unknown> {
  const givesUpAtMs = machineMs() + KNOWN_WITHIN_MS;
  return overRange({ url, connections, from, count }, async (connection, number) => {
    const request = requestTemplate(`${url}/api/tows/${towNames(prefix, number).towingReferenceId}`, 'GET', apiKey)('');
    for (;;) {
      const { status } = await connection.send(request);
      if (status === 200) return;
      if (status !== 404 || machineMs() > givesUpAtMs) throw new Error(`${status} for a tow that should be known`);
      await pause(LOOK_AGAIN_MS);
    }
  });
}

/** Posts the facts of every tow of a range; those of one tow one after the other. */
async function postFacts(wanted: Command<'facts'>): Promise<unknown> {
  const { url, apiKey, prefix, connections, from, count, factsPerTow } = wanted;
  return overRange({ url, connections, from, count }, async (connection, number, measure) => {
    const ref = towNames(prefix, number).towingReferenceId;
    for (const [kind, body] of FACTS.slice(0, factsPerTow)) {
      const request = requestTemplate(`${url}/api/tows/${ref}/${kind}`, 'POST', apiKey)(body);
      await measure(() => expectSuccess(connection, request));
    }
  });
}

type Measure = (action: () => Promise<void>) => Promise<void>;

/** Runs an action for every number of a range, on as many connections at once as asked. */
async function overRange(
  { url, connections, from, count }: { url: string; connections: number; from: number; count: number },
  action: (connection: BenchConnection, number: number, measure: Measure) => Promise<void>,
): Promise<unknown> {
  const tookMs: number[] = [];
  const measure: Measure = async (measured) => {
    const sentMs = machineMs();
    await measured();
    tookMs.push(machineMs() - sentMs);
  };
  let next = from;
  const startedMs = machineMs();
  await onConnections(url, Math.min(connections, count), async (connection) => {
    while (next < from + count) {
      const number = next;
      next += 1;
      await action(connection, number, measure);
    }
  });
  return report(tookMs, machineMs() - startedMs);
}

async function onConnections(
  url: string,
  count: number,
  run: (connection: BenchConnection) => Promise<void>,
): Promise<void> {
  const connections = Array.from({ length: count }, () => openConnection(url));
  try {
    await Promise.all(connections.map(run));
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function expectSuccess(connection: BenchConnection, request: string): Promise<void> {
  unavailable += await sendUntilTaken(connection, request);
}

function report(tookMs: readonly number[], durationMs: number): unknown {
  const unavailableAnswers = unavailable;
  unavailable = 0;
  return {
    unavailable: unavailableAnswers,
    requests: tookMs.length,
    seconds: durationMs / 1000,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
  };
}

serveCommands(handle);
