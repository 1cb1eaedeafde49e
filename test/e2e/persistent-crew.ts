import { randomUUID } from 'node:crypto';
import { deliveryPage, towView } from '../../src/contracts/operator';
import { simulatorOrders } from '../../src/contracts/simulator';
import { createBoard, isFinished } from '../../src/demo/board';
import { check, type DemoFindings } from '../../src/demo/check';
import type { OperatorClient } from '../../src/demo/client';
import { playTow } from '../../src/demo/crew';
import type { Addresses } from '../../src/demo/play';
import { planFor } from '../../src/demo/plan';
import { systemClock } from '../../src/platform/clock';
import { pause } from '../../src/platform/timers';
import { eventually } from '../support/eventually';

export interface CrewResult {
  readonly findings: DemoFindings;
  readonly finished: number;
}

const running = new Set<AbortController>();

afterEach(() => {
  // The crew of a failed test would otherwise go on sending requests.
  for (const ending of running) ending.abort();
  running.clear();
});

/**
 * Plays tows while Redis fails: a request that gets no answer or 503 is repeated, a fact with the same Idempotency-Key.
 * Resolves when every tow has finished and every webhook is processed; rejects after `timeLimitMs`.
 */
export function playThroughRedisFailure(
  to: Addresses,
  options: { tows: number; timeLimitMs: number },
): Promise<CrewResult> {
  const ending = new AbortController();
  running.add(ending);
  const playing = play(to, { ...options, ending });
  // The caller awaits it later; until then a rejection must not end the process.
  playing.catch(() => {});
  return playing;
}

async function play(
  to: Addresses,
  { tows, timeLimitMs, ending }: { tows: number; timeLimitMs: number; ending: AbortController },
): Promise<CrewResult> {
  const client = createRepeatingClient(to, ending.signal);
  const refs: string[] = [];
  const board = createBoard(client, () => refs, ending.signal);
  try {
    refs.push(...(await requestTows(to, tows)));
    const tools = { client, board, clock: systemClock, paceMs: 40 };
    const stories = await Promise.all(
      refs.map((ref, index) => playTow(ref, planFor(index, { hasViolation: false }), tools)),
    );
    const finished = () => board.tows().filter(isFinished).length;
    await eventually(() => expect(finished()).toBe(tows), timeLimitMs);
    const findings = await eventually(async () => {
      const found = await check(to.simulatorUrl, client, stories);
      expect(found.lost).toBe(0);
      expect(found.webhooksAcknowledged).toBe(found.webhooksSent);
      return found;
    }, timeLimitMs);
    return { findings, finished: finished() };
  } finally {
    ending.abort();
  }
}

async function requestTows({ simulatorUrl }: Addresses, count: number): Promise<string[]> {
  const response = await fetch(`${simulatorUrl}/simulator/tow-requests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ count }),
  });
  return simulatorOrders.parse(await response.json()).items.map(({ towing_reference_id: ref }) => ref);
}

const REPEAT_AFTER_MS = 200;

function createRepeatingClient({ consoleUrl, apiKey }: Addresses, signal: AbortSignal): Omit<OperatorClient, 'report'> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    for (;;) {
      const response = await fetch(`${consoleUrl}/api${path}`, { headers, ...init }).catch(() => null);
      signal.throwIfAborted();
      if (response && response.status !== 503) return response;
      await response?.text();
      await pause(REPEAT_AFTER_MS);
    }
  };
  return {
    async tow(ref) {
      const response = await send(`/tows/${encodeURIComponent(ref)}`);
      return response.status === 404 ? null : towView.parse(await response.json());
    },
    async recordFact(ref, kind, entry) {
      const idempotent = { ...headers, 'idempotency-key': randomUUID() };
      const path = `/tows/${encodeURIComponent(ref)}/${kind}`;
      const response = await send(path, { method: 'POST', headers: idempotent, body: JSON.stringify(entry) });
      if (response.status !== 202) throw new Error(`${kind} was refused: ${response.status}`);
    },
    async deliveries(cursor) {
      const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      return deliveryPage.parse(await (await send(`/deliveries?limit=200${after}`)).json());
    },
    // The board reads unfinished tows every 2 s without the event stream.
    watch: () => Promise.resolve(),
  };
}
