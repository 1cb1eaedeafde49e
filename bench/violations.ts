import { setTimeout as pause } from 'node:timers/promises';
import { simulatorCalls } from '../src/contracts/simulator';
import { printLine } from '../src/platform/terminal';
import { openTown } from './town';

/**
 * `node --require tsx/cjs bench/violations.ts`: a pile of violations against the real budget of the service, two workers,
 * seen at the service. Takes five and a half minutes.
 */
const PER_MINUTE = 20;
const VIOLATIONS = 100;
const MINUTE_MS = 60_000;
const LIMIT_MS = 400_000;

async function main(): Promise<void> {
  const town = await openTown({ BUDGET_VIOLATIONS_PER_MINUTE: String(PER_MINUTE) });
  try {
    await town.startWorkers(2);
    for (let number = 1; number <= VIOLATIONS; number += 1) await report(town, number);
    const startedMs = performance.now();
    let atMs: number[] = [];
    while (atMs.length < VIOLATIONS && performance.now() - startedMs < LIMIT_MS) {
      await pause(2000);
      const { items } = simulatorCalls.parse(await (await fetch(`${town.simulatorUrl}/simulator/calls`)).json());
      atMs = items.filter(({ operation }) => operation === 'violation').map((call) => Date.parse(String(call['at'])));
    }
    // Windows that begin with a call are those that can hold the most.
    const inWindow = atMs.map((start) => atMs.filter((at) => at >= start && at < start + MINUTE_MS).length);
    const [first = 0, last = 0] = [atMs[0], atMs.at(-1)];
    printLine(`budget                   ${PER_MINUTE} violations a minute`);
    printLine(`violations seen          ${atMs.length} of ${VIOLATIONS} in ${((last - first) / 1000).toFixed(1)} s`);
    printLine(`most in any 60 s         ${Math.max(...inWindow)}`);
  } finally {
    await town.end();
  }
}

async function report(town: { consoleUrl: string; apiKey: string }, number: number): Promise<void> {
  const form = new FormData();
  const fields = {
    latitude: '24.7',
    longitude: '46.7',
    location: 'Olaya Street',
    plateNumber: `BNC ${number}`,
    plateType: 'PRIVATE',
    zoneId: '11111111-2222-4333-8444-555555555555',
    violationType: 'WRONG_PARKING',
  };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const headers = { authorization: `Bearer ${town.apiKey}` };
  const response = await fetch(`${town.consoleUrl}/api/violations`, { method: 'POST', headers, body: form });
  if (response.status !== 202) throw new Error(`${response.status} for a violation`);
}

void main();
