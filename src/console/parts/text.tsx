import { bothScripts } from '../../domain/plate';
import type { Viewer } from '../viewer';

/** A reference, an id, a code: left to right in both languages, and never broken into its parts. */
export function Ref({ children }: { children: string }) {
  return <bdi class="ref">{children}</bdi>;
}

/** What somebody wrote, in whatever language they did. */
export function Written({ children }: { children: string }) {
  return <bdi dir="auto">{children}</bdi>;
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
  if (!scripts) return <bdi class="plate">{plate}</bdi>;
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
