import { Plate, Written } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** What was corrected, from what to what. */
export function Corrected({ viewer, fields }: { viewer: Viewer; fields: unknown }) {
  const { towReports, timeline } = viewer.words;
  if (typeof fields !== 'object' || fields === null) return null;
  const labels = new Map<string, string>(Object.entries(towReports.fields));
  return (
    <ul class="corrected muted">
      {Object.entries(fields).map(([name, change]: [string, unknown]) => (
        <li>
          {labels.get(name) ?? name}: <Value name={name} value={valueIn(change, 'new')} /> ({timeline.words.was}{' '}
          <Value name={name} value={valueIn(change, 'old')} />)
        </li>
      ))}
    </ul>
  );
}

function Value({ name, value }: { name: string; value: string }) {
  return name === 'plate_number' ? <Plate plate={value} /> : <Written>{value}</Written>;
}

function valueIn(change: unknown, which: 'old' | 'new'): string {
  const entries = typeof change === 'object' && change !== null ? Object.entries(change) : [];
  const value: unknown = new Map<string, unknown>(entries).get(which);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
}
