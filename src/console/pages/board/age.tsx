import type { Viewer } from '../../viewer';

const MINUTE_MS = 60_000;
const UNITS = [86_400_000, 3_600_000, MINUTE_MS] as const;

/** How long a tow has been in its state, in whole minutes; `board-ages.js` lets it grow while the page stands. */
export function TickingAge({ viewer, sinceMs, nowMs }: { viewer: Viewer; sinceMs: number; nowMs: number }) {
  const { formats } = viewer;
  const since = new Date(sinceMs).toISOString();
  return (
    <time datetime={since} title={`${formats.moment(since)} · ${formats.hover(since)}`} data-age>
      {ageText(viewer, nowMs - sinceMs)}
    </time>
  );
}

function ageText(viewer: Viewer, ageMs: number): string {
  const wholeMs = ageMs - (ageMs % MINUTE_MS);
  return wholeMs < MINUTE_MS ? viewer.words.board.now : viewer.formats.duration(wholeMs);
}

/** What the script needs to write ages as they are written here: `d|h|min|now`. */
export function ageWords(viewer: Viewer): string {
  const unitOf = (ms: number) => viewer.formats.duration(ms).split(' ')[1] ?? '';
  return [...UNITS.map(unitOf), viewer.words.board.now].join('|');
}
