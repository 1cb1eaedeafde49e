import { simulatorCalls, type SimulatorCall } from '../../src/contracts/service/simulator';
import { sendingView, towView } from '../../src/contracts/operator';
import { playTows, type DemoResult, type Addresses } from '../../src/demo/play';
import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';

/** A call that arrived while the circuit was not closed. */
export interface OutageProbe {
  readonly atMs: number;
  readonly operation: string;
}

/** What an outage of the service looked like in the service's own record. */
export interface OutageRecord extends DemoResult {
  /** Calls that arrived after the circuit had opened and all earlier calls had ended, until the service recovered. */
  readonly probes: readonly OutageProbe[];
  readonly failedCalls: number;
  /** Reports per second that the service accepted before the outage, and after it until no report was left. */
  readonly rateBefore: number;
  readonly rateAfter: number;
  /** Time from the recovery of the service to the first accepted report. */
  readonly noticedAfterMs: number;
}

export interface OutageOptions {
  readonly tows: number;
  readonly paceMs: number;
  /** The outage begins once the service has received this many calls. */
  readonly beginsAfterCalls: number;
  /** Resolves when the service is to recover; `probes` returns the probes so far. */
  readonly untilRecovery: (probes: () => Promise<readonly OutageProbe[]>) => Promise<unknown>;
  readonly timeLimitMs: number;
}

/** Plays tows. In the middle the service answers every call with 500, then it recovers. */
export async function playThroughOutage(to: Addresses, options: OutageOptions): Promise<OutageRecord> {
  const { tows, paceMs, timeLimitMs } = options;
  const playing = playTows(to, { tows, paceMs, faults: [], timeLimitMs });
  await eventually(async () => {
    const calls = await callsAt(to);
    if (calls.length < options.beginsAfterCalls) throw new Error('not enough calls yet');
  }, 120_000);
  await setFaults(to, [{ operation: '*', fault: '500' }]);
  const beginsMs = systemClock.nowMs();
  await eventually(() => assertCircuitOpen(to));
  await untilEarlierCallsEnded(to);
  const firstProbe = (await callsAt(to)).length;
  const probesUntil = (calls: readonly SimulatorCall[]) => calls.slice(firstProbe).map(withTime);
  await options.untilRecovery(async () => probesUntil(await callsAt(to)));
  const probes = probesUntil(await callsAt(to));
  await setFaults(to, []);
  const endsMs = systemClock.nowMs();
  const played = await playing;

  const calls = (await callsAt(to)).map(withTime);
  const accepted = calls.filter(({ effect, operation }) => effect && operation !== 'token');
  const before = accepted.filter(({ atMs }) => atMs < beginsMs);
  const after = accepted.filter(({ atMs }) => atMs > endsMs);
  return {
    ...played,
    probes,
    failedCalls: calls.filter(({ status }) => status === 500).length,
    rateBefore: rateOf(before),
    rateAfter: rateOf(after),
    noticedAfterMs: (after[0]?.atMs ?? Infinity) - endsMs,
  };
}

function withTime(call: SimulatorCall) {
  return { ...call, atMs: Date.parse(String(call['at'])) };
}

/** Calls per second, from the first call to the last. */
function rateOf(calls: readonly { atMs: number }[]): number {
  const lastedMs = (calls.at(-1)?.atMs ?? 0) - (calls[0]?.atMs ?? 0);
  return lastedMs > 0 ? (calls.length * 1000) / lastedMs : 0;
}

async function callsAt({ simulatorUrl }: Addresses): Promise<SimulatorCall[]> {
  return simulatorCalls.parse(await (await fetch(`${simulatorUrl}/simulator/calls`)).json()).items;
}

async function assertCircuitOpen(to: Addresses): Promise<void> {
  const { service } = sendingView.parse(await read(to, '/operations'));
  if (service.since === null) throw new Error('the circuit has not opened');
}

/**
 * Resolves once no attempt from before the opening of the circuit is under way. A tow has one attempt at a time, so
 * one sight of a tow without an attempt is enough: its later attempts are probes.
 */
async function untilEarlierCallsEnded(to: Addresses): Promise<void> {
  const refs = new Set((await callsAt(to)).flatMap(({ body }) => body?.['towing_reference_id'] ?? []).map(String));
  for (const ref of refs) {
    await eventually(async () => {
      const { reports } = towView.parse(await read(to, `/tows/${encodeURIComponent(ref)}`));
      if (reports.some(({ in_flight }) => in_flight)) throw new Error(`an attempt of ${ref} is under way`);
    });
  }
}

async function read({ consoleUrl, apiKey }: Addresses, path: string): Promise<unknown> {
  const response = await fetch(`${consoleUrl}/api${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
  return response.json();
}

async function setFaults({ simulatorUrl }: Addresses, faults: readonly object[]): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${simulatorUrl}/simulator/faults`, { method: 'PUT', headers, body: JSON.stringify(faults) });
}
