import { api, newKey, towOf } from '../operator/client';
import { acceptWithDrift, newViolation, violationOf } from '../operator/violation-world';
import { answerHead, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { decideBy, rowOf } from './task-world';
import { formsOf, markupOf, pagePath, sendForm, textIn } from './tow-world';
import { signedIn, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
let visitor: Visitor;
beforeEach(async () => {
  visitor = await signedIn(app, await newKey(app, 'dispatcher'));
});

async function towWithDrift() {
  const ref = await towAfter(app, 'started', 'detained');
  return { ref, report: await answerHead(app, ref, 'drift'), taskId: `contract-started-1.${ref}` };
}

async function violationWithDrift() {
  const id = await newViolation(app);
  await acceptWithDrift(app, id);
  return id;
}

const stateOf = async (ref: string) => (await towOf(app, ref)).reports[0]?.state;
const retryIn = (html: string, path: string) => html.includes(`action="${path}/retry"`);

test('the page of a tow offers to send a report with a broken answer again, beside its task and nowhere else', async () => {
  const { ref, report, taskId } = await towWithDrift();
  const { html } = await visitor.get(pagePath(ref));
  expect(formsOf(markupOf(html, 'tasks'), ref)).toEqual([
    `reports/${report}/retry`,
    `tasks/${encodeURIComponent(taskId)}/resolve`,
  ]);
  expect(formsOf(markupOf(html, `report-${report}`), ref)).toEqual([]);
  expect(textIn(html, 'tasks')).toContain('Only if the service does not have it');

  const back = await sendForm(visitor, pagePath(ref, `/reports/${report}/retry`));
  expect(await stateOf(ref)).toBe('pending');
  expect(textIn(back.html, 'tasks')).toBe('');
  expect(textIn(back.html, `report-${report}`)).toContain('This answer breaks the documented contract');
});

test('a form to send a report again that was overtaken by another person is refused', async () => {
  const { ref, report, taskId } = await towWithDrift();
  const shown = await visitor.get(pagePath(ref));
  const question = /name="question" value="([^"]*)"/.exec(markupOf(shown.html, `form-retry-${report}`))?.[1] ?? '';
  expect(question).not.toBe('');
  await api(app)
    .post(`/api/tasks/${encodeURIComponent(taskId)}/resolve`)
    .send({})
    .expect(202);

  const response = await visitor.post(pagePath(ref, `/reports/${report}/retry`), { question });
  expect(response.status).toBe(409);
  expect(await stateOf(ref)).toBe('accepted');
});

test('the task list sends a report with a broken answer again', async () => {
  const { ref, taskId } = await towWithDrift();
  const response = await decideBy(visitor, { id: taskId, decision: 'retry' });
  const back = await visitor.get(response.location ?? '');

  expect(textOf(back.html)).toContain('It is being sent again.');
  expect(rowOf(back, taskId)).toBe('');
  expect(await stateOf(ref)).toBe('pending');
});

test('the page of a violation offers to send it again while its answer is questioned, and only that', async () => {
  const id = await violationWithDrift();
  const { html } = await visitor.get(`/violations/${id}`);
  expect(['correct', 'retry', 'waive', 'accept'].filter((each) => html.includes(`/violations/${id}/${each}"`))).toEqual(
    ['retry'],
  );
  expect(textIn(html, 'decide')).toContain('Only if the service does not have it');

  await sendForm(visitor, `/violations/${id}/retry`);
  expect((await violationOf(app, id)).state).toBe('pending');
});

test('the task list sends a violation with a broken answer again', async () => {
  const id = await violationWithDrift();
  await decideBy(visitor, { id: `violation_contract.${id}`, decision: 'retry' });

  expect((await violationOf(app, id)).state).toBe('pending');
});

test('once the task is resolved nothing can be sent again', async () => {
  const id = await violationWithDrift();
  const { ref, taskId } = await towWithDrift();
  await decideBy(visitor, { id: `violation_contract.${id}`, decision: 'resolve' });
  await decideBy(visitor, { id: taskId, decision: 'resolve' });

  expect(retryIn((await visitor.get(`/violations/${id}`)).html, `/violations/${id}`)).toBe(false);
  expect(
    formsOf((await visitor.get(pagePath(ref))).html, ref).filter((form) => form.startsWith('reports/started')),
  ).toEqual([]);
});

test('a crew is offered neither', async () => {
  const id = await violationWithDrift();
  const { ref } = await towWithDrift();
  const crew = await signedIn(app, await newKey(app, 'crew'));

  expect(retryIn((await crew.get(`/violations/${id}`)).html, `/violations/${id}`)).toBe(false);
  expect(formsOf((await crew.get(pagePath(ref))).html, ref).filter((form) => form.startsWith('reports/'))).toEqual([]);
});
