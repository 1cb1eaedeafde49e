import { medianOf, missesTarget, type Contender, type MeasurementRow } from './figures';
import type { Machine } from './machine';

/** A finished run. */
export interface MeasuredRun {
  readonly machine: Machine;
  readonly commit: string;
  /** ISO 8601 date. */
  readonly date: string;
  readonly command: string;
  readonly rounds: number;
  readonly rows: readonly MeasurementRow[];
  /** Markdown sections of workloads whose result is not a comparison. */
  readonly sections: readonly string[];
}

const HEADER = [
  '| workload | figure | towhook | range | (a) Express, BullMQ, axios | towhook ÷ (a) | (b) XADD | (c) call loop | target |',
  '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
];

/** The report of a run as Markdown. */
export function markdownOf(run: MeasuredRun): string {
  const { processor, cores, memoryGib, nodeVersion, redisVersion, loadBefore } = run.machine;
  return [
    '# Performance',
    '',
    '`npm run bench` wrote this page. [bench/README.md](../bench/README.md) describes every workload and every contender.',
    '',
    `- Date: ${run.date}`,
    `- Commit: ${run.commit}`,
    `- Command: \`${run.command}\``,
    `- Machine: ${processor}, ${cores} cores, ${memoryGib} GiB, Node ${nodeVersion}, Redis ${redisVersion}`,
    `- Load average before the run: ${loadBefore.toFixed(2)}`,
    `- Rounds: ${run.rounds}. Every value is the median of the rounds.`,
    '',
    ...(run.rows.length > 0 ? [...HEADER, ...run.rows.map(line), ''] : []),
    ...run.sections.flatMap((section) => [section, '']),
  ].join('\n');
}

function line(row: MeasurementRow): string {
  const cells = [
    row.workload,
    `${row.figure.label}${row.figure.unit === '' ? '' : `, ${row.figure.unit}`}`,
    cell(row, 'towhook'),
    range(row),
    cell(row, 'express'),
    ratio(row),
    cell(row, 'xadd'),
    cell(row, 'loop'),
    verdict(row),
  ];
  return `| ${cells.join(' | ')} |`;
}

function cell(row: MeasurementRow, contender: Contender): string {
  const value = medianOf(row, contender);
  return Number.isNaN(value) ? '–' : number(value, row.figure.digits);
}

/** The lowest and the highest round of towhook. */
function range(row: MeasurementRow): string {
  const values = row.values.towhook ?? [];
  if (values.length < 2) return '–';
  return `${number(Math.min(...values), row.figure.digits)}–${number(Math.max(...values), row.figure.digits)}`;
}

function ratio(row: MeasurementRow): string {
  const value = medianOf(row, 'towhook') / medianOf(row, 'express');
  return Number.isFinite(value) ? value.toFixed(2) : '–';
}

function verdict(row: MeasurementRow): string {
  const { target } = row.figure;
  if (target === undefined) return '';
  return missesTarget(row) ? `${target.text}: **missed**` : `${target.text}: holds`;
}

/** With separators between thousands. */
export function number(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
