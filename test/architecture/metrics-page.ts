import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/project';

/** A row of docs/operations/metrics.md. */
export interface DocumentedSeries {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly meaning: string;
}

const page = readFileSync(join(PROJECT, 'docs/operations/metrics.md'), 'utf8');

function cellsIn(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The series of towhook, in the order of the page. */
export const SERIES: readonly DocumentedSeries[] = [...page.matchAll(/^\| `towhook_.*$/gm)].map(([row]) => {
  const [name = '', type = '', labels = '', , meaning = ''] = cellsIn(row);
  return {
    name: name.replaceAll('`', ''),
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    meaning,
  };
});

/** The series of the process that the page names; prom-client makes more. */
export const PROCESS_SERIES: readonly string[] = [...page.matchAll(/^\| `((?:process|nodejs)_\w+)`/gm)].map(
  ([, name = '']) => name,
);
