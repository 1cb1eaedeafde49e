import { setTimeout as pause } from 'node:timers/promises';
import { simulatorOrders } from '../../contracts/simulator';
import type { JsonObject } from '../../domain/vocabulary';
import { systemClock } from '../../platform/clock';
import { createBoard, isFinished, type Board } from './board';
import { check, type Findings } from './check';
import { createOperatorClient } from './client';
import { playTow } from './crew';
import { checkSightings, patrol, whenTaken, type SightingFindings } from './patrol';
import { planFor } from './plan';

/** Where the parts of a running towhook and its simulator are reached. */
export interface Addresses {
  readonly consoleUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
}

export interface PlayOptions {
  readonly tows: number;
  /** How many of the tows begin with a patrol that reports a violation; none unless told. */
  readonly sightings?: number;
  /** The mean pause between two things a person does, ms. */
  readonly paceMs: number;
  readonly faults: readonly JsonObject[];
  /** What is not finished by then counts as lost. */
  readonly timeLimitMs: number;
  /** Shows the tows while they move; the returned function ends it. */
  readonly show?: (board: Board) => () => void;
}

export interface Played {
  readonly findings: Findings;
  readonly sightings: SightingFindings;
  readonly finished: number;
  readonly seconds: number;
}

/** The last invoice webhooks arrive after the last report; they are given a moment. */
const SETTLE_LIMIT_MS = 15_000;

/** Has the simulator order tows, plays them all at once through the operator API, and checks what arrived. */
export async function playTows(addresses: Addresses, options: PlayOptions): Promise<Played> {
  const ending = new AbortController();
  const client = createOperatorClient(addresses.consoleUrl, addresses.apiKey);
  const refs: string[] = [];
  const board = createBoard(client, () => refs, ending.signal);
  try {
    await control(addresses, { method: 'PUT', path: '/simulator/faults', body: options.faults });
    const startedMs = systemClock.monotonicMs();
    const sightings = await patrol(client, options.sightings ?? 0);
    const taken = await whenTaken(addresses.simulatorUrl, sightings, {
      clock: systemClock,
      limitMs: options.timeLimitMs,
    });
    for (const { reference } of taken) refs.push(...(await order(addresses, { violation_reference_id: reference })));
    const rest = options.tows - sightings.length;
    if (rest > 0) refs.push(...(await order(addresses, { count: rest })));
    const endShow = options.show?.(board);
    const tools = { client, board, clock: systemClock, paceMs: options.paceMs };
    const playing = Promise.all(
      refs.map((ref, index) => playTow(ref, planFor(index, { wasSighted: index < sightings.length }), tools)),
    );
    const stories = await withinLimit(playing, { limitMs: options.timeLimitMs, otherwise: [] });
    const finishing = Promise.all(refs.map((ref) => board.until(ref, isFinished)));
    await withinLimit(finishing, { limitMs: options.timeLimitMs, otherwise: [] });
    const findings = await checkUntilSettled(() => check(addresses.simulatorUrl, client, stories));
    endShow?.();
    const seconds = (systemClock.monotonicMs() - startedMs) / 1000;
    const sighted = await checkSightings(addresses.simulatorUrl, sightings);
    return { findings, sightings: sighted, finished: board.tows().filter(isFinished).length, seconds };
  } finally {
    ending.abort();
  }
}

/** Has the service order tows; returns their references. */
async function order(to: Addresses, body: JsonObject): Promise<string[]> {
  const ordered = await control(to, { method: 'POST', path: '/simulator/tow-requests', body });
  return simulatorOrders.parse(ordered).items.map(({ towing_reference_id: ref }) => ref);
}

async function checkUntilSettled(checkNow: () => Promise<Findings>): Promise<Findings> {
  const untilMs = systemClock.monotonicMs() + SETTLE_LIMIT_MS;
  let findings = await checkNow();
  while (!isSettled(findings) && systemClock.monotonicMs() < untilMs) {
    await pause(300);
    findings = await checkNow();
  }
  return findings;
}

function isSettled(findings: Findings): boolean {
  return findings.lost === 0 && findings.webhooksAcknowledged >= findings.webhooksSent;
}

async function withinLimit<T>(work: Promise<T>, { limitMs, otherwise }: { limitMs: number; otherwise: T }): Promise<T> {
  const limit = new AbortController();
  const expired = pause(limitMs, otherwise, { signal: limit.signal });
  expired.catch(() => {});
  try {
    return await Promise.race([work, expired]);
  } finally {
    limit.abort();
  }
}

async function control(
  to: Addresses,
  request: { method: 'PUT' | 'POST'; path: string; body: unknown },
): Promise<unknown> {
  const { method, path } = request;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${to.simulatorUrl}${path}`, { method, headers, body: JSON.stringify(request.body) });
  if (!response.ok) throw new Error(`the simulator refused ${path}: ${response.status}`);
  return response.json();
}
