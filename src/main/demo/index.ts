import { parseArgs } from 'node:util';
import { printLine, printProblem } from '../../platform/terminal';
import { startPicture } from './picture';
import { faultsFor } from './plan';
import { playTows } from './play';
import { setStage, type Stage } from './stage';
import { printSummary } from './summary';

/** `npm run demo -- [--tows 12] [--exit]`: the main job before your eyes, then checked. */

const TOWS_MAX = 5000;
const PACE_MS = 700;
/** The budget of violations is 20 a minute: with more of them everybody would wait for a patrol. */
const SIGHTINGS_MAX = 8;
/** No demo takes longer; what is not finished by then counts as lost. */
const TIME_LIMIT_MS = 100_000;

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
  const played = await playTows(stage, {
    tows,
    sightings: sightingsAmong(tows),
    paceMs: PACE_MS,
    faults: faultsFor(tows),
    timeLimitMs: TIME_LIMIT_MS,
    show: (board) => startPicture(board, tows),
  });
  const passed = printSummary(played, tows);
  if (values.exit) await end(stage, passed ? 0 : 1);
  printAddresses(stage);
}

function sightingsAmong(tows: number): number {
  return Math.min(Math.ceil(tows / 3), SIGHTINGS_MAX);
}

function printAddresses(stage: Stage): void {
  printLine('  Everything stays up until you press Ctrl-C:');
  printLine(`    console        ${stage.consoleUrl}              (sign in with ${stage.apiKey})`);
  printLine(`    operator API   ${stage.consoleUrl}/api/tows   (Authorization: Bearer ${stage.apiKey})`);
  printLine(`    API docs       ${stage.consoleUrl}/docs`);
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
