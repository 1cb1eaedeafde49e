import { api, newKey, towOf, towPath } from '../operator/client';
import { newTow, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { report, REQUIRED, violationIn } from '../operator/forms';
import { takenAs } from '../support/violations';
import { sendAs } from './violation-world';
import { markupOf, pagePath, sendForm, textIn } from './tow-world';
import { signedIn, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
let visitor: Visitor;
beforeEach(async () => {
  visitor = await signedIn(app, await newKey(app, 'dispatcher'));
});

const PLACE = { plate_number: 'KLM 77', towed_location: 'Olaya Street', latitude: '24.5', longitude: '46.5' };

test('refuses a fact that another person recorded first with 409 and keeps the entered values outside the refreshed part', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  await api(app)
    .post(`/api/tows/${ref}/started`)
    .send({ ...PLACE, latitude: 24, longitude: 46 });
  const { status, html } = await visitor.post(pagePath(ref, '/started'), PLACE);
  expect(status).toBe(409);
  expect(textOf(html)).toMatch(/Not done .*changed since the page was shown.* What you entered Plate KLM 77 /);
  expect(textIn(html, 'tow')).not.toContain('Not done');
  const part = await visitor.get(pagePath(ref), { 'hx-request': 'true' });
  expect(part.html).toMatch(/^<div id="tow"/);
});

test('says that only ops can cancel when the vehicle arrived in the yard after a dispatcher opened the form', async () => {
  const ref = await towAfter(app, 'started');
  await visitor.get(pagePath(ref));
  await api(app).post(towPath(ref, '/detained')).send({}).expect(202);
  const entered = { cancellation_reason: 'Wrong vehicle', cancellation_more: 'a blue van' };
  const { status, html } = await visitor.post(pagePath(ref, '/canceled'), entered);
  expect(status).toBe(409);
  expect(textOf(html)).toMatch(/Not done .*changed since the page was shown.*a blue van/);
  expect(textIn(html, 'next')).toContain('Canceled (requires the role ops)');
  expect((await towOf(app, ref)).state).toBe('detained');
});

test('names fields by their form labels and explains broken rules in both languages', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  const entered = { ...PLACE, longitude: 'east', occurred_at: '2099-01-01T10:00' };
  const { html } = await visitor.post(pagePath(ref, '/started'), { ...entered, occurred_at: '' });
  expect(textIn(html, 'form-started')).toContain('Longitude : must be a number');
  const late = await visitor.post(pagePath(ref, '/started'), { ...entered, longitude: '46,5' });
  expect(textIn(late.html, 'form-started')).toContain('Time : must not be more than 2 minutes in the future');
  visitor.cookies.set('towhook_language', 'ar');
  const arabic = await visitor.post(pagePath(ref, '/started'), { ...entered, occurred_at: '' });
  expect(textIn(arabic.html, 'form-started')).toContain('خط الطول : يجب أن يكون رقمًا');
});

test('accepts a decimal comma in a coordinate', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  await sendForm(visitor, pagePath(ref, '/started'), { ...PLACE, latitude: '24,25', longitude: '46,68' });
  expect(await towOf(app, ref)).toMatchObject({ latitude: 24.25, longitude: 46.68 });
});

test.each([
  ['Arabic digits', '٢٤٫٢٥', '٤٦٫٦٨'],
  ['Persian digits', '۲۴٫۲۵', '۴۶٫۶۸'],
  ['Arabic digits and a comma', '٢٤,٢٥', '٤٦,٦٨'],
])('accepts a coordinate in %s', async (_digits, latitude, longitude) => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  await sendForm(visitor, pagePath(ref, '/started'), { ...PLACE, latitude, longitude });
  expect(await towOf(app, ref)).toMatchObject({ latitude: 24.25, longitude: 46.68 });
});

test('states that a tow is complete only when no further fact is possible', async () => {
  const held = await towAfter(app, 'started', 'detained', 'invoice');
  await api(app).post(`/api/tows/${held}/holds`).send({ reason: 'police' });
  const next = textIn((await visitor.get(pagePath(held))).html, 'next');
  expect(next).not.toContain('nothing more to say');
  expect(next).toContain('Not possible now: Canceled (requires the role ops) · ');

  const canceled = await newTow(app);
  await visitor.get(pagePath(canceled));
  const response = await sendForm(visitor, pagePath(canceled, '/canceled'), { cancellation_reason: 'Wrong vehicle' });
  expect(textIn(response.html, 'next')).toContain('No further events can be recorded for this tow.');
  expect(textIn(response.html, 'next')).not.toContain('Not now');
});

test('shows a crew which role records the next fact', async () => {
  const ref = await towAfter(app, 'started', 'detained');
  const crew = await signedIn(app, await newKey(app, 'crew'));
  expect(textIn((await crew.get(pagePath(ref))).html, 'next')).toContain(
    'The next event is recorded by the role dispatcher.',
  );
});

