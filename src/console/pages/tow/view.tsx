import { page, part, type PageResult } from '../../page';
import { Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Checklist, Facts } from './facts';
import { Crew, Holds, Yard } from './dispatch';
import { TowHead } from './head';
import { Invoice } from './invoice';
import type { TowModel } from './model';
import { Link, Notes, Photos } from './notes';
import { Reports } from './reports';
import { Tasks, formOfDecision } from './decide';
import { Timeline } from './timeline';
import { DECISIONS } from '../../../domain/outbox/decisions';
import { FACT_EVENTS } from '../../../domain/vocabulary';
import { Problem } from '../../parts/problem';
import { formOfFact } from './fact-fields';

/** The page of a tow; after a refusal with the reason and what was entered. */
export function towPage(model: TowModel): PageResult {
  const { viewer, view } = model;
  return page(viewer.messages.tow.title({ reference: view.towing_reference_id }), contentOf(model), {
    httpStatus: statusOf(model),
    assets: ['relative-times.js', 'tow.js'],
  });
}

/**
 * The part that is loaded again when the tow has changed, and the answer to refused photos (upload.js). Forms in use are
 * kept (form.tsx).
 */
export function towPart(model: TowModel): PageResult {
  return part(contentOf(model), statusOf(model));
}

function contentOf(model: TowModel) {
  return (
    <>
      <Refusal model={model} />
      <Tow model={model} />
    </>
  );
}

function statusOf({ failure }: TowModel): number {
  return failure?.refusal.httpStatus ?? 200;
}

function Tow({ model }: { model: TowModel }) {
  const { viewer, view, path } = model;
  const { sections } = viewer.messages.tow;
  return (
    <div
      id="tow"
      class="tow"
      // Encoded, because spaces separate topics.
      data-watch={`tow:${encodeURIComponent(view.towing_reference_id)}`}
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
            <p class="muted">{viewer.messages.towDispatch.local}</p>
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

/** Links to the sections of the page. */
function Jumps({ model: { viewer, view } }: { model: TowModel }) {
  const { sections, onThisPage } = viewer.messages.tow;
  const hasInvoice = view.invoices.length > 0 || view.invoice_request !== null;
  const places = [
    ...(view.tasks.length > 0 ? [['tasks', sections.tasks] as const] : []),
    ['next', sections.next] as const,
    ['dispatch', sections.dispatch] as const,
    ['photos', sections.photos] as const,
    ['reports', sections.reports] as const,
    ...(hasInvoice ? [['invoice', viewer.messages.terms.operations.invoice] as const] : []),
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

/** No tow with this reference: not processed yet, or archived. */
export function missingTow(viewer: Viewer, ref: string): PageResult {
  const messages = viewer.messages.tow.missing;
  return page(
    messages.title,
    <div class="narrow">
      <h1>{messages.title}</h1>
      <p>{messages.text.rich({ reference: <Ref>{ref}</Ref> })}</p>
      <p>{messages.late}</p>
      <p>{messages.archived}</p>
      <p class="row">
        <a href="/board">{viewer.messages.common.board}</a>
        {!viewer.isInField && <a href="/ops/deliveries">{messages.deliveries}</a>}
      </p>
    </div>,
    { httpStatus: 404 },
  );
}

/**
 * The reason of a refusal, at the top of the page, because the form may be gone after a change of the tow. Invalid
 * fields are shown in the form instead (`FormProblem`). Outside the refreshed part, so that it stays.
 */
function Refusal({ model }: { model: TowModel }) {
  const { viewer, failure } = model;
  if (!failure || (failure.refusal.httpStatus === 422 && hasForm(model, failure.form))) return null;
  return <Problem viewer={viewer} failure={failure} form={failure.form} showsEntered />;
}

/** False for a form that is not allowed any more. */
function hasForm(model: TowModel, form: string): boolean {
  const { allowed, view } = model;
  const event = FACT_EVENTS.find((each) => formOfFact(each) === form);
  if (event) return allowed.some((fact) => fact.event === event && fact.allowed);
  return view.reports.every((report) => {
    const decision = DECISIONS.find((each) => formOfDecision(report, each) === form);
    return decision === undefined || report.decisions.includes(decision);
  });
}
