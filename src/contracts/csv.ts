/**
 * One line of CSV (RFC 4180), every cell in quotes. A spreadsheet takes a cell that begins like a formula for one; an
 * apostrophe prevents that.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
