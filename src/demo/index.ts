import '../platform/process-defaults';
import { parseArgs } from 'node:util';
import { printLine, printProblem, isOutputTerminal, printText, terminalWidth } from '../platform/terminal';
import { faultsFor } from './plan';
import { keepTowsComing, playTows, type DemoResult } from './play';
import { type DemoBoard, isFinished } from './board';
import { startEnvironment, type DemoEnvironment } from './environment';
import type { TowView } from '../contracts/operator';
import { TOW_STATES, type ReportState } from '../domain/vocabulary';

/** `npm run demo -- [--tows 12] [--exit]` plays tows from the webhook to their last report and checks the result. */

const TOWS_DEFAULT = '12';
const TOWS_MAX = 5000;
const PACE_MS = 700;
/** The rate limit of violations is 20 per minute; more would make the demo wait. */
const VIOLATIONS_MAX = 8;
/** Of the tows that come after the check: a new one each time, and the mean pause between two facts of each. */
const ORDER_EVERY_MS = 20_000;
const LATER_PACE_MS = 15_000;
/** Tows that are not finished by then count as lost. */
const TIME_LIMIT_MS = 100_000;

const HELP = `Usage: towhook demo [options]

Plays tows from the webhook to their last report, against a simulated service and on a Redis of its own, and checks
the result.

Options:
  --tows <number>  how many tows, 1 to ${TOWS_MAX} (default: ${TOWS_DEFAULT})
  --exit           ends after the check, with exit code 0 if it passed, else 1; otherwise everything keeps running and tows keep coming
  -h, --help       shows this help

Examples:
  $ towhook demo --tows 200 --exit`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tows: { type: 'string', default: TOWS_DEFAULT },
      exit: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return printLine(HELP);
  const tows = Number(values.tows);
  if (!Number.isInteger(tows) || tows < 1 || tows > TOWS_MAX) {
    printProblem(`--tows must be a whole number from 1 to ${TOWS_MAX}.`);
    process.exit(2);
  }
  printLine(`\n  towhook: ${tows} tows from the service's webhook to their last report\n`);
  const environment = await startEnvironment();
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      ending.abort();
      void end(environment, 0);
    });
  }
  const options = {
    tows,
    violations: violationsAmong(tows),
    paceMs: PACE_MS,
    faults: faultsFor(tows),
    timeLimitMs: TIME_LIMIT_MS,
    show: (board: DemoBoard) => showProgress(board, tows),
  };
  const played = await playTows(environment, options).catch((error: unknown) => failWithLog(error, environment));
  const passed = printSummary(played, tows);
  if (values.exit && !passed) failWithLog(null, environment);
  if (values.exit) await end(environment, 0);
  printAddresses(environment);
  const later = { signal: ending.signal, everyMs: ORDER_EVERY_MS, paceMs: LATER_PACE_MS };
  await keepTowsComing(environment, later).catch((error: unknown) => {
    if (!ending.signal.aborted) failWithLog(error, environment);
  });
}

function violationsAmong(tows: number): number {
  return Math.min(Math.ceil(tows / 3), VIOLATIONS_MAX);
}

function printAddresses(environment: DemoEnvironment): void {
  printLine('  Everything stays up until you press Ctrl-C. Some tows stay open, and new ones come:');
  printLine(`    console        ${environment.consoleUrl}              (sign in with ${environment.apiKey})`);
  printLine(`    operator API   ${environment.consoleUrl}/api/tows   (Authorization: Bearer ${environment.apiKey})`);
  printLine(`    API docs       ${environment.consoleUrl}/docs`);
  printLine(`    queue pages    ${environment.consoleUrl}/queues     (any user, the key as password)`);
  printLine(`    receiver       ${environment.receiverUrl}`);
  printLine(`    simulator      ${environment.simulatorUrl}/simulator/calls`);
  printLine(`    log            ${environment.logFile}\n`);
}

/** Ends the demo and keeps its folder. */
function failWithLog(error: unknown, { logFile }: DemoEnvironment): never {
  if (error instanceof Error) printProblem(error.message);
  printProblem(`What towhook logged: ${logFile}`);
  process.exit(1);
}

async function end(environment: DemoEnvironment, exitCode: number): Promise<never> {
  await environment.resources.closeAll();
  process.exit(exitCode);
}

