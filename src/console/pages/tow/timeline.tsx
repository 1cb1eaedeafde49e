import { riyadhDate } from '../../../domain/moment';
import { AttemptAnswer, AttemptBadge } from '../../parts/attempts';
import { Written } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { happeningsOf, type Happening } from './moments';
import type { TowModel } from './model';
import { Details, titleOf, toneOf } from './timeline-entry';

/** Everything that happened to the tow: what the service did, what people did, every try; by days in Riyadh. */
export function Timeline({ model }: { model: TowModel }) {
  const { viewer } = model;
  const days = byDay(happeningsOf(model.record));
  return (
    <section class="card" id="timeline" aria-labelledby="timeline-title">
      <div class="head">
        <h2 id="timeline-title">{viewer.words.tow.sections.timeline}</h2>
        <p class="muted">{viewer.words.timeline.newestFirst}</p>
      </div>
      {days.map(({ day, happenings }) => (
        <>
          <h3 class="timeline-day">{viewer.formats.date(`${day}T12:00:00+03:00`)}</h3>
          <ol class="timeline">
            {happenings.map((happening) => (
              <Row model={model} happening={happening} />
            ))}
          </ol>
        </>
      ))}
    </section>
  );
}

function byDay(happenings: readonly Happening[]) {
  const days: { readonly day: string; readonly happenings: Happening[] }[] = [];
  for (const happening of happenings) {
    const day = riyadhDate(happening.atMs);
    const last = days.at(-1);
    if (last?.day === day) last.happenings.push(happening);
    else days.push({ day, happenings: [happening] });
  }
  return days;
}

function Row({ model, happening }: { model: TowModel; happening: Happening }) {
  const { viewer } = model;
  return happening.kind === 'entry' ? (
    <li class={`moment ${toneOf(happening.entry)}`}>
      <Time viewer={viewer} atMs={happening.atMs} />
      <div>
        <p>
          {titleOf(model, happening.entry)}
          <Who viewer={viewer} by={happening.entry['by']} />
        </p>
        <Details model={model} entry={happening.entry} />
      </div>
    </li>
  ) : (
    <li class={`moment ${happening.entry === null ? 'try' : toneOf(happening.entry)}`}>
      <Time viewer={viewer} atMs={happening.atMs} />
      <Tries model={model} happening={happening} />
    </li>
  );
}

function Tries({ model, happening }: { model: TowModel; happening: Extract<Happening, { kind: 'attempts' }> }) {
  const { viewer } = model;
  const { timeline, terms } = viewer.words;
  const { report, run, entry, from, to } = happening;
  const name = terms.facts[report.kind];
  const tries = from === to ? timeline.attempt(name, to) : timeline.attempts(name, from, to);
  return (
    <div>
      <p>{entry === null ? tries : titleOf(model, entry)}</p>
      <p class="muted">
        {entry === null ? <AttemptBadge viewer={viewer} attempt={run.last} /> : <>{tries} ·</>}{' '}
        <AttemptAnswer viewer={viewer} attempt={run.last} />
        {run.count === 1 && run.last.duration_ms !== undefined && (
          <>
            {' · '}
            <bdi dir="ltr">{viewer.formats.number(run.last.duration_ms)} ms</bdi>
          </>
        )}
      </p>
    </div>
  );
}

/** To the second: what follows in one minute must not seem to be one moment. */
function Time({ viewer, atMs }: { viewer: Viewer; atMs: number }) {
  const at = new Date(atMs).toISOString();
  const { formats } = viewer;
  return (
    <time datetime={at} title={`${formats.moment(at)} · ${formats.hover(at)}`} dir="ltr">
      {formats.clockTime(at).replace(/\.\d+$/, '')}
    </time>
  );
}

function Who({ viewer, by }: { viewer: Viewer; by: unknown }) {
  if (typeof by !== 'string' || by === '') return null;
  return (
    <span class="muted">
      {' '}
      · {viewer.words.common.by} <Written>{by}</Written>
    </span>
  );
}
