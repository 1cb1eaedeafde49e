import { beforeCorrectionTask } from '../../src/domain/ops/tasks';
import { api, newKey } from '../operator/client';
import { clearDisk, COMPLETE, formOf, postForm, report, violationIn } from '../operator/forms';
import { violationOf } from '../operator/world';
import { useApp } from '../support/app';
import { refusedWith } from '../support/exchanges';
import { imageOf, PNG } from '../support/images';
import { outcome, takenAs } from '../support/violations';
import { closeGeneral, openGeneral } from './task-world';
import { markupOf } from './tow-world';
import { sendAs, valueIn } from './violation-world';
import { signedIn, textOf } from './visitor';

/** Violation forms that are sent from an outdated page or sent twice. */

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const FILES = [{ name: 'front.png', bytes: PNG }];
const REFUSED = outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'Zone not found') });

async function newOne(fields: Readonly<Record<string, string>>): Promise<string> {
  return violationIn(await report(app, fields, FILES)).id;
}

test('refuses a violation decision from an outdated page with 409 and keeps the entered values', async () => {
  const id = await newOne(COMPLETE);
  await sendAs(app, id, REFUSED);
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  const before = markupOf((await visitor.get(`/violations/${id}`)).html, 'form-correct');
  const names = ['question', 'was-plateNumber', 'was-location'];
  const shownBefore = Object.fromEntries(names.map((name) => [name, textOf(valueIn(before, name))]));
  await api(app).post(`/api/violations/${id}/correct`).send({ plateNumber: 'NEW 999' });
  await sendAs(app, id, REFUSED);
  for (const [action, fields] of [
    ['waive', { reason: 'seen the first refusal' }],
    ['retry', {}],
    ['correct', { plateNumber: COMPLETE.plateNumber, location: 'Elsewhere' }],
  ] as const) {
    const response = await visitor.post(`/violations/${id}/${action}`, { ...shownBefore, ...fields });
    expect(response.status).toBe(409);
    expect(textOf(response.html)).toContain('This decision is no longer open');
    if (action !== 'correct') continue;
    const form = markupOf(response.html, 'form-correct');
    expect([valueIn(form, 'plateNumber'), valueIn(form, 'location')]).toEqual(['NEW 999', 'Elsewhere']);
  }
  expect(await violationOf(app, id)).toMatchObject({ state: 'refused', form: { plateNumber: 'NEW 999' } });
});

test('refuses images for a violation whose images were replaced meanwhile, and takes a form that is sent twice', async () => {
  const id = await newOne(COMPLETE);
  await sendAs(app, id, REFUSED);
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  const path = `/violations/${id}/images`;
  const fieldsIn = (html: string) => {
    const form = markupOf(html, 'form-images');
    return Object.fromEntries(['form_token', 'form_key', 'question'].map((name) => [name, valueIn(form, name)]));
  };
  const send = (fields: Readonly<Record<string, string>>) =>
    visitor.postMultipart(path, { fields, files: [{ name: 'mine.png', bytes: PNG }] });
  const before = fieldsIn((await visitor.get(`/violations/${id}`)).html);
  await postForm(app, `/api${path}`, formOf({}, [{ name: 'other.png', bytes: imageOf(500) }]));
  await sendAs(app, id, REFUSED);

  const refused = await send(before);
  expect(refused.status).toBe(409);
  expect(textOf(markupOf(refused.html, 'form-images'))).toContain('This decision is no longer open');
  expect((await violationOf(app, id)).images).toMatchObject([{ name: 'other.png' }]);

  const now = fieldsIn(refused.html);
  expect([(await send(now)).status, (await send(now)).status]).toEqual([303, 303]);
  expect((await violationOf(app, id)).images).toMatchObject([{ name: 'mine.png' }]);
});

test('redirects both copies of a violation correction that is sent twice', async () => {
  const id = await newOne(COMPLETE);
  await sendAs(app, id, REFUSED);
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  const { html } = await visitor.get(`/violations/${id}`);
  const form = markupOf(html, 'form-correct');
  const own = ['form_token', 'form_key', 'question', 'was-location'];
  const fields = own.map((name): [string, string] => [name, textOf(valueIn(form, name))]);
  const body = new URLSearchParams([...fields, ['location', 'Elsewhere']]).toString();
  for (let time = 0; time < 2; time += 1) {
    expect((await visitor.postRaw(`/violations/${id}/correct`, body)).status).toBe(303);
  }
  expect((await violationOf(app, id)).form).toMatchObject({ location: 'Elsewhere' });
});

test('shows the reason and the entered values of a violation decision whose form is gone', async () => {
  const id = await newOne(COMPLETE);
  const visitor = await signedIn(app, await newKey(app, 'dispatcher', 'dispatcher of a settled violation'));
  const hidden = { 'was-location': COMPLETE.location, 'was-fullName': COMPLETE.fullName };
  await visitor.get(`/violations/${id}`);
  await sendAs(app, id, takenAs('V-20261121-GONE01'));
  const waived = await visitor.post(`/violations/${id}/waive`, { reason: 'reported twice' });
  expect(waived.status).toBe(409);
  expect(textOf(problemIn(waived.html))).toMatch(/already settled.*reported twice/);

  const corrected = await visitor.post(`/violations/${id}/correct`, {
    ...hidden,
    location: 'Elsewhere',
    fullName: COMPLETE.fullName,
  });
  expect(corrected.status).toBe(409);
  expect(textOf(problemIn(corrected.html))).toContain('Elsewhere');
  expect(problemIn(corrected.html)).not.toContain(COMPLETE.fullName);
});

test('shows the reason and the entered note when the task of a violation was closed meanwhile', async () => {
  const id = await newOne(COMPLETE);
  const taskId = await openGeneral(app, beforeCorrectionTask(id));
  const visitor = await signedIn(app, await newKey(app, 'dispatcher', 'dispatcher of a closed task'));
  await visitor.get(`/violations/${id}`);
  await closeGeneral(app, taskId);
  const path = `/violations/${id}/tasks/${encodeURIComponent(taskId)}/resolve`;
  const response = await visitor.post(path, { reason: 'compared with the service' });
  expect(response.status).toBe(409);
  expect(textOf(problemIn(response.html))).toMatch(/no longer open.*compared with the service/);
});

/** The markup of the first reason of a refusal; empty if the page shows none. */
function problemIn(html: string): string {
  return /<div class="problem"[^]*?<\/div>/.exec(html)?.[0] ?? '';
}
