import { bothScripts } from '../../domain/tow/plate';
import { timestampMs } from '../../domain/timestamp';
import { ruleText } from '../messages';
import type { Viewer } from '../viewer';
import type { Child } from 'hono/jsx';

/** Longer than references of the service. The webhook accepts any length. */
const LONG_REF = 28;
const LONG_PLATE = 16;

/** A reference, id or code: left to right in both languages, in one line unless it is long. */
export function Ref({ children }: { children: string }) {
  if (children.length <= LONG_REF) return <bdi class="ref">{children}</bdi>;
  return (
    <bdi class="ref long" title={children}>
      {children}
    </bdi>
  );
}

/** Text that a person wrote, in any language. */
export function UserText({ children }: { children: string }) {
  return <bdi dir="auto">{children}</bdi>;
}

/** Characters shown of a long text. */
const TEXT_SHOWN = 200;

/** The beginning of a long text, all of it in the tooltip. */
export function Truncated({ children }: { children: string }) {
  if (children.length <= TEXT_SHOWN) return <UserText>{children}</UserText>;
  return (
    <bdi dir="auto" title={children}>
      {truncate(children)}
    </bdi>
  );
}

/** A text of any length; a long one can be unfolded. Must not be inside a paragraph. */
export function Foldable({ children }: { children: string }) {
  if (children.length <= TEXT_SHOWN) return <UserText>{children}</UserText>;
  return (
    <details class="foldable">
      <summary dir="auto">{truncate(children)}</summary>
      <UserText>{children}</UserText>
    </details>
  );
}

function truncate(text: string): string {
  return `${text.slice(0, TEXT_SHOWN - 40)}…`;
}

/** A timestamp in Riyadh time, with UTC and the Hijri date in the tooltip. */
export function Timestamp({ viewer, at, withDate = true }: { viewer: Viewer; at: string; withDate?: boolean }) {
  const { formats } = viewer;
  return (
    <time datetime={at} title={formats.hover(at)}>
      {withDate ? formats.timestamp(at) : formats.clockTime(at)}
    </time>
  );
}

/** The time and the author of an entry. */
export function By({ viewer, at, by }: { viewer: Viewer; at: string; by: string }) {
  return (
    <>
      <Timestamp viewer={viewer} at={at} /> · {viewer.messages.common.by.rich({ name: <UserText>{by}</UserText> })}
    </>
  );
}

/** The time since a timestamp, with the timestamp in the tooltip. It counts on on pages that load `relative-times.js`. */
export function Age(props: { readonly viewer: Viewer; readonly since: string; readonly nowMs?: number }) {
  const { viewer, since, nowMs = viewer.nowMs } = props;
  const { formats } = viewer;
  const elapsedMs = Math.max(0, nowMs - Date.parse(since));
  return (
    <time
      datetime={since}
      title={`${formats.timestamp(since)} · ${formats.hover(since)}`}
      data-elapsed={String(elapsedMs)}
      data-units={unitsOf(viewer)}
    >
      {formats.duration(elapsedMs)}
    </time>
  );
}

/** A plate as entered; a Saudi plate in both scripts. */
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

/** A coloured label. The colour never carries the meaning alone. */
export function Badge({ tone, children, title }: { tone: Tone; children: string; title?: string }) {
  return (
    <span class={`badge ${tone}`} {...(title === undefined ? {} : { title })}>
      {children}
    </span>
  );
}

/** good: done. busy: in progress. wait: not yet. bad: needs a person. quiet: neutral. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'quiet';

/** A placeholder for an empty list, with a hint. */
export function Empty({ title, hint }: { title: string; hint?: string }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {hint !== undefined && <p class="muted">{hint}</p>}
    </div>
  );
}

interface ShownOnceProps {
  readonly label: string;
  /** Null: it was shown before. */
  readonly text: string | null;
  readonly messages: Readonly<Record<'once' | 'shownBefore' | 'shownBeforeHint', string>>;
  readonly children?: Child;
}

