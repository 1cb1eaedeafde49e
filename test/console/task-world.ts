import { anchorOf } from '../../src/console/pages/tasks/model';
import { lateInvoiceTask, lateRequestTask, type NewTask } from '../../src/domain/ops/tasks';
import { openTask } from '../../src/domain/outbox/outbox-record';
import * as general from '../../src/domain/ops/tasks';
import { escalationTask, refusedTask } from '../../src/domain/outbox/escalate-entry';
import { recordsOf } from '../../src/store/outbox/records';
import { closeGeneralTask, openGeneralTask } from '../../src/store/ops/tasks';
import { orderKeyOf } from '../../src/workflow/transaction-port';
import { KEYS } from '../../src/store/keys';
import { answerHead, newTow, record } from '../operator/world';
import type { App } from '../support/app';
import { changeInStore, oddAnswer } from '../support/stores';
import type { PageResponse, Visitor } from './visitor';

/** Opens and decides tasks. Tasks are opened through the real stores; no worker runs. */

type Process = Pick<App, 'consoleUrl' | 'apiKey' | 'foundation'>;

/** Opens a task on a tow; returns the task id. */
export async function openOn({ foundation }: Pick<App, 'foundation'>, ref: string, task: NewTask): Promise<string> {
  await changeInStore(foundation.redis, ref, (draft, nowMs) => openTask(draft, task, nowMs));
  return `${task.subject}.${ref}`;
}

/** Opens a task on a violation; returns the task id. */
export async function openOnViolation({ foundation }: Pick<App, 'foundation'>, id: string, task: NewTask) {
  await recordsOf(foundation.redis).transact(orderKeyOf('violation', id), async (transaction) => {
    const draft = await transaction.violationById(id);
    if (draft) openTask(draft, task, transaction.nowMs);
  });
  return task.subject;
}

/** Opens a system task or a violation task; returns the task id. */
export async function openGeneral({ foundation }: Pick<App, 'foundation'>, task: NewTask): Promise<string> {
  await openGeneralTask(foundation.redis, task);
  return task.subject;
}

/** Closes a system or violation task, as the code that opened it does. */
export async function closeGeneral({ foundation }: Pick<App, 'foundation'>, id: string): Promise<void> {
  await closeGeneralTask(foundation.redis, id);
}

/** Creates a tow whose `started` report the service refused. */
export async function refusedTow(app: Process): Promise<{ ref: string; taskId: string }> {
  const ref = await newTow(app);
  await record(app, ref, 'started');
  const reportId = await answerHead(app, ref, 'refused');
  return { ref, taskId: `${reportId}.${ref}` };
}

const ODD_ANSWER = oddAnswer('detained');

const VIOLATION = { id: 'v', kind: 'violation', attempts: 3 } as const;

/** One task of each type, built by the domain functions. */
export const ONE_OF_EACH: readonly NewTask[] = [
  refusedTask({ id: 'started-1', kind: 'started', httpStatus: 400, message: 'no', hint: null }),
  escalationTask({ id: 'invoice-1', kind: 'invoice', attempts: 1 }, { why: 'unknown' }),
  escalationTask({ id: 'payment-1', kind: 'payment', attempts: 7 }, { why: 'given_up' }),
  general.differenceTask(ODD_ANSWER),
  general.differenceTask({ ...ODD_ANSWER, id: 'webhook.tow_request.1', source: 'webhook', name: 'tow_request' }),
  general.webhookElsewhereTask,
  general.connectionTask('get-token failed', { violationId: 'v' }),
  general.outageTask('HTTP 500'),
  general.pausedOperationTask('released', 'Forbidden'),
  general.recordsLostTask,
  general.invoiceMismatchTask(['tax']),
  general.provedBeforeCorrectionTask,
  general.rivalRequestTask,
  general.violationTwiceTask({ id: 'v', names: ['V-1', 'V-2'] }),
  general.twoViolationsTask({ id: 'v', otherId: 'w', reference: 'V-1' }),
  general.movedTowTask({ id: 'v', formerId: 'w', reference: 'V-1' }),
  general.failingDeliveryTask('d'),
  general.parkedInvoiceTask,
  lateInvoiceTask('d'),
  lateRequestTask('d', 'V-1'),
  general.archiveFailingTask('ENOSPC'),
  general.subscriptionGapTask({ id: 's', name: 'dispatch' }, 'tow:TW-1', { from: 'a', to: 'b' }),
  general.subscriptionPausedTask('s', 'dispatch'),
  refusedTask({ kind: 'violation', id: 'v', httpStatus: 400, message: 'no', hint: 'perhaps_already_accepted' }),
  escalationTask(VIOLATION, { why: 'unknown' }),
  escalationTask(VIOLATION, { why: 'given_up' }),
  escalationTask(VIOLATION, { why: 'active_ticket' }),
  escalationTask(VIOLATION, { why: 'ticket_refused', message: 'no' }),
  escalationTask(VIOLATION, { why: 'unchecked' }),
  escalationTask(VIOLATION, { why: 'images_missing' }),
  general.beforeCorrectionTask('v'),
  general.sharedReferenceTask({ id: 'v', otherId: 'w', reference: 'V-1' }),
];

export async function openIds({ foundation }: Pick<App, 'foundation'>): Promise<string[]> {
  return (await foundation.redis.zrange(KEYS.openTasks, '0', '-1')).toSorted();
}

/** The markup of a task's row; empty if the task is not on the page. */
export function rowOf({ html }: Pick<PageResponse, 'html'>, id: string): string {
  const rows = html.split('<li class="card tasks-item"').slice(1);
  const row = rows.find((each) => each.startsWith(` id="${anchorOf(id)}"`)) ?? '';
  return row.split('</ol><').at(0) ?? '';
}

/** The hidden fields of the form for a decision, without the form token and key; empty if there is no such form. */
export function hiddenOf(row: string, decision: string): Record<string, string> {
  const forms = row.split('<form ').slice(1);
  const form = forms.find((each) => each.includes(`name="decision" value="${decision}"`)) ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const named = fields.map(([, name = '', value = '']) => [name, unescaped(value)] as const);
  return Object.fromEntries(named.filter(([name]) => !name.startsWith('form_')));
}

/** Submits the form of a decision in a task's row with these typed fields. */
export async function decideBy(
  visitor: Visitor,
  { list = '/tasks', id, decision }: { list?: string; id: string; decision: string },
  typed: Readonly<Record<string, string>> = {},
): Promise<PageResponse> {
  const hidden = hiddenOf(rowOf(await visitor.get(list), id), decision);
  return visitor.post(list, { ...hidden, ...typed });
}

function unescaped(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
