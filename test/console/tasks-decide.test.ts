import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { openTask } from '../../src/domain/outbox/outbox-record';
import { pausedOperationTask, rivalRequestTask } from '../../src/domain/ops/tasks';
import { answerHead, newTow, newViolation, violationOf } from '../operator/world';
import { newKey, towOf } from '../operator/client';
import { useApp } from '../support/app';
import { changeInStore } from '../support/stores';
import { decideBy, hiddenOf, openGeneral, openIds, openOn, refusedTow, rowOf } from './task-world';
import { signedIn, textOf, type Visitor } from './visitor';
import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { anchorOf } from '../../src/console/pages/tasks/model';

const app = useApp({ role: 'console' });

async function dispatcher() {
  return signedIn(app, await newKey(app, 'dispatcher'));
}
const firstReport = async (ref: string) => (await towOf(app, ref)).reports[0];

describe('console: report decisions in the task list', () => {
  test('sends a refused report again from the task list', async () => {
    const { ref, taskId } = await refusedTow(app);
    const visitor = await dispatcher();
    const response = await decideBy(visitor, { id: taskId, decision: 'retry' });
    expect(response.status).toBe(303);
    expect((await firstReport(ref))?.state).toBe('pending');
    const back = await visitor.get(response.location ?? '');
    expect(textOf(back.html)).toContain('It will be sent again.');
    expect(rowOf(back, taskId)).toBe('');
  });

  test('corrects only the changed fields of a report and sends it', async () => {
    const { ref, taskId } = await refusedTow(app);
    const before = await firstReport(ref);
    const visitor = await dispatcher();
    const hidden = hiddenOf(rowOf(await visitor.get('/tasks'), taskId), 'correct');
    const form = new URLSearchParams(hidden);
    for (const [name, value] of Object.entries(hidden)) if (name.startsWith('was-')) form.set(name.slice(4), value);
    form.set('plate_number', 'RSX 4321');
    const response = await visitor.post('/tasks', form);
    expect(response.status).toBe(303);
    const after = await firstReport(ref);
    expect(after).toMatchObject({ state: 'pending', body: { ...before?.body, plate_number: 'RSX 4321' } });
    const { timeline } = await towOf(app, ref);
    expect(timeline.at(-1)?.['fields']).toEqual({ plate_number: { old: 'ABJ 1234', new: 'RSX 4321' } });
  });

  test('shows the broken rule, the entered value and the open form after an invalid correction', async () => {
    const { ref, taskId } = await refusedTow(app);
    const visitor = await dispatcher();
    const response = await decideBy(visitor, { id: taskId, decision: 'correct' }, { latitude: '124.5' });
    expect(response.status).toBe(422);
    const row = rowOf(response, taskId);
    expect(row).toMatch(/<details name="decide-[^"]+" open/);
    expect(row).toMatch(/name="latitude" required[^>]*aria-invalid="true"[^>]*value="124.5"/);
    expect((await firstReport(ref))?.state).toBe('refused');
  });

  test('refuses a correction that changes no field with 422', async () => {
    const { taskId } = await refusedTow(app);
    const visitor = await dispatcher();
    const response = await decideBy(visitor, { id: taskId, decision: 'correct' });
    expect(response.status).toBe(422);
    expect(textOf(rowOf(response, taskId))).toContain('needs at least one of');
  });

  test.each([
    ['waive', 'waived'],
    ['accept', 'accepted'],
  ] as const)('requires a reason to %s a report, which is then %s', async (decision, state) => {
    const { ref, taskId } = await refusedTow(app);
    const visitor = await dispatcher();
    const without = await decideBy(visitor, { id: taskId, decision }, { reason: '  ' });
    expect(without.status).toBe(422);
    expect(rowOf(without, taskId)).toContain('aria-invalid="true"');
    expect((await decideBy(visitor, { id: taskId, decision }, { reason: 'confirmed by phone' })).status).toBe(303);
    expect(await firstReport(ref)).toMatchObject({ state, reason: 'confirmed by phone' });
  });

  test('redirects to the next row of the same task list after a decision', async () => {
    const [first, second] = [await refusedTow(app), await refusedTow(app)];
    const visitor = await dispatcher();
    const list = '/tasks?type=report_refused&order=newest';
    const next = hiddenOf(rowOf(await visitor.get(list), second.taskId), 'retry')['next'] ?? '';
    const response = await decideBy(visitor, { list, id: second.taskId, decision: 'retry' });
    expect(response.location).toBe(`${list}#${next}`);
    expect(rowOf(await visitor.get(list), first.taskId)).toContain(`id="${next}" tabindex="-1"`);
  });

  test('applies a decision once when its form is sent twice', async () => {
    const { ref, taskId } = await refusedTow(app);
    const visitor = await dispatcher();
    const { html } = await visitor.get('/tasks');
    const form = new URLSearchParams({
      ...hiddenOf(rowOf({ html }, taskId), 'waive'),
      form_token: /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '',
      form_key: 'one-and-the-same-key',
      reason: 'gone',
    }).toString();
    expect((await visitor.postRaw('/tasks', form)).status).toBe(303);
    expect((await visitor.postRaw('/tasks', form)).status).toBe(303);
    expect((await towOf(app, ref)).timeline.filter(({ type }) => type === 'report.waived')).toHaveLength(1);
  });

  test('refuses a decision with 409 when another person has decided the task', async () => {
    const { ref, taskId } = await refusedTow(app);
    const [slow, fast] = [await dispatcher(), await dispatcher()];
    const hidden = hiddenOf(rowOf(await slow.get('/tasks'), taskId), 'waive');
    await decideBy(fast, { id: taskId, decision: 'retry' });
    const response = await slow.post('/tasks', { ...hidden, reason: 'too late' });
    expect(response.status).toBe(409);
    expect(textOf(response.html)).toContain('This decision is no longer open');
    expect((await firstReport(ref))?.state).toBe('pending');
  });

  test('refuses a decision with 409 when the task was decided and opened again', async () => {
    const { ref, taskId } = await refusedTow(app);
    const [slow, fast] = [await dispatcher(), await dispatcher()];
    const hidden = hiddenOf(rowOf(await slow.get('/tasks'), taskId), 'waive');
    await decideBy(fast, { id: taskId, decision: 'retry' });
    await answerHead(app, ref, 'refused');
    const response = await slow.post('/tasks', { ...hidden, reason: 'as before' });
    expect(response.status).toBe(409);
    expect(textOf(rowOf(response, taskId))).toContain('This decision is no longer open');
    expect((await firstReport(ref))?.state).toBe('refused');
  });
});

