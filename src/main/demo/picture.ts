import type { TowView } from '../../contracts/operator';
import { TOW_STATES, type ReportState } from '../../domain/vocabulary';
import { isTerminal, printLine, printText, terminalWidth } from '../../platform/terminal';
import type { Board } from './board';
import { isFinished } from './board';

/** The picture of the tows moving: redrawn in place on a terminal, a line now and then elsewhere. */

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

/** Draws the board until the returned function is called, which leaves the last state standing. */
export function startPicture(board: Board, total: number): () => void {
  const inPlace = isTerminal();
  let drawnLines = 0;
  const draw = () => {
    const lines = inPlace ? [...rows(board.tows()), overview(board.tows(), total)] : [overview(board.tows(), total)];
    if (inPlace && drawnLines > 0) printText(`\u001b[${drawnLines}A\u001b[0J`);
    for (const line of lines) printLine(line);
    drawnLines = lines.length;
  };
  if (inPlace)
    printLine(
      `  reports: ${Object.entries(MARKS)
        .map(([state, mark]) => `${mark} ${state}`)
        .join('   ')}\n`,
    );
  const timer = setInterval(draw, inPlace ? REDRAW_MS : LINE_MS);
  return () => {
    clearInterval(timer);
    draw();
  };
}

/** The tows that move come before those that are done; more than a screen of them is cut. */
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
    // A line that wraps would break the redrawing.
    return row.slice(0, terminalWidth());
  });
}

function overview(tows: readonly TowView[], total: number): string {
  const counts = TOW_STATES.map((state) => `${state} ${tows.filter((tow) => tow.state === state).length}`);
  return `  ${tows.filter(isFinished).length}/${total} finished   ${counts.join('   ')}`;
}
