import type { Failure } from '../../answers';
import { Age, Badge } from '../../parts/text';
import { About, Original, Said, Sent, wordsOfTask } from './about';
import { Actions, type ActionProps } from './actions';
import { BULK_FORM, canBeChosen } from './bulk-bar';
import { Mark } from './mark';

/** One task: what happened, what is known, and what can be done about it. */
export function TaskItem(props: ActionProps) {
  const { viewer, row, failure } = props;
  const { task, anchor } = row;
  const words = viewer.words.tasks;
  const { title, advice } = wordsOfTask(viewer, task);
  const isHinted = task.hint === 'perhaps_already_accepted';
  return (
    <li class="card tasks-item" id={anchor} tabindex={-1} aria-labelledby={`${anchor}-title`}>
      <div class="tasks-head">
        {canBeChosen(task) && viewer.may('dispatcher') && (
          <input
            type="checkbox"
            form={BULK_FORM}
            name="chosen"
            value={task.id}
            checked={wasChosen(failure, task.id)}
            aria-label={viewer.words.bulk.choose(`${title}, ${task.towing_reference_id ?? task.violation_id ?? ''}`)}
          />
        )}
        <h2 id={`${anchor}-title`}>{title}</h2>
        <About viewer={viewer} row={row} />
        {task.opened_at !== undefined && (
          <p class="tasks-age">
            <span class="muted">{words.age}</span> <Age viewer={viewer} since={task.opened_at} />
          </p>
        )}
      </div>
      {isHinted && (
        <p class="tasks-hint">
          <Badge tone="wait">!</Badge> {viewer.words.towReports.hints.perhaps_already_accepted}
        </p>
      )}
      <Said viewer={viewer} row={row} />
      <p>{advice}</p>
      <Original viewer={viewer} row={row} />
      <Sent viewer={viewer} row={row} />
      <Actions {...props} />
      <Mark viewer={viewer} row={{ anchor, now: 'same' }} />
    </li>
  );
}

/** Whoever was refused does not tick everything again. */
function wasChosen(failure: Failure | null, taskId: string): boolean {
  return failure?.form === BULK_FORM && failure.entered.getAll('chosen').includes(taskId);
}