test('stores the person who took the vehicle once, also when the form is sent twice or after a refusal', async () => {
  const ref = await towAfter(app, 'started');
  await visitor.get(pagePath(ref));
  const taken = { handed_to: 'Sami', handed_id: '1000000008' };
  const refused = await visitor.post(pagePath(ref, '/released'), { ...taken, occurred_at: '2099-01-01T10:00' });
  expect(refused.status).toBe(422);
  expect(markupOf(refused.html, 'form-released')).toContain('value="1000000008"');
  const hidden = markupOf(refused.html, 'form-released').matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g);
  const own = [...hidden].map(([, name = '', value = '']): [string, string] => [name, value]);
  const body = new URLSearchParams([...own, ...Object.entries(taken)]).toString();
  for (let round = 0; round < 2; round += 1) {
    expect((await visitor.postRaw(pagePath(ref, '/released'), body)).location).toBe(pagePath(ref));
  }
  const { state, dispatch } = await towOf(app, ref);
  expect([state, dispatch.notes.map(({ text }) => text)]).toEqual(['released', ['Handed to Sami, id 1000000008']]);
});

test.each([
  [{ handed_to: 'سامي' }, 'سُلّمت إلى سامي'],
  [{ handed_id: '1000000008' }, 'سُلّمت إلى (بلا اسم)، رقم الهوية 1000000008'],
])('writes the note on who took the vehicle, %j, in the language of its writer', async (taken, text) => {
  const ref = await towAfter(app, 'started');
  visitor.cookies.set('towhook_language', 'ar');
  await visitor.get(pagePath(ref));
  await visitor.post(pagePath(ref, '/released'), taken);
  expect((await towOf(app, ref)).dispatch.notes).toMatchObject([{ text }]);
});

test.each([
  [{ handed_to: 'Sami', handed_id: '1000000008' }, 'سُلّمت إلى Sami، رقم الهوية 1000000008'],
  [{ handed_id: '1000000008' }, 'سُلّمت إلى (بلا اسم)، رقم الهوية 1000000008'],
  [{ handed_to: 'Sami' }, 'سُلّمت إلى Sami'],
])('shows the note on who took the vehicle, %j, in the language of the page', async (taken, arabic) => {
  const ref = await towAfter(app, 'started');
  await visitor.get(pagePath(ref));
  await visitor.post(pagePath(ref, '/released'), taken);
  visitor.cookies.set('towhook_language', 'ar');
  expect(textIn((await visitor.get(pagePath(ref))).html, 'notes')).toContain(arabic);
});

test('shows a crew no JSON, deliveries, zones or other ids of software', async () => {
  const { id } = violationIn(await report(app, REQUIRED));
  await sendAs(app, id, takenAs('V-20261121-FIELD1'));
  const ref = await newTow(app, { violation_reference_id: 'V-20261121-FIELD1' });
  const crew = await signedIn(app, await newKey(app, 'crew'));
  for (const address of [pagePath(ref), '/board', '/violations', `/violations/${id}`]) {
    const office = (await visitor.get(address)).html;
    expect(textOf(office)).toContain(REQUIRED.zoneId);
    const { html, status } = await crew.get(address);
    expect(status).toBe(200);
    expect(textOf(html)).not.toMatch(/JSON|dlv_|[0-9a-f]{8}-[0-9a-f]{4}-|\/v1\//);
  }
});

test('stores no note on who took the vehicle when a hold of another person refuses the release', async () => {
  const ref = await towAfter(app, 'started');
  await visitor.get(pagePath(ref));
  await api(app).post(towPath(ref, '/holds')).send({ reason: 'police' });
  const taken = { handed_to: 'Ahmad', handed_id: '1012345678' };
  const refused = await visitor.post(pagePath(ref, '/released'), taken);
  expect(refused.status).toBe(409);
  expect(textOf(refused.html)).toContain('1012345678');
  expect(refused.html).toContain('<li><a href="#holds">Holds</a>: is open</li>');
  expect(markupOf(refused.html, 'holds')).not.toBe('');
  const { state, dispatch } = await towOf(app, ref);
  expect([state, dispatch.notes]).toEqual(['started', []]);
});

test('shows that a release is recorded without its note, and fills the text into the form of notes', async () => {
  const ref = await towAfter(app, 'started');
  await visitor.get(pagePath(ref));
  const tooLong = 'x'.repeat(2001);
  const response = await visitor.post(pagePath(ref, '/released'), { handed_to: tooLong });
  expect(response.status).toBe(409);
  expect(textOf(response.html)).toMatch(/Not done The release is recorded, but the note on who took .* is not/);
  expect(markupOf(response.html, 'notes')).toContain(`Handed to ${tooLong}</textarea>`);
  const { state, dispatch } = await towOf(app, ref);
  expect([state, dispatch.notes]).toEqual(['released', []]);
});

test('marks the violation of a tow as not reported by this operator', async () => {
  const ref = await newTow(app);
  const head = textIn((await visitor.get(pagePath(ref))).html, 'tow-head');
  expect(head).toMatch(/Violation \S+ · not reported by us Taken from/);
});
