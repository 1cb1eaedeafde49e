import type { Task } from '../../../contracts/records';
import { TASK_TYPES } from '../../../domain/tasks';
import type { LastError } from '../../../domain/waiting';
import type { ViolationRecord } from '../../../contracts/violations';
import { PAUSABLE_OPERATIONS, type Json, type JsonObject, type PausableOperation } from '../../../domain/vocabulary';
import { maskedJson } from '../../mask';
import { English } from '../../parts/english';
import { Plate, Ref } from '../../parts/text';
import { AllLastWords } from '../../parts/why';
import { oneOf, type Viewer } from '../../viewer';
import type { TaskRow } from './read';

/** What a task is about: all that is read before deciding. */

type Subject = Pick<Task, 'type' | 'report_id' | 'operation'>;

/** What happened, in the reader's language; of a type that is not known here, in general. */
export function wordsOfTask(viewer: Viewer, task: Subject) {
  const { taskTypes } = viewer.words;
  const type = oneOf(TASK_TYPES, task.type);
  const { title, advice } = type === null ? taskTypes.other : taskTypes.types[type];
  const kind = kindOf(task);
  return { title: title(kind === null ? '' : taskTypes.kinds[kind]), advice };
}

/** The kind of the report, with which its id begins, or the operation; null of a task that is about neither. */
function kindOf({ report_id: reportId, operation }: Subject): PausableOperation | null {
  return oneOf(PAUSABLE_OPERATIONS, reportId?.split('-')[0]) ?? operation ?? null;
}

/** Links to what a task is about. The first is where j and k go. */
export function About({ viewer, row: { task, tow, violation } }: { viewer: Viewer; row: TaskRow }) {
  const words = viewer.words.tasks;
  const ref = task.towing_reference_id;
  const violationId = task.violation_id;
  const delivery = deliveryIn(task);
  const plate = tow?.tow.plateNumber ?? violation?.violation.form.plateNumber ?? null;
  const isParked = task.type === 'invoice_parked';
  const isOfNothing = ref === undefined && violationId === undefined && delivery === null && !isParked;
  return (
    <p class="row tasks-about">
      {ref !== undefined && (
        <a href={`/tows/${encodeURIComponent(ref)}`} data-row-link>
          {words.tow} <Ref>{ref}</Ref>
        </a>
      )}
      {violationId !== undefined && (
        <a href={`/violations/${encodeURIComponent(violationId)}`} data-row-link={ref === undefined}>
          {words.violation} <Ref>{violation?.reference ?? violationId}</Ref>
        </a>
      )}
      {delivery !== null && (
        <a href={`/ops/deliveries/${encodeURIComponent(delivery)}`}>
          {words.delivery} <Ref>{delivery}</Ref>
        </a>
      )}
      {isParked && <a href="/ops/deliveries">{words.deliveries}</a>}
      {isOfNothing && (
        <a href="/ops" data-row-link>
          {words.ops}
        </a>
      )}
      {plate !== null && <Plate plate={plate} />}
      {plate === null && tow !== null && <span class="muted">{words.noPlate}</span>}
    </p>
  );
}

/** The delivery that a task is about stands in its id alone. */
function deliveryIn({ id, towing_reference_id: ref = '' }: Task): string | null {
  const subject = ref !== '' && id.endsWith(`.${ref}`) ? id.slice(0, -ref.length - 1) : id;
  return /^(?:delivery_failing|late_invoice|late_request)-(.+)$/.exec(subject)?.[1] ?? null;
}

/** What the service said last about it, in its own words. */
export function Said({ viewer, row }: { viewer: Viewer; row: TaskRow }) {
  const error = lastErrorOf(row);
  if (error === null) return null;
  return (
    <div class="tasks-said">
      <span class="muted">{viewer.words.tasks.said}: </span>
      <AllLastWords error={error} />
    </div>
  );
}

/** What the API says of the task, in English; not where that only repeats the words of the service. */
export function Original({ viewer, row }: { viewer: Viewer; row: TaskRow }) {
  const error = lastErrorOf(row);
  const isSaidAlready = error !== null && error.message !== '' && row.task.message.includes(error.message);
  if (isSaidAlready) return null;
  return (
    <p class="muted tasks-original" dir="ltr">
      <English viewer={viewer}>{row.task.message}</English>
    </p>
  );
}

function lastErrorOf({ report, violation }: TaskRow): LastError | null {
  return report?.lastError ?? violation?.lastError ?? null;
}

/** What goes to the service, without personal data. */
export function Sent({ viewer, row: { tow, report, violation } }: { viewer: Viewer; row: TaskRow }) {
  const words = viewer.words.tasks;
  const body = report?.body ?? (violation && formOf(violation));
  if (body === null) return null;
  const plates = [tow?.tow.plateNumber, violation?.violation.form.plateNumber, body['plate_number']];
  const known = plates.filter((plate) => typeof plate === 'string');
  return (
    <details class="tasks-sent">
      <summary>{words.sent}</summary>
      <p class="hint">{words.sentHint}</p>
      <pre tabindex={0} aria-label={words.sent}>
        {maskedJson(body, known)}
      </pre>
      {report !== null && tow !== null && (
        <p>
          <a href={`/tows/${encodeURIComponent(tow.tow.towingReferenceId)}#report-${report.id}`}>{words.attempts}</a>
        </p>
      )}
    </details>
  );
}

function formOf({ violation: { form } }: ViolationRecord): JsonObject {
  return Object.fromEntries(
    Object.entries<Json | undefined>({ ...form }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
}
