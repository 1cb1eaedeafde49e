// @ts-check
/** The numbers of a chart, as the table in it has them. */

/**
 * @typedef {object} ChartLine
 * @property {string} name
 * @property {string} tone the colour, by the name of its custom property
 * @property {boolean} isDashed
 * @property {(number | null)[]} points
 * @property {string[]} texts the same as they are written
 */

/**
 * @typedef {object} ChartTable
 * @property {number[]} seconds when each point begins, oldest first
 * @property {string[]} times the same as they are written
 * @property {ChartLine[]} lines
 */

/**
 * @param {HTMLElement} figure
 * @returns {ChartTable}
 */
export function readTable(figure) {
  // The table has the newest first.
  const rows = [...figure.querySelectorAll('tr[data-at]')].toReversed();
  const heads = [...figure.querySelectorAll('th[data-line]')];
  const cellsOf = (/** @type {number} */ column) => rows.map((row) => row.querySelectorAll('td')[column]);
  return {
    seconds: rows.map((row) => Number(row.getAttribute('data-at')) / 1000),
    times: rows.map((row) => row.querySelector('th')?.textContent ?? ''),
    lines: heads.map((head, column) => ({
      name: head.getAttribute('data-line') ?? '',
      tone: head.getAttribute('data-tone') ?? 'text',
      isDashed: head.hasAttribute('data-dashed'),
      points: cellsOf(column).map((cell) => numberOf(cell?.dataset['value'])),
      texts: cellsOf(column).map((cell) => cell?.textContent ?? ''),
    })),
  };
}

/** @param {string | undefined} text */
function numberOf(text) {
  return text === undefined ? null : Number(text);
}
