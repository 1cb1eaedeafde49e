import { setTimeout as pause } from 'node:timers/promises';
import { simulatorCalls } from '../src/contracts/simulator';
import { printLine } from '../src/platform/terminal';
import { slidingWindow } from '../src/store/budgets';
import { oweReports } from './backlog';
import { openTown } from './town';

/** `node --require tsx/cjs bench/budget.ts`: how much of a budget two workers use under backlog, seen at the service. */
const PER_MINUTE = 300;
const TOWS = 420;
const RUNS_MS = 200_000;
const MINUTE_MS = 60_000;

async function main(): Promise<void> {
  const town = await openTown({ BUDGET_TOW_PER_MINUTE: String(PER_MINUTE) });
  try {
    await oweReports(town, TOWS);
    await town.startWorkers(2);
    await pause(RUNS_MS);
    const { items } = simulatorCalls.parse(await (await fetch(`${town.simulatorUrl}/simulator/calls`)).json());
    const atMs = items.filter(({ operation }) => operation !== 'token').map((call) => Date.parse(String(call['at'])));
    // Windows that begin with a call are those that can hold the most.
    const inWindow = atMs.map((start) => atMs.filter((at) => at >= start && at < start + MINUTE_MS).length);
    // A burst, then the rest of its window, again and again: counted over whole windows only.
    const { windowMs } = slidingWindow(PER_MINUTE);
    const [first = 0, last = 0] = [atMs[0], atMs.at(-1)];
    const windows = Math.floor((last - first + 1000) / windowMs);
    const calls = atMs.filter((at) => at < first - 1000 + windows * windowMs).length;
    const used = (calls * MINUTE_MS) / (PER_MINUTE * windows * windowMs);
    printLine(`budget                   ${PER_MINUTE} calls a minute`);
    printLine(`calls seen               ${atMs.length} in ${((last - first) / 1000).toFixed(1)} s`);
    printLine(`most in any 60 s         ${Math.max(...inWindow)}`);
    printLine(`used                     ${(100 * used).toFixed(1)} % over ${windows} windows`);
  } finally {
    await town.end();
  }
}

void main();
