import { Age, Plate, Ref, English } from '../../parts/text';
import { questionOf } from '../../../workflow/outbox/decision-call';
import { ViolationState } from '../../parts/states';
import { WhyViolation } from '../../parts/why';
import type { Task } from '../../../contracts/outbox/records';
import { ResolveForm, taskMessages } from '../../parts/decisions';
import type { ViolationModel } from './model';

/** Which violation it is, how it stands, and why it waits. */
export function Head({ model }: { model: ViolationModel }) {
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

export const formOfTask = (id: string) => `task-${id.replaceAll(/[^A-Za-z0-9]/g, '-')}`;

function informing({ view }: ViolationModel): Task[] {
  return view.tasks.filter(({ actions }) => actions.includes('resolve'));
}

/** The names of the forms of the tasks that only inform. */
export function taskForms(model: ViolationModel): string[] {
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
        <div class="live-form" data-live-form={questionOf(task)}>
          <ResolveForm model={model} task={task} form={formOfTask(task.id)} />
        </div>
      )}
    </section>
  );
}
