import type { FormFailure } from '../../page';
import { Age, Badge, English, Plate, Ref } from '../../parts/text';
import { differencePath } from '../../page-table';
import { taskMessages } from '../../parts/decisions';
import { Actions, type ActionProps } from './actions';
import { BULK_FORM } from './bulk-bar';
import { Mark } from './live';
import type { Task } from '../../../contracts/outbox/records';
import type { EntryError } from '../../../domain/outbox/entry';
import type { TaskType } from '../../../domain/ops/tasks';
import type { Json, JsonObject } from '../../../domain/vocabulary';
import { maskedJson } from '../../mask';
import { FoldedErrorText } from '../../parts/error-text';
import type { Viewer } from '../../viewer';
import { canBeChosen, type TaskRow } from './model';
import type { ViolationView } from '../../../contracts/violation/violations';

/** One task, with its forms. */
export function TaskItem(props: ActionProps) {
  const { viewer, row, failure } = props;
  const { task, anchor } = row;
  const messages = viewer.messages.tasks;
  const { title, advice } = taskMessages(viewer, task);
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
            aria-label={viewer.messages.runs.choose({
              what: `${title}, ${task.towing_reference_id ?? task.violation_id ?? ''}`,
            })}
          />
        )}
        <h2 id={`${anchor}-title`}>{title}</h2>
        <About viewer={viewer} row={row} />
        {task.opened_at !== undefined && (
          <p class="tasks-age">
            <span class="muted">{messages.age}</span> <Age viewer={viewer} since={task.opened_at} />
          </p>
        )}
      </div>
      {isHinted && (
        <p class="tasks-hint">
          <Badge tone="wait">!</Badge> {viewer.messages.towReports.hints.perhaps_already_accepted}
        </p>
      )}
      <ServiceMessage viewer={viewer} row={row} />
      <p>{advice}</p>
      <Original viewer={viewer} row={row} />
      <Sent viewer={viewer} row={row} />
      <Actions {...props} />
      <Mark viewer={viewer} row={{ anchor, now: 'same' }} />
    </li>
  );
}

/** Restores the selection after a refused bulk decision. */
function wasChosen(failure: FormFailure | null, taskId: string): boolean {
  return failure?.form === BULK_FORM && failure.entered.getAll('chosen').includes(taskId);
}

/** Links to the subjects of a task. The shortcuts j and k use the first. */
function About({ viewer, row: { task } }: { viewer: Viewer; row: TaskRow }) {
  const messages = viewer.messages.tasks;
  const ref = task.towing_reference_id;
  const violationId = task.violation_id;
  const delivery = deliveryIn(task);
  const { tow, violation } = task;
  const plate = tow?.plate_number ?? violation?.form.plateNumber ?? null;
  const isParked = task.type === 'invoice_parked';
  const isElsewhere = task.type === 'webhook_elsewhere';
  const difference = task.difference_id;
  const isOfNothing =
    ref === undefined &&
    violationId === undefined &&
    delivery === null &&
    difference === undefined &&
    !isParked &&
    !isElsewhere;
  return (
    <p class="row tasks-about">
      {ref !== undefined && (
        <a href={`/tows/${encodeURIComponent(ref)}`} data-row-link>
          {viewer.messages.terms.tow} <Ref>{ref}</Ref>
        </a>
      )}
      {violationId !== undefined && (
        <a href={`/violations/${encodeURIComponent(violationId)}`} data-row-link={ref === undefined}>
          {viewer.messages.terms.operations.violation} <Ref>{violation?.violation_reference_id ?? violationId}</Ref>
        </a>
      )}
      {delivery !== null && !viewer.isInField && (
        <a href={`/ops/deliveries/${encodeURIComponent(delivery)}`}>
          {messages.delivery} <Ref>{delivery}</Ref>
        </a>
      )}
      {difference !== undefined && (
        <a href={differencePath(difference)} data-row-link>
          {viewer.messages.differences.heads.rules}
        </a>
      )}
      {isParked && <a href="/ops/deliveries">{viewer.messages.ops.tab.deliveries}</a>}
      {isElsewhere && (
        <a href="/ops/deliveries?other=true" data-row-link>
          {viewer.messages.deliveries.other}
        </a>
      )}
      {isOfNothing && (
        <a href="/ops" data-row-link>
          {viewer.messages.common.ops}
        </a>
      )}
      {plate !== null && <Plate plate={plate} />}
      {plate === null && tow !== null && <span class="muted">{messages.noPlate}</span>}
    </p>
  );
}

/** The id of the delivery that a task is about, which only the task id contains. */
function deliveryIn({ id, towing_reference_id: ref = '' }: Task): string | null {
  const subject = ref !== '' && id.endsWith(`.${ref}`) ? id.slice(0, -ref.length - 1) : id;
  return /^(?:delivery_failing|late_invoice|late_request)-(.+)$/.exec(subject)?.[1] ?? null;
}

/** The last error of the service. */
function ServiceMessage({ viewer, row }: { viewer: Viewer; row: TaskRow }) {
  const error = lastErrorOf(row);
  if (error === null) return null;
  return (
    <div class="tasks-said">
      <span class="muted">{viewer.messages.towReports.lastError}: </span>
      <FoldedErrorText viewer={viewer} error={error} />
    </div>
  );
}

/** Tasks whose title and advice contain all of the message but the code of the cause. */
const FOLDED: readonly string[] = ['connection', 'outage'] satisfies readonly TaskType[];

/** The English message of the API, unless it repeats the error of the service. */
function Original({ viewer, row }: { viewer: Viewer; row: TaskRow }) {
  const error = lastErrorOf(row);
  const isSaidAlready = error !== null && error.message !== '' && row.task.message.includes(error.message);
  if (isSaidAlready) return null;
  const message = (
    <p class="muted tasks-original" dir="ltr">
      <English viewer={viewer}>{row.task.message}</English>
    </p>
  );
  if (!FOLDED.includes(row.task.type)) return message;
  return (
    <details class="tasks-sent">
      <summary>{viewer.messages.tasks.original}</summary>
      {message}
    </details>
  );
}

function lastErrorOf({ task: { report, violation } }: TaskRow): EntryError | null {
  return report?.last_error ?? violation?.last_error ?? null;
}

/** The request body, without personal data. */
function Sent({ viewer, row: { task } }: { viewer: Viewer; row: TaskRow }) {
  const messages = viewer.messages.tasks;
  const { towing_reference_id: ref, tow, report, violation } = task;
  const body = report?.body ?? (violation && formOf(violation));
  if (body === null) return null;
  const plates = [tow?.plate_number, violation?.form.plateNumber, body['plate_number']];
  const known = plates.filter((plate) => typeof plate === 'string');
  return (
    <details class="tasks-sent">
      <summary>{messages.sent}</summary>
      <p class="hint">{messages.sentHint}</p>
      <pre tabindex={0} aria-label={messages.sent}>
        {maskedJson(body, known)}
      </pre>
      {report !== null && ref !== undefined && (
        <p>
          <a href={`/tows/${encodeURIComponent(ref)}#report-${report.id}`}>{messages.attempts}</a>
        </p>
      )}
    </details>
  );
}

function formOf({ form }: ViolationView): JsonObject {
  return Object.fromEntries(
    Object.entries<Json | undefined>({ ...form }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
}
