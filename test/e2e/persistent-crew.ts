import { simulatorOrders } from '../../src/contracts/service/simulator';
import { createBoard, isFinished } from '../../src/demo/board';
import { check, type DemoFindings } from '../../src/demo/check';
import { createOperatorClient } from '../../src/demo/client';
import { playTow } from '../../src/demo/plan';
import type { Addresses } from '../../src/demo/play';
import { planFor } from '../../src/demo/plan';
import { systemClock } from '../../src/platform/clock';
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
 * Plays tows while Redis fails: the client repeats requests that get no answer or 503. Resolves when every tow has
 * finished and every webhook is processed; rejects after `timeLimitMs`.
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
  const client = createOperatorClient(to.consoleUrl, to.apiKey, ending.signal);
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
