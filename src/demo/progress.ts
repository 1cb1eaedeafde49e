import type { TowView } from '../contracts/operator';
import { TOW_STATES, type ReportState } from '../domain/vocabulary';
import { isOutputTerminal, printLine, printText, terminalWidth } from '../platform/terminal';
import { type DemoBoard, isFinished } from './board';

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
export function showProgress(board: DemoBoard, total: number): () => void {
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
