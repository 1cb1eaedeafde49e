import { messagesIn } from '../../src/console/messages';
import { releaseBlocked } from '../../src/store/release-blocked';
import { api, newKey, towOf, towPath } from '../operator/client';
import { acceptWithDrift, answerHead, finishViolation, newViolation, towAfter, violationOf } from '../operator/world';
import { useApp } from '../support/app';
import { decideBy, rowOf } from './task-world';
import { formsOf, markupOf, pagePath, sendForm, textIn } from './tow-world';
import { valueIn } from './violation-world';
import { signedIn, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
let visitor: Visitor;
beforeEach(async () => {
  visitor = await signedIn(app, await newKey(app, 'dispatcher'));
});

async function towWithDrift() {
  const ref = await towAfter(app, 'started', 'detained');
  return { ref, report: await answerHead(app, ref, 'drift') };
}

async function violationWithDrift() {
  const id = await newViolation(app);
  await acceptWithDrift(app, id);
  return id;
}

const differenceOf = async (ref: string) => (await towOf(app, ref)).reports[0]?.difference_id ?? '';
const stateOf = async (ref: string) => (await towOf(app, ref)).reports[0]?.state;
const retryIn = (html: string, path: string) => html.includes(`action="${path}/retry"`);

test('the page of a tow offers to send a report with a broken answer again, and links to what differs', async () => {
  const { ref, report } = await towWithDrift();
  const { html } = await visitor.get(pagePath(ref));
  expect(formsOf(markupOf(html, `report-${report}`), ref)).toEqual([`reports/${report}/retry`]);
  expect(textIn(html, `report-${report}`)).toContain('Do this only if the service does not have it');
  expect(markupOf(html, `report-${report}`)).toContain(`href="/ops/service/${await differenceOf(ref)}"`);

  const back = await sendForm(visitor, pagePath(ref, `/reports/${report}/retry`));
  expect(await stateOf(ref)).toBe('pending');
  expect(textIn(back.html, `report-${report}`)).toContain('This answer breaks the documented contract');
});

test('a form to send a report again is refused when another person has acted first', async () => {
  const { ref, report } = await towWithDrift();
  const shown = await visitor.get(pagePath(ref));
  const question = /name="question" value="([^"]*)"/.exec(markupOf(shown.html, `form-retry-${report}`))?.[1] ?? '';
  expect(question).not.toBe('');
  await api(app)
    .post(towPath(ref, `/reports/${report}/retry`))
    .send({})
    .expect(202);
  await answerHead(app, ref, 'accepted');

  const response = await visitor.post(pagePath(ref, `/reports/${report}/retry`), { question });
  expect(response.status).toBe(409);
  expect(await stateOf(ref)).toBe('accepted');
});

test('the page of a kind of difference names what differs without a value, and sends one of its reports again', async () => {
  const { ref, report } = await towWithDrift();
  const path = `/ops/service/${await differenceOf(ref)}`;
  const { html } = await visitor.get(path);
  expect(textOf(html)).toMatch(/data ?: is required/);
  expect(textOf(html)).toContain('done: boolean');
  expect(textOf(html)).not.toContain('done: true');
  expect(html).toContain(`value="${ref}"`);

  const fields = { tow: ref, report };
  expect((await visitor.post(`${path}/retry`, fields)).location).toBe(path);
  expect(await stateOf(ref)).toBe('pending');
});

test('the page of a kind of difference sends nothing again that was accepted again after the page was shown', async () => {
  const { ref, report } = await towWithDrift();
  const path = `/ops/service/${await differenceOf(ref)}`;
  const first = await visitor.get(path);
  const sendAgain = async () => {
    await api(app)
      .post(towPath(ref, `/reports/${report}/retry`))
      .send({})
      .expect(202);
  };
  await sendAgain();
  await answerHead(app, ref, 'drift');
  const refused = await visitor.post(`${path}/retry`);
  expect(refused.status).toBe(409);
  const row = refused.html.slice(refused.html.indexOf(`action="${path}/retry"`));
  expect(textOf(row)).toContain(messagesIn('en').refusals.asked_no_more);
  expect(await stateOf(ref)).toBe('accepted');

  // The row of a report that was accepted without a difference is gone, so its refusal is at the top.
  await sendAgain();
  await answerHead(app, ref, 'accepted');
  const { status, html } = await visitor.post(`${path}/retry`, { question: valueIn(first.html, 'question') });
  expect(status).toBe(409);
  expect(retryIn(html, path)).toBe(false);
  expect(textOf(html)).toContain(messagesIn('en').refusals.asked_no_more);
  expect(await stateOf(ref)).toBe('accepted');
});

test('the page of a violation with a questioned answer offers only to send it again', async () => {
  const id = await violationWithDrift();
  const { html } = await visitor.get(`/violations/${id}`);
  expect(['correct', 'retry', 'waive', 'accept'].filter((each) => html.includes(`/violations/${id}/${each}"`))).toEqual(
    ['retry'],
  );
  expect(textIn(html, 'decide')).toContain('Do this only if the service does not have it');

  await sendForm(visitor, `/violations/${id}/retry`);
  expect((await violationOf(app, id)).state).toBe('pending');
});

test('the task of a kind of difference is closed by ops alone, and then nothing of it is offered to be sent again', async () => {
  const id = await violationWithDrift();
  const kind = (await violationOf(app, id)).difference_id ?? '';
  const task = `differs.${kind}`;
  await decideBy(visitor, { id: task, decision: 'expect' });
  expect(rowOf(await visitor.get('/tasks'), task)).not.toBe('');

  const ops = await signedIn(app, await newKey(app, 'ops'));
  await decideBy(ops, { id: task, decision: 'expect' });
  expect(rowOf(await visitor.get('/tasks'), task)).toBe('');
  await releaseBlocked(app.foundation.redis);
  await finishViolation(app, id);

  expect(retryIn((await visitor.get(`/violations/${id}`)).html, `/violations/${id}`)).toBe(false);
  expect(textOf((await visitor.get(`/ops/service/${kind}`)).html)).toContain('Expected');
});

test('all reports of a kind of difference are shown in a preview before any is sent again', async () => {
  const { ref } = await towWithDrift();
  const back = await sendForm(visitor, `/ops/service/${await differenceOf(ref)}/retry-all`);

  expect(textOf(back.html)).toContain(ref);
  expect(back.html).toContain('value="start"');
  expect(await stateOf(ref)).toBe('accepted');
});

test('a dispatcher who looked at a kind of difference closes it, and nothing of it is offered to be sent again', async () => {
  const id = await violationWithDrift();
  const path = `/ops/service/${(await violationOf(app, id)).difference_id}`;
  await sendForm(visitor, `${path}/close`);
  await releaseBlocked(app.foundation.redis);
  await finishViolation(app, id);

  expect(retryIn((await visitor.get(`/violations/${id}`)).html, `/violations/${id}`)).toBe(false);
  expect(textOf((await visitor.get(path)).html)).toContain('Looked at');
});

test('a crew is not offered to send a report or a violation again', async () => {
  const id = await violationWithDrift();
  const { ref } = await towWithDrift();
  const crew = await signedIn(app, await newKey(app, 'crew'));

  expect(retryIn((await crew.get(`/violations/${id}`)).html, `/violations/${id}`)).toBe(false);
  expect(formsOf((await crew.get(pagePath(ref))).html, ref).filter((form) => form.startsWith('reports/'))).toEqual([]);
});
