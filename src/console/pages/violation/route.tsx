import {
  missingRecord,
  page,
  part,
  redirect,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageVisit,
  type PageTools,
} from '../../page';
import { ROUTES } from '../../../contracts/operator-routes';
import { CLEARABLE_FIELDS } from '../../../contracts/violation/violation-input';
import { DECISIONS } from '../../../domain/outbox/decisions';
import { Problem } from '../../parts/problem';
import { Decide, decisionForms, IMAGES_FORM, questionOn } from './decide';
import { Images, Reported } from './reported';
import { isConcluded, readModel, readViolation, type ViolationModel } from './model';
import { Attempts, Service, Ticket, Tows, Warnings } from './outcome';
import { PAGES, violationPath } from '../../page-table';
import { violationDecisionCall, questionOf } from '../../../workflow/outbox/decision-call';
import { refusalOfUpload, submit } from '../../api-calls';
import { bodyOf, changedIn, unchangedAsNow, uploadOf } from '../../forms';
import { decisionBody, submitResolve, ResolveForm, taskMessages } from '../../parts/decisions';
import { Age, Plate, Ref, English } from '../../parts/text';
import { LiveForm } from '../../parts/form';
import { ViolationState } from '../../parts/states';
import { WhyViolation } from '../../parts/why';
import type { Task } from '../../../contracts/outbox/records';

/** The page, with what was refused. */
type ShowViolation = (visit: PageVisit, failure?: FormFailure | null) => Promise<PageResult>;

/** The page of one violation, and everything that can be decided there. */
export function serveViolation(pages: Pages, tools: PageTools): void {
  const show: ShowViolation = async (visit, failure = null) => {
    const model = await readModel(tools, visit, failure);
    if (!model) return missingRecord('violation', visit.params('id'));
    const content = (
      <>
        <LostProblem model={model} />
        <Violation model={model} />
      </>
    );
    const { view, viewer } = model;
    const httpStatus = failure?.refusal.httpStatus ?? 200;
    if (visit.wantsPart) return part(content, httpStatus);
    return page(viewer.messages.violations.pageTitle({ name: view.violation_reference_id ?? view.id }), content, {
      httpStatus,
      assets: ['relative-times.js', 'tow.js'],
    });
  };
  pages.get(PAGES.violation.path, PAGES.violation.role, (visit) => show(visit));
  serveDecisions(pages, { ...tools, show });
  serveImages(pages, { ...tools, show });
}

/**
 * The reason of a refusal whose form is not on the page any more, with the values that the user changed. Outside the
 * refreshed part, so that it stays.
 */
function LostProblem({ model }: { model: ViolationModel }) {
  const failure = unchangedAsNow(model.failure);
  if (failure === null || [...decisionForms(model), ...taskForms(model)].includes(failure.form)) return null;
  return <Problem viewer={model.viewer} failure={failure} form={failure.form} showsEntered />;
}

function Violation({ model }: { model: ViolationModel }) {
  const { viewer, view, path } = model;
  const { terms } = viewer.messages;
  return (
    <div
      id="violation"
      class="tow violation"
      data-watch={`violation:${encodeURIComponent(view.id)}`}
      hx-get={path}
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
    >
      <Head model={model} />
      <div class="columns">
        <div class="stack">
          {!isConcluded(model) && viewer.may('dispatcher') && <Decide model={model} />}
          <Reported model={model} />
          <Images model={model} />
          <Attempts model={model} />
        </div>
        <div class="stack">
          <Warnings model={model} />
          <Service model={model} />
          <Tows model={model} />
          <Ticket model={model} />
          {!isConcluded(model) && !viewer.may('dispatcher') && (
            <p class="muted">{viewer.messages.tasks.mayNot({ role: terms.roles.dispatcher })}</p>
          )}
        </div>
      </div>
    </div>
  );
}

type ViolationPageTools = PageTools & { readonly show: ShowViolation };

/** What people decide about a violation, and the tasks about it that only inform. */
function serveDecisions(pages: Pages, tools: ViolationPageTools): void {
  for (const action of DECISIONS) {
    pages.post(`/violations/:id/${action}`, 'dispatcher', async (posted) => {
      const id = posted.params('id');
      return submit(tools.api, posted, {
        ...violationDecisionCall(action, id),
        body: action === 'correct' ? correctionIn(posted.form) : decisionBody(action, posted.form),
        question: () => questionNow(tools, posted),
        form: action,
        next: violationPath(id),
        done: 'decided',
        again: (failure) => tools.show(posted, failure),
      });
    });
  }
  pages.post('/violations/:id/tasks/:task/resolve', 'dispatcher', (posted) =>
    submitResolve(tools, posted, { formOfTask, next: violationPath(posted.params('id')) }),
  );
}

