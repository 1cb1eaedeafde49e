import type { Points } from '../../../workflow/figures-port';
import type { Viewer } from '../../viewer';
import type { Chart } from './chart-lines';

/** A figure of a chart as it is written: `3.2`, `140 ms`, `1.4 s`, `5 min 10 s`. */
export function valueText({ formats, words }: Viewer, unit: Chart['unit'], value: number): string {
  if (unit === 'count') return formats.number(value);
  if (value < 1000) return `${formats.number(Math.round(value))} ${words.opsCharts.ms}`;
  if (value < 60_000) return `${formats.number(value / 1000)} ${formats.duration(1000).split(' ')[1] ?? ''}`;
  return formats.duration(value);
}

/** The last point of a line that is known, and where it stands. */
export function latestOf(points: Points): { readonly at: number; readonly value: number } | null {
  const at = points.findLastIndex((value) => value !== null);
  const value = points[at] ?? null;
  return value === null ? null : { at, value };
}
