import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { anchorOf } from '../../src/console/pages/tasks/model';
import { rivalRequestTask } from '../../src/domain/ops/tasks';
import { newKey } from '../operator/client';
import { answerHead, newTow } from '../operator/world';
import { useApp } from '../support/app';
import { decideBy, openOn, refusedTow } from './task-world';
import { signedIn, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
const valuesAsked = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** Loads a task list; the returned function posts the page's own refresh and returns its markup. */
async function look(visitor: Visitor, list = '/tasks') {
  const { html } = await visitor.get(list);
  const vals = /hx-vals="([^"]*)"/.exec(html.slice(html.indexOf('id="tasks-live"')))?.[1] ?? '';
  const asked = valuesAsked.parse(JSON.parse(vals.replaceAll('&quot;', '"').replaceAll('&amp;', '&')));
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    for (const each of typeof value === 'string' ? [value] : value) form.append(name, each);
  }
  return async () => (await visitor.postRaw('/tasks/live', form.toString(), { 'hx-request': 'true' })).html;
}

const { gone, changed, fresh } = messagesIn('en').tasks;
const markFor = (taskId: string, now: string, text: string) =>
  `id="${anchorOf(taskId)}-now" role="status" data-now="${now}" hx-swap-oob="morph">${text}</p>`;

test('marks a task decided elsewhere and leaves unchanged tasks unmarked on refresh', async () => {
  const [decided, left] = [await refusedTow(app), await refusedTow(app)];
  const visitor = await signedIn(app);
  const since = await look(visitor);
  await decideBy(await signedIn(app), { id: decided.taskId, decision: 'retry' });
  const html = await since();
  expect(html).toContain(markFor(decided.taskId, 'gone', gone));
  expect(html).toContain(markFor(left.taskId, 'same', ''));
});

test('marks a task that was reopened with a new question on refresh', async () => {
  const { ref, taskId } = await refusedTow(app);
  const visitor = await signedIn(app);
  const since = await look(visitor);
  await decideBy(await signedIn(app), { id: taskId, decision: 'retry' });
  await answerHead(app, ref, 'refused');
  expect(await since()).toContain(markFor(taskId, 'changed', changed));
});

test('counts new tasks of the displayed task list only', async () => {
  await refusedTow(app);
  const visitor = await signedIn(app);
  const [all, rivals] = [await look(visitor), await look(visitor, '/tasks?type=rival_request')];
  expect(await all()).not.toContain('new task');
  const ref = await newTow(app);
  await openOn(app, ref, rivalRequestTask);
  await refusedTow(app);
  expect(await all()).toContain(fresh({ count: 2 }));
  expect(await rivals()).toContain(fresh({ count: 1 }));
  expect(await rivals()).toContain('href="/tasks?type=rival_request"');
});

test('refreshes the counts that the task list shows, and no others', async () => {
  const [decided] = [await refusedTow(app), await refusedTow(app)];
  const visitor = await signedIn(app);
  const since = await look(visitor, '/tasks?type=report_refused');
  await decideBy(await signedIn(app), { id: decided.taskId, decision: 'retry' });
  await openOn(app, await newTow(app), rivalRequestTask);
  const counts = [...(await since()).matchAll(/<span id="([^"]+)" hx-swap-oob="innerHTML">([^<]*)</g)];
  expect(counts.map(([, id, text]) => [id, text])).toEqual([
    ['tasks-total', messagesIn('en').tasks.shown({ count: 1 })],
    ['tasks-of-all', '2'],
    ['tasks-of-type-report_refused', '1'],
    ['tasks-of-kind-started', '1'],
    ['bulk-on-page', messagesIn('en').runs.scopes.page({ count: 1 })],
    ['bulk-matching', messagesIn('en').runs.scopes.filter({ count: 1 })],
  ]);
});

test('refreshes the number of matching tasks in the bulk bar of one tow, which has no count of its own', async () => {
  const { ref } = await refusedTow(app);
  const since = await look(await signedIn(app), `/tasks?tow=${ref}`);
  await openOn(app, ref, rivalRequestTask);
  const { page, filter } = messagesIn('en').runs.scopes;
  const html = await since();
  expect(html).toContain(`<span id="bulk-on-page" hx-swap-oob="innerHTML">${page({ count: 1 })}</span>`);
  expect(html).toContain(`<span id="bulk-matching" hx-swap-oob="innerHTML">${filter({ count: 2 })}</span>`);
});

test('asks for no counts of a bulk bar that a viewer does not have', async () => {
  await refusedTow(app);
  const since = await look(await signedIn(app, await newKey(app, 'viewer')), '/tasks?type=report_refused');
  expect(await since()).not.toContain('id="bulk-');
});

test.each(['//[', 'http://[', '', '/board?type=rival_request'])(
  'refreshes the unfiltered task list for the invalid list address "%s"',
  async (list) => {
    const visitor = await signedIn(app);
    const { html } = await visitor.get('/tasks');
    const token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const form = new URLSearchParams({ form_token: token, list }).toString();
    const response = await visitor.postRaw('/tasks/live', form, { 'hx-request': 'true' });
    expect(response.status).toBe(200);
    expect(response.html).toContain('&quot;list&quot;:&quot;/tasks&quot;');
  },
);