/** Other images in place of those of a violation. */
function serveImages(pages: Pages, tools: ViolationPageTools): void {
  const { api, show } = tools;
  const route = ROUTES.replaceViolationImages;
  pages.upload('/violations/:id/images', 'dispatcher', async (visit) => {
    const params = { violation_id: visit.params('id') };
    const question = () => questionNow(tools, visit);
    const refusalOf = refusalOfUpload(api, { route, params, question });
    const answer = await api.form(route, { ...uploadOf(visit), params, refusalOf });
    if (answer.ok) return redirect(violationPath(answer.value.id), 'decided');
    return show(visit, { form: IMAGES_FORM, refusal: answer.refusal, entered: new URLSearchParams() });
  });
}

/** The body of a correction: only the changed fields, so that the record keeps exactly those as old and new. */
function correctionIn(form: URLSearchParams): Record<string, unknown> {
  const changed = changedIn(form);
  const body = bodyOf(form, { only: changed, numbers: ['latitude', 'longitude'] });
  // The API refuses an empty required field and names it.
  const emptied = changed.filter((name) => !(name in body));
  const { date, isSaudi } = body;
  return {
    ...Object.fromEntries(emptied.map((name) => [name, CLEARABLE_FIELDS.includes(name) ? null : ''])),
    ...body,
    ...(date === undefined ? {} : { date: withOffset(String(date)) }),
    ...(isSaudi === undefined ? {} : { isSaudi: isSaudi === 'true' }),
  };
}

/** What is asked about the violation of the form by now. */
async function questionNow(tools: ViolationPageTools, visit: PageVisit): Promise<string | null> {
  const view = await readViolation(tools, visit);
  return view && questionOn(view);
}

/** Riyadh time as a browser enters it, to the second and with its offset as ISO 8601 has it. */
function withOffset(entered: string): string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(entered) ? `${entered}:00+03:00` : `${entered}+03:00`;
}

/** Which violation it is, how it stands, and why it waits. */
function Head({ model }: { model: ViolationModel }) {
  const { viewer, view, waiting, path } = model;
  const { messages } = viewer;
  const isBad = waiting.kind === 'decision' || waiting.kind === 'held' || waiting.kind === 'blocked';
  return (
    <header class="tow-head">
      <div class="head">
        <div class="row">
          <h1>
            <Ref>{view.violation_reference_id ?? view.id}</Ref>
          </h1>
          <ViolationState viewer={viewer} status={view} />
        </div>
        <p class="row tow-ways">
          <span class="muted">
            {messages.violations.heads.age} <Age viewer={viewer} since={view.created_at} />
          </span>
          {!viewer.isInField && (
            <a href={`/api${path}`} class="button small">
              {messages.violations.json}
            </a>
          )}
        </p>
      </div>
      <p class="tow-plate">
        <Plate plate={view.form.plateNumber} />
      </p>
      <p class={isBad ? 'why bad' : 'why'}>
        <span class="visually-hidden">{messages.why.label}: </span>
        <WhyViolation viewer={viewer} waiting={waiting} />
      </p>
      {informing(model).map((task) => (
        <InformationTask model={model} task={task} />
      ))}
    </header>
  );
}

const formOfTask = (id: string) => `task-${id.replaceAll(/[^A-Za-z0-9]/g, '-')}`;

function informing({ view }: ViolationModel): Task[] {
  return view.tasks.filter(({ actions }) => actions.includes('resolve'));
}

/** The names of the forms of the tasks that only inform. */
function taskForms(model: ViolationModel): string[] {
  return model.viewer.may('dispatcher') ? informing(model).map(({ id }) => formOfTask(id)) : [];
}

/** A task that only informs; its form closes it. */
function InformationTask({ model, task }: { model: ViolationModel; task: Task }) {
  const { viewer } = model;
  const { title, advice } = taskMessages(viewer, task);
  return (
    <section class="card informing" aria-label={viewer.messages.violations.task}>
      <p class="tow-task-words">{title}</p>
      <p>
        <English viewer={viewer}>{task.message}</English>
      </p>
      <p class="muted">{advice}</p>
      {viewer.may('dispatcher') && (
        <LiveForm model={model} id={`live-${formOfTask(task.id)}`} about={questionOf(task)}>
          <ResolveForm model={model} task={task} form={formOfTask(task.id)} />
        </LiveForm>
      )}
    </section>
  );
}
