import { page, part, type Shown } from '../../answers';
import { Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Checklist } from './checklist';
import { Crew } from './crew';
import { Facts } from './facts';
import { TowHead } from './head';
import { Invoice } from './invoice';
import type { TowModel } from './model';
import { Link, Notes } from './notes';
import { Photos } from './photos';
import { Refusal } from './refusal';
import { Reports } from './reports';
import { Tasks } from './tasks';
import { Timeline } from './timeline';
import { Holds, Yard } from './yard';

/** The page of a tow; after a refusal with the reason and what was entered. */
export function towPage(model: TowModel): Shown {
  const { viewer, view, failure } = model;
  const content = (
    <>
      <Refusal model={model} />
      <Tow model={model} />
    </>
  );
  return page(viewer.words.tow.title(view.towing_reference_id), content, {
    httpStatus: failure?.refusal.httpStatus ?? 200,
    assets: ['countdown.js', 'tow.js'],
  });
}

/** What is fetched anew when the tow has changed; forms that somebody fills in stand all the same (offer.tsx). */
export function towPart(model: TowModel): Shown {
  return part(<Tow model={model} />);
}

function Tow({ model }: { model: TowModel }) {
  const { viewer, view, path } = model;
  const { sections } = viewer.words.tow;
  return (
    <div
      id="tow"
      class="tow"
      data-watch={`tow:${view.towing_reference_id}`}
      hx-get={path}
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
    >
      <TowHead model={model} />
      <Jumps model={model} />
      <Tasks model={model} />
      <div class="tow-columns">
        <div class="tow-next stack">
          <Facts model={model} />
        </div>
        <div class="tow-side">
          <Checklist model={model} />
          <section class="dispatch" id="dispatch" aria-labelledby="dispatch-title">
            <h2 id="dispatch-title">{sections.dispatch}</h2>
            <p class="muted">{viewer.words.towDispatch.local}</p>
            <Crew model={model} />
            <Yard model={model} />
            <Holds model={model} />
            <Notes model={model} />
            <Photos model={model} />
            <Link model={model} />
          </section>
        </div>
        <div class="tow-record stack">
          <Reports model={model} />
          <Invoice model={model} />
          <Timeline model={model} />
        </div>
      </div>
    </div>
  );
}

/** The page is long on a phone. */
function Jumps({ model: { viewer, view, record } }: { model: TowModel }) {
  const { sections, onThisPage } = viewer.words.tow;
  const hasInvoice = view.invoices.length > 0 || record.tow.invoiceRequest !== null;
  const places = [
    ...(record.tasks.length > 0 ? [['tasks', sections.tasks] as const] : []),
    ['next', sections.next] as const,
    ['dispatch', sections.dispatch] as const,
    ['photos', sections.photos] as const,
    ['reports', sections.reports] as const,
    ...(hasInvoice ? [['invoice', sections.invoice] as const] : []),
    ['timeline', sections.timeline] as const,
  ];
  return (
    <nav class="jumps" aria-label={onThisPage}>
      <ul class="chips">
        {places.map(([id, label]) => (
          <li>
            <a class="chip" href={`#${id}`}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** No such tow: it may not be here yet, or not any more. */
export function missingTow(viewer: Viewer, ref: string): Shown {
  const words = viewer.words.tow.missing;
  const [before = '', after = ''] = words.text('\n').split('\n');
  return page(
    words.title,
    <div class="narrow">
      <h1>{words.title}</h1>
      <p>
        {before}
        <Ref>{ref}</Ref>
        {after}
      </p>
      <p>{words.late}</p>
      <p>{words.archived}</p>
      <p class="row">
        <a href="/board">{viewer.words.tow.backToBoard}</a>
        <a href="/ops/deliveries">{words.deliveries}</a>
      </p>
    </div>,
    { httpStatus: 404 },
  );
}
