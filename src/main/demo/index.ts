import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { simulatorOrders } from '../../contracts/simulator';
import { systemClock } from '../../platform/clock';
import { printLine, printProblem } from '../../platform/terminal';
import { createBoard, isFinished } from './board';
import { check, type Findings } from './check';
import { createOperatorClient } from './client';
import { playTow } from './crew';
import { startPicture } from './picture';
import { faultsFor, planFor } from './plan';
import { setStage, type Stage } from './stage';
import { printSummary } from './summary';

/** `npm run demo -- [--tows 12] [--exit]`: the main job before your eyes, then checked. */

const TOWS_MAX = 5000;
const PACE_MS = 700;
/** No demo takes longer; what is not finished by then counts as lost. */
const TIME_LIMIT_MS = 100_000;
const SETTLE_LIMIT_MS = 15_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { tows: { type: 'string', default: '12' }, exit: { type: 'boolean', default: false } },
  });
  const tows = Number(values.tows);
  if (!Number.isInteger(tows) || tows < 1 || tows > TOWS_MAX) {
    printProblem(`--tows must be a whole number from 1 to ${TOWS_MAX}.`);
    process.exit(2);
  }
  printLine(`\n  towhook: ${tows} tows from the service's webhook to their last report\n`);
  const stage = await setStage();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(stage, 0));
  const passed = await play(stage, tows);
  if (values.exit) await end(stage, passed ? 0 : 1);
  printAddresses(stage);
}

/** Plays all tows and prints what was found; true when everything holds. */
async function play(stage: Stage, tows: number): Promise<boolean> {
  const ending = new AbortController();
  const client = createOperatorClient(stage.consoleUrl, stage.apiKey);
  const refs: string[] = [];
  const board = createBoard(client, () => refs, ending.signal);
  await control(stage, 'PUT', '/simulator/faults', faultsFor(tows));
  const startedMs = systemClock.monotonicMs();
  const ordered = await control(stage, 'POST', '/simulator/tow-requests', { count: tows });
  refs.push(...simulatorOrders.parse(ordered).items.map(({ towing_reference_id: ref }) => ref));

  const picture = startPicture(board, tows);
  const tools = { client, board, clock: systemClock, paceMs: PACE_MS };
  const playing = Promise.all(refs.map((ref, index) => playTow(ref, planFor(index), tools)));
  const stories = await withinLimit(playing, []);
  await withinLimit(Promise.all(refs.map((ref) => board.until(ref, isFinished))), []);
  const findings = await checkUntilSettled(() => check(stage.simulatorUrl, client, stories));
  picture.end();
  ending.abort();
  return printSummary(findings, {
    tows,
    finished: board.tows().filter(isFinished).length,
    seconds: (systemClock.monotonicMs() - startedMs) / 1000,
  });
}

/** The last invoice webhooks arrive after the last report; they are given a moment. */
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

async function withinLimit<T>(work: Promise<T>, otherwise: T): Promise<T> {
  const limit = new AbortController();
  const expired = pause(TIME_LIMIT_MS, otherwise, { signal: limit.signal });
  expired.catch(() => {});
  try {
    return await Promise.race([work, expired]);
  } finally {
    limit.abort();
  }
}

async function control(stage: Stage, method: 'PUT' | 'POST', path: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${stage.simulatorUrl}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the simulator refused ${path}: ${response.status}`);
  return response.json();
}

function printAddresses(stage: Stage): void {
  printLine('  Everything stays up until you press Ctrl-C:');
  printLine(`    operator API   ${stage.consoleUrl}/api/tows   (Authorization: Bearer ${stage.apiKey})`);
  printLine(`    queue pages    ${stage.consoleUrl}/queues     (any user, the key as password)`);
  printLine(`    receiver       ${stage.receiverUrl}`);
  printLine(`    simulator      ${stage.simulatorUrl}/simulator/calls`);
  printLine(`    log            ${stage.logFile}\n`);
}

async function end(stage: Stage, exitCode: number): Promise<never> {
  await stage.resources.closeAll();
  process.exit(exitCode);
}

main().catch((error: unknown) => {
  printProblem(error instanceof Error ? error.message : 'The demo could not run.');
  process.exit(1);
});
