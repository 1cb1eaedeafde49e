import type { Viewer } from '../viewer';

/**
 * How long it is until a moment; `countdown.js` counts it down where scripts run. The moment itself stands on hover.
 * Pages that show one load `countdown.js`.
 */
export function Countdown({ viewer, atMs }: { viewer: Viewer; atMs: number }) {
  const { formats, nowMs, words } = viewer;
  const iso = new Date(atMs).toISOString();
  const left = atMs - nowMs;
  return (
    <time
      datetime={iso}
      title={`${formats.moment(iso)} · ${formats.hover(iso)}`}
      data-countdown={String(Math.max(0, left))}
      data-units={UNITS.map((ms) => unitOf(formats.duration(ms))).join('|')}
      data-over={words.why.now}
    >
      {left > 0 ? formats.duration(left) : words.why.now}
    </time>
  );
}

const UNITS = [86_400_000, 3_600_000, 60_000, 1000] as const;

/** The unit of a duration of one: `1 h` is `h`. */
function unitOf(duration: string): string {
  return duration.split(' ')[1] ?? '';
}
