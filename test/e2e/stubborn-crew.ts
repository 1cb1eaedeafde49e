import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { deliveryPage, towView } from '../../src/contracts/operator';
import { simulatorOrders } from '../../src/contracts/simulator';
import { createBoard, isFinished } from '../../src/main/demo/board';
import { check, type Findings } from '../../src/main/demo/check';
import type { OperatorClient } from '../../src/main/demo/client';
import { playTow } from '../../src/main/demo/crew';
import { planFor } from '../../src/main/demo/plan';
import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';

/** Where a town is reached. */
export interface Town {
  readonly consoleUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
}

export interface Played {
  readonly findings: Findings;
  readonly finished: number;
}

const running = new Set<AbortController>();

afterEach(() => {
  // A crew whose test has failed would go on asking.
  for (const ending of running) ending.abort();
  running.clear();
});

/**
 * Plays tows through whatever happens to the operator's side: what gets no answer or 503 is asked again, a fact under
 * the same Idempotency-Key. Ends when every tow has finished and every webhook is settled, or after `timeLimitMs`.
 */
export function playThroughTrouble(town: Town, options: { tows: number; timeLimitMs: number }): Promise<Played> {
  const ending = new AbortController();
  running.add(ending);
  const playing = play(town, { ...options, ending });
  // Whoever awaits it learns of a failure; a test that failed before must not end the process with it.
  playing.catch(() => {});
  return playing;
}

async function play(
  town: Town,
  { tows, timeLimitMs, ending }: { tows: number; timeLimitMs: number; ending: AbortController },
): Promise<Played> {
  const client = stubbornClient(town, ending.signal);
  const refs: string[] = [];
  const board = createBoard(client, () => refs, ending.signal);
  try {
    refs.push(...(await orderTows(town, tows)));
    const tools = { client, board, clock: systemClock, paceMs: 40 };
    const stories = await Promise.all(
      refs.map((ref, index) => playTow(ref, planFor(index, { wasSighted: false }), tools)),
    );
    const finished = () => board.tows().filter(isFinished).length;
    await eventually(() => expect(finished()).toBe(tows), timeLimitMs);
    const findings = await eventually(async () => {
      const found = await check(town.simulatorUrl, client, stories);
      expect(found.lost).toBe(0);
      expect(found.webhooksAcknowledged).toBe(found.webhooksSent);
      return found;
    }, timeLimitMs);
    return { findings, finished: finished() };
  } finally {
    ending.abort();
  }
}

async function orderTows({ simulatorUrl }: Town, count: number): Promise<string[]> {
  const response = await fetch(`${simulatorUrl}/simulator/tow-requests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ count }),
  });
  return simulatorOrders.parse(await response.json()).items.map(({ towing_reference_id: ref }) => ref);
}

const ASK_AGAIN_AFTER_MS = 200;

function stubbornClient({ consoleUrl, apiKey }: Town, signal: AbortSignal): Omit<OperatorClient, 'report'> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    for (;;) {
      const response = await fetch(`${consoleUrl}/api${path}`, { headers, ...init }).catch(() => null);
      signal.throwIfAborted();
      if (response && response.status !== 503) return response;
      await response?.text();
      await pause(ASK_AGAIN_AFTER_MS);
    }
  };
  return {
    async tow(ref) {
      const response = await ask(`/tows/${encodeURIComponent(ref)}`);
      return response.status === 404 ? null : towView.parse(await response.json());
    },
    async say(ref, kind, entry) {
      const once = { ...headers, 'idempotency-key': randomUUID() };
      const path = `/tows/${encodeURIComponent(ref)}/${kind}`;
      const response = await ask(path, { method: 'POST', headers: once, body: JSON.stringify(entry) });
      if (response.status !== 202) throw new Error(`${kind} was not taken: ${response.status}`);
    },
    async deliveries(cursor) {
      const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      return deliveryPage.parse(await (await ask(`/deliveries?limit=200${after}`)).json());
    },
    // The board looks by itself every now and then.
    watch: () => Promise.resolve(),
  };
}