/** A key or secret that is shown this once. */
export function ShownOnce({ label, text, messages, children }: ShownOnceProps) {
  return (
    <div class="card shown-key">
      {text === null ? (
        <Empty title={messages.shownBefore} hint={messages.shownBeforeHint} />
      ) : (
        <>
          <p role="status">{messages.once}</p>
          <label for="shown-key">{label}</label>
          <input id="shown-key" value={text} dir="ltr" readonly autocomplete="off" spellcheck={false} />
        </>
      )}
      {children}
    </div>
  );
}

/**
 * The rule in the language of the page, with a timestamp in it as Riyadh time, a size in its unit and fields by `labelOf`;
 * or in English and marked so when it has no translation.
 */
export function ruleIn(viewer: Viewer, rule: string, labelOf: (field: string) => string = (field) => field) {
  const shown = (limit: string) => {
    const bytes = /^(\d+) bytes$/.exec(limit)?.[1];
    if (bytes !== undefined) return viewer.formats.bytes(Number(bytes));
    return timestampMs(limit) === null ? limit : viewer.formats.timestamp(limit);
  };
  const fieldsShown = (names: readonly string[]) => viewer.formats.either(names.map(labelOf));
  return ruleText(viewer.messages, rule, shown, fieldsShown) ?? <English viewer={viewer}>{rule}</English>;
}

/** English text within a page of any language. */
export function English({ viewer, children }: { viewer: Viewer; children: string }) {
  if (viewer.language === 'en') return <>{children}</>;
  return (
    <bdi lang="en" dir="ltr">
      {children}
    </bdi>
  );
}

/** Stays in the sentence of a countdown, for the script to fill in. */
const TIME_LEFT = '{time}';
const SECOND_MS = 1000;

/**
 * The time left until a timestamp, in a sentence, with the timestamp in the tooltip. The sentence has another form for
 * the last second and after it: no time is left then to put into it. Pages that show it load `relative-times.js`.
 */
export function Countdown(props: {
  readonly viewer: Viewer;
  readonly atMs: number;
  readonly sentence: { readonly in: (values: { time: string }) => string; readonly now: string };
}) {
  const { viewer, atMs, sentence } = props;
  const { formats, nowMs } = viewer;
  const iso = new Date(atMs).toISOString();
  const left = atMs - nowMs;
  return (
    <time
      datetime={iso}
      title={`${formats.timestamp(iso)} · ${formats.hover(iso)}`}
      data-countdown={String(Math.max(0, left))}
      data-units={unitsOf(viewer)}
      data-over={sentence.now}
      data-sentence={sentence.in({ time: TIME_LEFT })}
    >
      {left < SECOND_MS ? sentence.now : sentence.in({ time: formats.duration(left) })}
    </time>
  );
}

/** The units of `relative-times.js`. */
function unitsOf({ messages: { units } }: Viewer): string {
  return [units.days, units.hours, units.minutes, units.seconds].join('|');
}

/** A section with a heading. */
export function Card({ id, title, children }: { id: string; title: string; children: Child }) {
  return (
    <section class="card" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

/** A term and its value. */
export function Fact({ label, children }: { label: string; children: Child }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Coordinates with links to maps. Nothing is loaded from another site, and no referrer is sent. */
export function Coordinates({ viewer, latitude, longitude }: { viewer: Viewer; latitude: number; longitude: number }) {
  const { tow: messages } = viewer.messages;
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=18/${latitude}/${longitude}`;
  return (
    <>
      <Ref>{`${latitude}, ${longitude}`}</Ref>
      <span class="tow-maps">
        <a href={map} rel="noreferrer">
          {messages.openMap} <span class="muted">{messages.openMapHint}</span>
        </a>
        <a href={`geo:${latitude},${longitude}`} rel="noreferrer">
          {messages.openDevice}
        </a>
      </span>
    </>
  );
}