main().catch((error: unknown) => {
  printProblem(error instanceof Error ? error.message : 'The demo could not run.');
  process.exit(1);
});

/** Prints the result and returns whether it is as promised. A run without reports does not pass. */
function printSummary({ findings, violations, finished, seconds }: DemoResult, tows: number): boolean {
  const faults = [...findings.faultsInjected].map(([fault, times]) => `${fault} x${times}`).join(', ');
  const passed =
    finished === tows &&
    findings.reportsOwed > 0 &&
    findings.reportsArrived === findings.reportsOwed &&
    findings.webhooksAcknowledged >= tows &&
    violations.arrived === violations.reported &&
    violations.wrong === 0 &&
    findings.lost + findings.outOfOrder + findings.wrongBodies + findings.secondInvoices === 0;
  printLine();
  printLine('  Checked against what the service recorded');
  printLine(`    tows finished            ${finished} of ${tows} in ${seconds.toFixed(1)} s`);
  printLine(
    `    violations reported      ${violations.reported}, arrived byte for byte ${violations.arrived - violations.wrong}`,
  );
  printLine(`    webhooks acknowledged    ${findings.webhooksAcknowledged}`);
  printLine(
    `    reports arrived          ${findings.reportsArrived} of ${findings.reportsOwed}, in ${findings.callsMade} calls`,
  );
  printLine(`    faults played            ${faults || 'none'}`);
  printLine(`    lost                     ${findings.lost}`);
  printLine(`    out of order             ${findings.outOfOrder}`);
  printLine(`    wrong bodies             ${findings.wrongBodies}`);
  printLine(`    second invoices          ${findings.secondInvoices}`);
  printLine(`    taken twice              ${findings.repeated} (their first answer was lost; safe to repeat)`);
  for (const problem of findings.problems.slice(0, 20)) printLine(`    ! ${problem}`);
  printLine();
  printLine(passed ? '  PASSED: every report arrived, in order, exactly as it was recorded.' : '  FAILED');
  printLine();
  return passed;
}

/** Shows the progress of the tows: redrawn in place on a terminal, otherwise a line every two seconds. */

const ROWS_MAX = 24;
const REDRAW_MS = 200;
const LINE_MS = 2000;

const MARKS: Readonly<Record<ReportState, string>> = {
  pending: '·',
  sending: '>',
  accepted: '+',
  refused: '!',
  unknown: '?',
  waived: '-',
};

/** Shows the board until the returned function is called. */
function showProgress(board: DemoBoard, total: number): () => void {
  const redraws = isOutputTerminal();
  let drawnLines = 0;
  const draw = () => {
    const lines = redraws ? [...rows(board.tows()), overview(board.tows(), total)] : [overview(board.tows(), total)];
    if (redraws && drawnLines > 0) printText(`\u001b[${drawnLines}A\u001b[0J`);
    for (const line of lines) printLine(line);
    drawnLines = lines.length;
  };
  if (redraws)
    printLine(
      `  reports: ${Object.entries(MARKS)
        .map(([state, mark]) => `${mark} ${state}`)
        .join('   ')}\n`,
    );
  const timer = setInterval(draw, redraws ? REDRAW_MS : LINE_MS);
  return () => {
    clearInterval(timer);
    draw();
  };
}

/** Unfinished tows come first; rows beyond one screen are left out. */
function rows(tows: readonly TowView[]): string[] {
  const moving = tows.filter((tow) => !isFinished(tow));
  const finished = tows.filter(isFinished);
  const shown = tows.length <= ROWS_MAX ? tows : [...moving, ...finished].slice(0, ROWS_MAX);
  return shown.map((tow) => {
    const reports = tow.reports.map(({ kind, state, attempts }) => {
      const tries = attempts > 1 ? `(${attempts})` : '';
      return `${kind} ${MARKS[state]}${tries}`;
    });
    const row = `  ${tow.towing_reference_id.padEnd(20)} ${tow.state.padEnd(9)}  ${reports.join('  ')}`;
    // A wrapped line would break the redrawing.
    return row.slice(0, terminalWidth());
  });
}

function overview(tows: readonly TowView[], total: number): string {
  const counts = TOW_STATES.map((state) => `${state} ${tows.filter((tow) => tow.state === state).length}`);
  return `  ${tows.filter(isFinished).length}/${total} finished   ${counts.join('   ')}`;
}
