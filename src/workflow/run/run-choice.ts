import { RUN_ITEMS_MAX, type RunAction, type RunPreviewBody, type RunResult } from '../../contracts/ops/runs';
import type { Task } from '../../contracts/outbox/records';
import type { WebhookReaders } from '../../contracts/webhook/read-webhook';
import type { Delivery } from '../../domain/webhook/delivery';
import { invalid, type Decision, type Refusal } from '../../domain/refusal';
import { isEmptyFilter, type TaskFilter } from '../list-port';
import { questionOf } from '../outbox/decision-call';
import { readOr } from '../outbox/read-record';
import type { DeliveryStore, DifferenceStore, TaskStore } from '../ports';
import type { ChosenItem } from './run-port';
import { GONE, subjectOf } from './run-item';
import { DamagedRecord, UnusableRecord } from '../../domain/outbox/unusable-record';

/** The choice of the items of a run. The run carries out its action on exactly these. */

export interface ChoiceTools {
  readonly tasks: Pick<TaskStore, 'readMany' | 'ids'>;
  readonly deliveries: Pick<DeliveryStore, 'read' | 'ids'>;
  readonly differences: Pick<DifferenceStore, 'all'>;
  /** What a webhook must be to be acted on. */
  readonly readers: WebhookReaders;
}

type ItemChoice = Decision<{ readonly chosen: readonly ChosenItem[] }>;

/** Deliveries that are read at a time. */
const READ_AT_ONCE = 100;

/** The items that are named or filtered now. None is left out silently: refused if they are none or too many. */
export async function chosenBy(tools: ChoiceTools, asked: RunPreviewBody): Promise<ItemChoice> {
  const { type, kind, towing_reference_id: towingReferenceId, task_ids, delivery_ids, difference_id } = asked;
  const filter = { type, kind, towingReferenceId };
  const given = [
    ...Object.entries({ task_ids, delivery_ids, difference_id }).flatMap(([name, value]) => (value ? [name] : [])),
    ...(isEmptyFilter(filter) ? [] : ['filter']),
  ];
  const [name] = given;
  if (name === undefined) return refusedChoice('nothing_chosen', 'task_ids', NOTHING);
  if (given.length > 1) return refusedChoice('two_choices', name, 'must be given alone');
  const isReplay = asked.action === 'replay';
  if ((name === 'delivery_ids' || name === 'difference_id') !== isReplay) {
    return refusedChoice('field_invalid', 'action', isReplay ? 'needs deliveries' : 'needs tasks');
  }
  return isReplay ? deliveriesOf(tools, asked) : tasksOf(tools, asked, filter);
}

async function tasksOf(
  { tasks }: ChoiceTools,
  { action, task_ids: named }: RunPreviewBody,
  filter: TaskFilter,
): Promise<ItemChoice> {
  // By a filter the oldest first. One id more than allowed shows that there are too many.
  const found = named ?? (await tasks.ids(filter, RUN_ITEMS_MAX + 1));
  if (!named && found.length === 0) return refusedChoice('nothing_found', 'type', 'must be that of an open task');
  const ids = atMost([...new Set(found)], 'task_ids');
  if (!ids.ok) return ids;
  const open = new Map((await tasks.readMany(ids.ids)).map((task) => [task.id, task]));
  return { ok: true, chosen: ids.ids.map((id) => chosenTask(action, id, open.get(id) ?? null)) };
}

/** Of a kind of difference the oldest, as many as one run may have. The next run has the others. */
async function deliveriesOf(
  tools: ChoiceTools,
  { delivery_ids: named, difference_id: differenceId }: RunPreviewBody,
): Promise<ItemChoice> {
  const { deliveries, differences } = tools;
  const found = differenceId === undefined ? (named ?? []) : await deliveries.ids(differenceId, RUN_ITEMS_MAX);
  if (differenceId !== undefined && found.length === 0) {
    return refusedChoice('nothing_found', 'difference_id', 'must be that of a webhook that waits');
  }
  const ids = atMost([...new Set(found)], 'delivery_ids');
  if (!ids.ok) return ids;
  const expected = new Set((await differences.all()).flatMap(({ id, expected: by }) => (by ? [id] : [])));
  const chosen: ChosenItem[] = [];
  for (let at = 0; at < ids.ids.length; at += READ_AT_ONCE) {
    const some = ids.ids.slice(at, at + READ_AT_ONCE);
    // oxlint-disable-next-line eslint/no-await-in-loop
    const read = await Promise.all(some.map((id) => readOr(deliveries.read(id), null, UnusableRecord, DamagedRecord)));
    chosen.push(...some.map((id, place) => chosenDelivery(tools, id, read[place] ?? null, expected)));
  }
  return { ok: true, chosen };
}

/** `task` is null if it is not open. */
function chosenTask(action: RunAction, id: string, task: Task | null): ChosenItem {
  if (task === null) return { target: { ...ABOUT_NOTHING, id }, result: GONE };
  const target = {
    id,
    question: questionOf(task),
    type: task.type,
    towingReferenceId: task.towing_reference_id ?? null,
    reportId: task.report_id ?? null,
    violationId: task.violation_id ?? null,
  };
  if (action !== 'resolve' && subjectOf(target) === null) {
    return { target, result: refusal('nothing_to_decide', 'There is nothing to decide so about it.') };
  }
  if (task.actions.some((offered) => offered === action)) return { target, result: null };
  const offered = task.actions.join(', ') || 'it closes by itself';
  return { target, result: refusal('action_not_offered', `It can be decided so: ${offered}.`) };
}

/** One that would break the contract again is refused, with the rules that it breaks. */
function chosenDelivery(
  { readers }: ChoiceTools,
  id: string,
  delivery: Delivery | null,
  expected: ReadonlySet<string>,
): ChosenItem {
  if (delivery === null) return { target: { ...ABOUT_NOTHING, id }, result: GONE };
  const { kind, rawBody, state, differenceId, towingReferenceId } = delivery;
  const target = { ...ABOUT_NOTHING, id, type: kind, towingReferenceId };
  const read = readers[kind](rawBody);
  if (state !== 'differs' || read.kind === 'message' || expected.has(differenceId ?? ''))
    return { target, result: null };
  const rules = read.rules.map(({ field, rule }) => `${field}: ${rule}`).join('; ');
  return { target, result: refusal('still_differs', rules) };
}

const ABOUT_NOTHING = { question: '', type: '', towingReferenceId: null, reportId: null, violationId: null };
const NOTHING = 'must name at least one item';

function refusal(code: string, message: string): RunResult {
  return { outcome: 'refused', code, message };
}

function atMost(ids: readonly string[], field: string): Decision<{ readonly ids: readonly string[] }> {
  if (ids.length === 0) return refusedChoice('nothing_chosen', field, NOTHING);
  if (ids.length > RUN_ITEMS_MAX)
    return refusedChoice('too_many_items', field, `must be at most ${RUN_ITEMS_MAX} items`);
  return { ok: true, ids };
}

function refusedChoice(code: string, field: string, rule: string): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { ...invalid([{ field, rule }]).refusal, code } };
}
