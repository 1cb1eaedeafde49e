import { setTimeout as pause } from 'node:timers/promises';
import { simulatorCalls, type SimulatorCall } from '../../src/contracts/simulator';
import { sendingView } from '../../src/contracts/operator';
import { playTows, type Played } from '../../src/main/demo/play';
import type { Addresses } from '../../src/main/demo/play';
import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';

/** What an outage of the service looked like, from the service's own record. */
export interface Suffered extends Played {
  /** Calls that arrived after the breaker had opened and those under way had ended, until the service worked again. */
  readonly triesWhileDown: readonly { atMs: number; operation: string }[];
  readonly failedCalls: number;
  /** Reports a second taken by the service: before the outage, and after it until the backlog was gone. */
  readonly rateBefore: number;
  readonly rateAfter: number;
  /** From the end of the outage to the first report that was taken. */
  readonly noticedAfterMs: number;
}

/** What is under way when the breaker opens may still fail. */
const UNDER_WAY_MS = 1000;

/** Plays tows; in the middle the service answers every call with 500 for a while, then works again. */
export async function sufferOutage(
  to: Addresses,
  options: { tows: number; paceMs: number; beginsAfterCalls: number; lastsMs: number },
): Promise<Suffered> {
  const { tows, paceMs, lastsMs } = options;
  const playing = playTows(to, { tows, paceMs, faults: [], timeLimitMs: lastsMs + 120_000 });
  await eventually(async () => {
    const calls = await callsAt(to);
    if (calls.length < options.beginsAfterCalls) throw new Error('not enough calls yet');
  }, 60_000);
  await putFaults(to, [{ operation: '*', fault: '500' }]);
  const beginsMs = systemClock.nowMs();
  const openedMs = await eventually(() => downSince(to));
  await pause(beginsMs + lastsMs - systemClock.nowMs());
  await putFaults(to, []);
  const endsMs = systemClock.nowMs();
  const played = await playing;

  const calls = (await callsAt(to)).map((call) => ({ ...call, atMs: Date.parse(String(call['at'])) }));
  const taken = calls.filter(({ effect, operation }) => effect && operation !== 'token');
  const before = taken.filter(({ atMs }) => atMs < beginsMs);
  const after = taken.filter(({ atMs }) => atMs > endsMs);
  return {
    ...played,
    triesWhileDown: calls.filter(({ atMs }) => atMs > openedMs + UNDER_WAY_MS && atMs < endsMs),
    failedCalls: calls.filter(({ status }) => status === 500).length,
    rateBefore: rateOf(before),
    rateAfter: rateOf(after),
    noticedAfterMs: (after[0]?.atMs ?? Infinity) - endsMs,
  };
}

/** Calls a second, from the first to the last. */
function rateOf(calls: readonly { atMs: number }[]): number {
  const lastedMs = (calls.at(-1)?.atMs ?? 0) - (calls[0]?.atMs ?? 0);
  return lastedMs > 0 ? (calls.length * 1000) / lastedMs : 0;
}

async function callsAt({ simulatorUrl }: Addresses): Promise<SimulatorCall[]> {
  return simulatorCalls.parse(await (await fetch(`${simulatorUrl}/simulator/calls`)).json()).items;
}

async function downSince({ consoleUrl, apiKey }: Addresses): Promise<number> {
  const response = await fetch(`${consoleUrl}/api/operations`, { headers: { authorization: `Bearer ${apiKey}` } });
  const { service } = sendingView.parse(await response.json());
  if (service.since === null) throw new Error('the breaker has not opened');
  return Date.parse(service.since);
}

async function putFaults({ simulatorUrl }: Addresses, faults: readonly object[]): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${simulatorUrl}/simulator/faults`, { method: 'PUT', headers, body: JSON.stringify(faults) });
}
