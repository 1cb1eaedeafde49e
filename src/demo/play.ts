import { simulatorOrders } from '../contracts/service/simulator';
import type { JsonObject } from '../domain/vocabulary';
import { systemClock } from '../platform/clock';
import { pause, within } from '../platform/timers';
import { createBoard, isFinished, type DemoBoard } from './board';
import { check, type DemoFindings } from './check';
import { createOperatorClient } from './client';
import { playTow } from './plan';
import { checkViolations, reportViolations, untilArrived, type ViolationFindings } from './violations';
import { planFor, type TowPlan } from './plan';

/** The addresses of a running towhook and its simulator. */
export interface Addresses {
  readonly consoleUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
}

export interface PlayOptions {
  readonly tows: number;
  /** How many tows begin with a reported violation; none by default. */
  readonly violations?: number;
  /** The mean pause between two facts, ms. */
  readonly paceMs: number;
  readonly faults: readonly JsonObject[];
  /** Tows that are not finished by then count as lost. */
  readonly timeLimitMs: number;
  /** Shows the tows while they progress; the returned function ends it. */
  readonly show?: (board: DemoBoard) => () => void;
}

export interface DemoResult {
  readonly findings: DemoFindings;
  readonly violations: ViolationFindings;
  readonly finished: number;
  readonly seconds: number;
}

/** How long to wait for the last invoice webhooks, which arrive after the last report. */
const SETTLE_LIMIT_MS = 15_000;

/** Lets the simulator order tows, plays all of them through the operator API, and checks what arrived. */
export async function playTows(addresses: Addresses, options: PlayOptions): Promise<DemoResult> {
  const ending = new AbortController();
  const client = createOperatorClient(addresses.consoleUrl, addresses.apiKey, ending.signal);
  const refs: string[] = [];
  const board = createBoard(client, () => refs, ending.signal);
  try {
    await control(addresses, { method: 'PUT', path: '/simulator/faults', body: options.faults });
    const startedMs = systemClock.monotonicMs();
    const violations = await reportViolations(client, options.violations ?? 0);
    const arrivedViolations = await untilArrived(addresses.simulatorUrl, violations, {
      clock: systemClock,
      limitMs: options.timeLimitMs,
    });
    for (const { reference } of arrivedViolations)
      refs.push(...(await order(addresses, { violation_reference_id: reference })));
    const rest = options.tows - violations.length;
    if (rest > 0) refs.push(...(await order(addresses, { count: rest })));
    const endShow = options.show?.(board);
    const tools = { client, board, clock: systemClock, paceMs: options.paceMs };
    const playing = Promise.all(
      refs.map((ref, index) => playTow(ref, planFor(index, { hasViolation: index < violations.length }), tools)),
    );
    const playedTows = (await within(options.timeLimitMs, playing))?.value ?? [];
    const finishing = Promise.all(refs.map((ref) => board.until(ref, isFinished)));
    await within(options.timeLimitMs, finishing);
    const findings = await checkUntilSettled(() => check(addresses.simulatorUrl, client, playedTows));
    endShow?.();
    const seconds = (systemClock.monotonicMs() - startedMs) / 1000;
    const checkedViolations = await checkViolations(addresses.simulatorUrl, violations);
    return { findings, violations: checkedViolations, finished: board.tows().filter(isFinished).length, seconds };
  } finally {
    ending.abort();
  }
}

/** The tows that stay on the board: the index of each, and how many steps of its plan are played. */
const LEFT_OPEN = [
  [6000, 0],
  [6001, 1],
  [6002, 2],
  [6004, 3],
] as const;
/** No tow before has an index as high, and with it the plate. */
const NEXT_INDEX = 6005;

/**
 * Leaves some tows open and lets the service order another one every `everyMs`, until `signal` aborts. A tow on which a
 * person acts in the console is left to that person.
 */
export async function keepTowsComing(
  addresses: Addresses,
  { signal, everyMs, paceMs }: { readonly signal: AbortSignal; readonly everyMs: number; readonly paceMs: number },
): Promise<void> {
  const client = createOperatorClient(addresses.consoleUrl, addresses.apiKey, signal);
  const refs: string[] = [];
  const board = createBoard(client, () => refs, signal);
  const begin = async (plan: TowPlan) => {
    const [ref = ''] = await order(addresses, { count: 1 });
    refs.push(ref);
    void playTow(ref, plan, { client, board, clock: systemClock, paceMs }).catch(() => {});
  };
  for (const [index, steps] of LEFT_OPEN) {
    const plan = planFor(index, { hasViolation: false });
    await begin({ ...plan, steps: plan.steps.slice(0, steps) });
  }
  for (let index = NEXT_INDEX; ; index += 1) {
    await pause(everyMs, signal);
    if (signal.aborted) return;
    await begin(planFor(index, { hasViolation: false }));
  }
}

/** Lets the simulator order tows; returns their references. */
async function order(to: Addresses, body: JsonObject): Promise<string[]> {
  const ordered = await control(to, { method: 'POST', path: '/simulator/tow-requests', body });
  return simulatorOrders.parse(ordered).items.map(({ towing_reference_id: ref }) => ref);
}

async function checkUntilSettled(checkNow: () => Promise<DemoFindings>): Promise<DemoFindings> {
  const untilMs = systemClock.monotonicMs() + SETTLE_LIMIT_MS;
  let findings = await checkNow();
  while (!isSettled(findings) && systemClock.monotonicMs() < untilMs) {
    await pause(300);
    findings = await checkNow();
  }
  return findings;
}

function isSettled(findings: DemoFindings): boolean {
  return findings.lost === 0 && findings.webhooksAcknowledged >= findings.webhooksSent;
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
