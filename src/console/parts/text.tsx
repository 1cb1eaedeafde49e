import { bothScripts } from '../../domain/plate';
import type { Viewer } from '../viewer';

/** Longer than what the service hands out: the webhook takes references of any length. */
const LONG_REF = 28;
const LONG_PLATE = 16;

/**
 * A reference, an id, a code: left to right in both languages. It is not broken into its parts, unless it is so long that
 * it would not fit; then it also is on hover, for where it is shown in part.
 */
export function Ref({ children }: { children: string }) {
  if (children.length <= LONG_REF) return <bdi class="ref">{children}</bdi>;
  return (
    <bdi class="ref long" title={children}>
      {children}
    </bdi>
  );
}

/** What somebody wrote, in whatever language they did. */
export function Written({ children }: { children: string }) {
  return <bdi dir="auto">{children}</bdi>;
}

/** Of a text that is shown in part. */
const WORDS_SHOWN = 200;

/** The beginning of a long text, for where there is room for a sentence; the whole of it on hover. */
export function Begun({ children }: { children: string }) {
  if (children.length <= WORDS_SHOWN) return <Written>{children}</Written>;
  return (
    <bdi dir="auto" title={children}>
      {beginOf(children)}
    </bdi>
  );
}

/** A text of any length: of a long one the beginning, and the rest to be folded out. Never within a paragraph. */
export function Foldable({ children }: { children: string }) {
  if (children.length <= WORDS_SHOWN) return <Written>{children}</Written>;
  return (
    <details class="foldable">
      <summary dir="auto">{beginOf(children)}</summary>
      <Written>{children}</Written>
    </details>
  );
}

function beginOf(words: string): string {
  return `${words.slice(0, WORDS_SHOWN - 40)}…`;
}

/** A moment in Riyadh time; UTC and the Hijri date on hover. */
export function Moment({ viewer, at, withDate = true }: { viewer: Viewer; at: string; withDate?: boolean }) {
  const { formats } = viewer;
  return (
    <time datetime={at} title={formats.hover(at)}>
      {withDate ? formats.moment(at) : formats.clockTime(at)}
    </time>
  );
}

/** How long something has lasted by now; the moment it began on hover. */
export function Age({ viewer, since }: { viewer: Viewer; since: string }) {
  const { formats, nowMs } = viewer;
  return (
    <time datetime={since} title={`${formats.moment(since)} · ${formats.hover(since)}`}>
      {formats.duration(nowMs - Date.parse(since))}
    </time>
  );
}

/** A plate as it was entered, and a Saudi one in both scripts. */
export function Plate({ plate }: { plate: string }) {
  const scripts = bothScripts(plate);
  const isLong = plate.length > LONG_PLATE;
  if (!scripts) return <bdi class={isLong ? 'plate long' : 'plate'}>{plate}</bdi>;
  return (
    <span class="plate">
      <bdi dir="ltr">{scripts.latin}</bdi>
      <bdi dir="rtl" lang="ar">
        {scripts.arabic}
      </bdi>
    </span>
  );
}

/** A word with a colour that says how things stand; the colour alone never says it. */
export function Badge({ tone, children, title }: { tone: Tone; children: string; title?: string }) {
  return (
    <span class={`badge ${tone}`} {...(title === undefined ? {} : { title })}>
      {children}
    </span>
  );
}

/** good: done. busy: goes on by itself. wait: owed, not yet. bad: a person must look. quiet: of no concern. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'quiet';

/** Nothing to show, and what that means. */
export function Empty({ title, hint }: { title: string; hint?: string }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {hint !== undefined && <p class="muted">{hint}</p>}
    </div>
  );
}
