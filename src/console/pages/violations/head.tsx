import { Age, Plate, Ref } from '../../parts/text';
import { English } from '../../parts/english';
import { questionOf } from '../../../workflow/bulk-call';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { ViolationState } from '../../parts/violation-state';
import { WhyViolation } from '../../parts/why';
import type { Task } from '../../../contracts/records';
import { Folded } from '../tow/offer';
import type { ViolationModel } from './model';

/** Which violation it is, how it stands, and why it waits. */
export function Head({ model }: { model: ViolationModel }) {
  const { viewer, view, record, waiting, path, tasks } = model;
  const { words } = viewer;
  const isBad = waiting.kind === 'decision' || waiting.kind === 'held' || waiting.kind === 'gate';
  return (
    <header class="tow-head">
      <div class="head">
        <div class="row">
          <h1>
            <Ref>{view.violation_reference_id ?? view.id}</Ref>
          </h1>
          <ViolationState viewer={viewer} standing={record} />
        </div>
        <p class="row tow-ways">
          <span class="muted">
            {words.violations.heads.age} <Age viewer={viewer} since={view.created_at} />
          </span>
          <a href={`/api${path}`} class="button small">
            {words.violations.json}
          </a>
        </p>
      </div>
      <p class="tow-plate">
        <Plate plate={view.form.plateNumber} />
      </p>
      <p class={isBad ? 'why bad' : 'why'}>
        <span class="visually-hidden">{words.why.label}: </span>
        <WhyViolation viewer={viewer} waiting={waiting} />
      </p>
      {tasks
        .filter(({ actions }) => actions.includes('resolve'))
        .map((task) => (
          <Informing model={model} task={task} />
        ))}
    </header>
  );
}

export const formOfTask = (id: string) => `task-${id.replaceAll(/[^A-Za-z0-9]/g, '-')}`;

/** A task that only informs: whoever has seen it closes it. */
function Informing({ model: { viewer, failure, path }, task }: { model: ViolationModel; task: Task }) {
  const { towReports, violations } = viewer.words;
  const form = formOfTask(task.id);
  return (
    <section class="card informing" aria-label={violations.task}>
      <p>
        <English viewer={viewer}>{task.message}</English>
      </p>
      {viewer.may('dispatcher') && (
        <div class="offer" data-offer={questionOf(task)}>
          <Folded label={towReports.resolve} isOpen={failure?.form === form}>
            <PostForm
              viewer={viewer}
              action={`${path}/tasks/${encodeURIComponent(task.id)}/resolve`}
              label={towReports.resolve}
              question={questionOf(task)}
            >
              <Problem viewer={viewer} failure={failure} form={form} />
              <Field
                viewer={viewer}
                form={form}
                name="reason"
                label={towReports.resolveReason}
                rows={2}
                maxLength={500}
                failure={failure}
              />
              <p class="form-end">
                <button type="submit" class="main">
                  {towReports.resolve}
                </button>
              </p>
            </PostForm>
          </Folded>
        </div>
      )}
    </section>
  );
}
