import { setTimeout as pause } from 'node:timers/promises';
import { printLine } from '../src/platform/terminal';
import { playThroughOutage } from '../test/e2e/outage';
import { openTown } from './town';

/** `node --require tsx/cjs bench/outage.ts`: every call fails with 500 for a minute; what is sent, and how it recovers. */
const LASTS_MS = 60_000;

async function main(): Promise<void> {
  const town = await openTown();
  await town.startWorkers(2);
  try {
    const result = await playThroughOutage(town, {
      tows: 400,
      paceMs: 1500,
      beginsAfterCalls: 300,
      untilRecovery: () => pause(LASTS_MS),
      timeLimitMs: LASTS_MS + 120_000,
    });
    const { findings, probes } = result;
    const begin = probes[0]?.atMs ?? 0;
    printLine(`tows finished            ${result.finished} of 400`);
    printLine(`lost / out of order      ${findings.lost} / ${findings.outOfOrder}`);
    printLine(`wrong bodies             ${findings.wrongBodies}`);
    printLine(`second invoices          ${findings.secondInvoices}`);
    printLine(`calls answered 500       ${result.failedCalls}`);
    printLine(
      `probes during the outage  ${probes.map(({ atMs, operation }) => `${operation} +${((atMs - begin) / 1000).toFixed(1)} s`).join(', ')}`,
    );
    printLine(`noticed after            ${(result.noticedAfterMs / 1000).toFixed(1)} s`);
    printLine(`calls a second           ${result.rateBefore.toFixed(1)} before, ${result.rateAfter.toFixed(1)} after`);
  } finally {
    await town.end();
  }
}

void main().finally(() => process.exit());