describe('console: other decisions in the task list', () => {
  test('accepts a violation manually with its reference at the service', async () => {
    const id = await newViolation(app);
    const taskId = await openGeneral(
      app,
      refusedTask({ kind: 'violation', id, httpStatus: 400, message: 'no', hint: null }),
    );
    const visitor = await dispatcher();
    const row = rowOf(await visitor.get('/tasks'), taskId);
    expect(row).toContain(`href="/violations/${id}#form-correct"`);
    const typed = { reason: 'seen there', violation_reference_id: 'V-20261121-777' };
    expect((await decideBy(visitor, { id: taskId, decision: 'accept' }, typed)).status).toBe(303);
    expect(await violationOf(app, id)).toMatchObject({ state: 'accepted', violation_reference_id: 'V-20261121-777' });
  });

  test('waives a violation from the task list', async () => {
    const id = await newViolation(app);
    const taskId = await openGeneral(
      app,
      refusedTask({ kind: 'violation', id, httpStatus: 400, message: 'no', hint: null }),
    );
    await decideBy(await dispatcher(), { id: taskId, decision: 'waive' }, { reason: 'paid' });
    expect((await violationOf(app, id)).state).toBe('waived');
  });

  test('closes an informational task without a note', async () => {
    const ref = await newTow(app);
    const taskId = await openOn(app, ref, rivalRequestTask);
    const visitor = await dispatcher();
    expect((await decideBy(visitor, { id: taskId, decision: 'resolve' }, { reason: '' })).status).toBe(303);
    expect(await openIds(app)).toEqual([]);
  });

  test('answers 409 when a task resumes an operation that is not paused', async () => {
    const taskId = await openGeneral(app, pausedOperationTask('invoice', 'no'));
    const response = await decideBy(await signedIn(app), { id: taskId, decision: 'resume' });
    expect(response.status).toBe(409);
    expect(textOf(rowOf(response, taskId))).toContain('not paused');
  });

  test('answers 404 to a decision form without a valid decision', async () => {
    const visitor = await signedIn(app);
    await visitor.get('/tasks');
    for (const fields of [{}, { decision: 'explode' }, { decision: 'retry', task: 'x' }]) {
      expect((await visitor.post('/tasks', fields)).status).toBe(404);
    }
  });
});

test('names the tow and the decision and shows the entered reason again when the task of the form is no longer in the list', async () => {
  const { ref, taskId } = await refusedTow(app);
  const [slow, fast] = [await dispatcher(), await dispatcher()];
  const hidden = hiddenOf(rowOf(await slow.get('/tasks'), taskId), 'waive');
  await decideBy(fast, { id: taskId, decision: 'retry' });
  const response = await slow.post('/tasks', { ...hidden, reason: 'confirmed by phone' });
  expect(response.status).toBe(409);
  const [, problem = ''] = response.html.split('class="problem"');
  expect(textOf(problem.slice(0, problem.indexOf('</div>')))).toContain('What you entered Reason confirmed by phone');
  expect(textOf(problem)).toContain(`Waive · Tow ${ref}`);
  expect(problem).toContain(`<a href="/tows/${ref}">`);
});

test('shows the refusal of a decision that the row of its task no longer offers', async () => {
  const { ref, taskId } = await refusedTow(app);
  const visitor = await dispatcher();
  const hidden = hiddenOf(rowOf(await visitor.get('/tasks'), taskId), 'waive');
  await decideBy(await dispatcher(), { id: taskId, decision: 'retry' });
  await changeInStore(app.foundation.redis, ref, (draft, nowMs) =>
    openTask(draft, { ...rivalRequestTask, subject: taskId.slice(0, -ref.length - 1) }, nowMs),
  );
  const response = await visitor.post('/tasks', { ...hidden, reason: 'confirmed by phone' });
  expect(response.status).toBe(409);
  expect(rowOf(response, taskId)).not.toBe('');
  expect(textOf(response.html)).toMatch(/This decision is no longer open.*confirmed by phone/);
});
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
