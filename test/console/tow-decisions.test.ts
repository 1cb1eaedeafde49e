import { messagesIn } from '../../src/console/messages';
import { api, newKey, towOf } from '../operator/client';
import { answerHead, claimHead, deliver, newTow, towAfter, WHEREABOUTS } from '../operator/world';
import { useApp } from '../support/app';
import { apiPath, formsOf, markupOf, pagePath, sendForm, textIn } from './tow-world';
import { signedIn, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
let visitor: Visitor;
beforeEach(async () => {
  visitor = await signedIn(app, await newKey(app, 'dispatcher'));
});

async function refused() {
  const ref = await towAfter(app, 'started', 'detained');
  const report = await answerHead(app, ref, 'refused');
  return { ref, report };
}

const onReport = (ref: string, report: string, action: string) => pagePath(ref, `/reports/${report}/${action}`);

test('shows the open decision of a tow with its forms in the task section', async () => {
  const { ref, report } = await refused();
  const { html } = await visitor.get(pagePath(ref));
  expect(textIn(html, 'tasks')).toContain('Missing required field');
  expect(formsOf(markupOf(html, 'tasks'), ref)).toEqual(
    ['correct', 'retry', 'waive', 'accept'].map((action) => `reports/${report}/${action}`),
  );
  expect(formsOf(markupOf(html, `report-${report}`), ref)).toEqual([]);
});

test('advises no correction of a refused report that has no field to correct', async () => {
  const { types, notCorrectable } = messagesIn('en').taskTypes;
  const ref = await towAfter(app, 'started', 'detained');
  const tasksOf = async () => textIn((await visitor.get(pagePath(ref))).html, 'tasks');
  await answerHead(app, ref, 'refused');
  expect(await tasksOf()).toContain(types.report_refused.advice);
  await api(app).post(apiPath(ref, '/reports/started-1/waive')).send({ reason: 'known' }).expect(202);
  await answerHead(app, ref, 'refused');
  expect(await tasksOf()).toContain(notCorrectable);
  expect(await tasksOf()).not.toContain(types.report_refused.advice);
});

test('offers a crew no decision on a refused report', async () => {
  const { ref } = await refused();
  const { html } = await (await signedIn(app, await newKey(app, 'crew'))).get(pagePath(ref));
  expect(textIn(html, 'tasks')).toContain('Missing required field');
  expect(formsOf(html, ref).filter((action) => action.startsWith('reports/'))).toEqual([]);
});

test('corrects a refused report in a form prefilled with the sent values and sends it again', async () => {
  const { ref, report } = await refused();
  const { html } = await visitor.get(pagePath(ref));
  const form = markupOf(html, `form-correct-${report}`);
  const names = [...form.matchAll(/<input[^>]+ name="([^"]+)"/g)].map(([, name = '']) => name);
  expect(names.filter((name) => !/^form_|^was-|^question$/.test(name))).toEqual([
    'plate_number',
    'towed_location',
    'latitude',
    'longitude',
    'status_update_time',
  ]);
  const values = Object.fromEntries(
    [...form.matchAll(/<input[^>]+>/g)].map(([input]) => [
      / name="([^"]+)"/.exec(input)?.[1] ?? '',
      / value="([^"]*)"/.exec(input)?.[1] ?? '',
    ]),
  );
  expect(values).toMatchObject({ plate_number: 'ABJ 1234', latitude: '24.7136' });
  const { form_token: _token, form_key: _key, ...filled } = values;
  const response = await sendForm(visitor, onReport(ref, report, 'correct'), { ...filled, plate_number: 'KLZ 77' });
  const tow = await towOf(app, ref);
  expect(tow.plate_number).toBe('KLZ 77');
  expect(tow.reports[0]).toMatchObject({ state: 'pending', body: { plate_number: 'KLZ 77', latitude: 24.7136 } });
  // The timeline records only the changed field.
  const corrected = tow.timeline.find(({ type }) => type === 'report.corrected');
  expect(corrected?.['fields']).toEqual({ plate_number: { old: 'ABJ 1234', new: 'KLZ 77' } });
  expect(textIn(response.html, 'timeline')).toContain('Plate: K L Z 77');
  expect(textIn(response.html, 'tasks')).toBe('');
});

test('shows a corrected time of a report as Riyadh time on the timeline', async () => {
  const ref = await newTow(app);
  await api(app)
    .post(apiPath(ref, '/started'))
    .send({ ...WHEREABOUTS, occurred_at: '2026-01-05T06:14:30Z' });
  const report = await answerHead(app, ref, 'refused');
  const correction = { status_update_time: '2026-01-05T09:10:00+03:00' };
  await api(app)
    .post(apiPath(ref, `/reports/${report}/correct`))
    .send(correction)
    .expect(202);
  const { html } = await visitor.get(pagePath(ref));
  expect(textIn(html, 'timeline')).toMatch(/Time \(Riyadh\): 5 Jan[ \d]*, 09:10 \(previously 5 Jan[ \d]*, 09:14 \)/);
});

test('keeps the entered values of an invalid report correction', async () => {
  const { ref, report } = await refused();
  await visitor.get(pagePath(ref));
  const response = await visitor.post(onReport(ref, report, 'correct'), {
    plate_number: 'KLZ 77',
    towed_location: 'King Fahd Road, Riyadh',
    latitude: '99',
    longitude: '46.6753',
    status_update_time: '2099-01-01T00:00',
  });
  expect(response.status).toBe(422);
  const form = markupOf(response.html, `form-correct-${report}`);
  expect(form).toContain('value="KLZ 77"');
  expect(form).toContain(`id="correct-${report}-latitude-error"`);
  expect(response.html).toMatch(new RegExp(`<details[^>]* open[^>]*>(?:(?!<details)[^])*form-correct-${report}`));
});

test.each([
  ['en', 'needs at least one of Plate, Towed from (address), Latitude, Longitude, or Time (Riyadh)'],
  ['ar', 'يجب تغيير حقل واحد على الأقل: اللوحة أو سُحبت من (العنوان) أو خط العرض أو خط الطول أو'],
])(
  'refuses a correction that changes nothing with the labels of its fields in the language %s',
  async (language, text) => {
    const { ref, report } = await refused();
    visitor.cookies.set('towhook_language', language);
    await visitor.get(pagePath(ref));
    const response = await visitor.post(onReport(ref, report, 'correct'));
    expect(response.status).toBe(422);
    expect(textOf(response.html)).toContain(text);
  },
);

test.each([
  ['retry', {}, 'pending'],
  ['waive', { reason: 'agreed by phone' }, 'waived'],
  ['accept', { reason: 'seen at the service' }, 'accepted'],
] as const)('applies the decision to %s a refused report on the page of a tow', async (action, fields, state) => {
  const { ref, report } = await refused();
  await visitor.get(pagePath(ref));
  const response = await sendForm(visitor, onReport(ref, report, action), fields);
  expect(textOf(response.html)).toContain('Decision saved.');
  const [decided] = (await towOf(app, ref)).reports;
  expect(decided).toMatchObject({ state, reason: 'reason' in fields ? fields.reason : null });
});

test.each(['waive', 'accept'])('refuses to %s a report without a reason with 422', async (action) => {
  const { ref, report } = await refused();
  await visitor.get(pagePath(ref));
  const response = await visitor.post(onReport(ref, report, action), { reason: ' ' });
  expect(response.status).toBe(422);
  expect(markupOf(response.html, `form-${action}-${report}`)).toContain(`id="${action}-${report}-reason-error"`);
  expect((await towOf(app, ref)).reports[0]?.state).toBe('refused');
});

test('offers only the report decisions that are currently allowed', async () => {
  const ref = await towAfter(app, 'started', 'detained', 'invoice');
  const offered = async () =>
    formsOf((await visitor.get(pagePath(ref))).html, ref).filter((action) => action.startsWith('reports/'));
  // `detained` was never sent, so it has no retry. It has no correctable field, so it has no correction.
  expect(await offered()).toEqual([
    ...['correct', 'retry', 'waive', 'accept'].map((action) => `reports/started-1/${action}`),
    ...['waive', 'accept'].map((action) => `reports/detained-2/${action}`),
    ...['correct', 'waive', 'accept'].map((action) => `reports/invoice-3/${action}`),
  ]);
  await claimHead(app, ref);
  expect((await offered()).filter((action) => action.includes('started'))).toEqual([]);
});

test('offers to accept, retry or waive a report with unknown outcome, but not to correct it', async () => {
  const ref = await towAfter(app, 'started', 'invoice');
  await answerHead(app, ref, 'accepted');
  const report = await answerHead(app, ref, 'unknown');
  const { html } = await visitor.get(pagePath(ref));
  expect(formsOf(markupOf(html, `report-${report}`), ref)).toEqual(
    ['retry', 'waive', 'accept'].map((action) => `reports/${report}/${action}`),
  );
  expect(textIn(html, 'tow-why')).toContain('waiting for proof');
});

test('refuses a decision with 409 on a report that was settled after the page was loaded', async () => {
  const { ref, report } = await refused();
  await visitor.get(pagePath(ref));
  await api(app)
    .post(apiPath(ref, `/reports/${report}/accept`))
    .send({ reason: 'decided first' });
  const response = await visitor.post(onReport(ref, report, 'waive'), { reason: 'mine' });
  expect(response.status).toBe(409);
  expect(textOf(response.html)).toContain('Not done This report is already settled.');
  visitor.cookies.set('towhook_language', 'ar');
  expect(textOf((await visitor.post(onReport(ref, report, 'waive'), {})).html)).toContain('لم يُنفَّذ');
});

describe('console: outdated page of a tow', () => {
  /** Loads the page, then another person corrects the report and the service refuses it again. */
  async function stale() {
    const { ref, report } = await refused();
    await visitor.get(pagePath(ref));
    await api(app)
      .post(apiPath(ref, `/reports/${report}/correct`))
      .send({ plate_number: 'NEW 999' });
    await answerHead(app, ref, 'refused');
    return { ref, report };
  }

  test.each([
    ['correct', { plate_number: 'ABJ 1234', latitude: '24.9' }],
    ['retry', {}],
    ['waive', { reason: 'seen the first refusal' }],
    ['accept', { reason: 'seen the first refusal' }],
  ] as const)('refuses the decision %s from an outdated page of a tow with 409', async (action, fields) => {
    const { ref, report } = await stale();
    const response = await visitor.post(onReport(ref, report, action), fields);
    expect(response.status).toBe(409);
    expect(textOf(response.html)).toContain('This decision is no longer open');
    const [current] = (await towOf(app, ref)).reports;
    expect(current).toMatchObject({ state: 'refused', body: { plate_number: 'NEW 999', latitude: 24.7136 } });
    const form = markupOf(response.html, `form-${action}-${report}`);
    expect(form).toContain('reason' in fields ? fields.reason : `action="${onReport(ref, report, action)}"`);
  });

  test('keeps only the changed fields of a correction from an outdated page', async () => {
    const { ref, report } = await stale();
    visitor.cookies.set('towhook_language', 'ar');
    const entered = { plate_number: 'ABJ 1234', latitude: '24.9' };
    const response = await visitor.post(onReport(ref, report, 'correct'), entered);
    expect(textOf(response.html)).toContain('لم يعد هذا مطروحًا');
    const form = markupOf(response.html, `form-correct-${report}`);
    expect(form).toMatch(/ name="plate_number"[^>]* value="NEW 999"/);
    expect(form).toMatch(/ name="latitude"[^>]* value="24.9"/);
    await sendForm(visitor, onReport(ref, report, 'correct'), { plate_number: 'NEW 999', latitude: '24.9' });
    expect((await towOf(app, ref)).reports[0]?.body).toMatchObject({ plate_number: 'NEW 999', latitude: 24.9 });
  });
});

test('applies a report correction once when its form is sent twice', async () => {
  const { ref, report } = await refused();
  const { html } = await visitor.get(pagePath(ref));
  const form = markupOf(html, `form-correct-${report}`);
  const fields = [...form.matchAll(/<input[^>]* name="([^"]*)"[^>]*>/g)].map(([input, name = '']): [string, string] => [
    name,
    name === 'plate_number' ? 'KLZ 77' : (/ value="([^"]*)"/.exec(input)?.[1] ?? ''),
  ]);
  const body = new URLSearchParams(fields).toString();
  for (let time = 0; time < 2; time += 1) {
    expect((await visitor.postRaw(onReport(ref, report, 'correct'), body)).status).toBe(303);
  }
  const { timeline } = await towOf(app, ref);
  expect(timeline.filter(({ type }) => type === 'report.corrected')).toHaveLength(1);
});

test('closes an informational task on the page of a tow with a note', async () => {
  const ref = await towAfter(app);
  await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
  const { html } = await visitor.get(pagePath(ref));
  expect(textIn(html, 'tasks')).toContain('another tow request');
  const response = await sendForm(visitor, pagePath(ref, `/tasks/rival_request.${ref}/resolve`), {
    reason: 'looked at it',
  });
  expect(textOf(response.html)).toContain('The task is closed.');
  expect(textIn(response.html, 'tasks')).toBe('');
  expect(textIn(response.html, 'timeline')).toContain('Task closed');
});

describe('console: attempts of a report', () => {
  test('shows the request of a report with masked plate and token', async () => {
    const { ref, report } = await refused();
    const pane = markupOf((await visitor.get(pagePath(ref))).html, `wire-${report}`);
    const text = textOf(pane);
    expect(text).toContain('PATCH {base_url}/v1/tow/public/towing-status/started Authorization: Bearer •••');
    expect(text).toContain('"plate_number": "•••"');
    expect(text).toContain('HTTP 400 Missing required field');
    expect(text).not.toMatch(/1234|ABJ|A B J/);
  });

  test('shows every attempt of a report with its duration', async () => {
    const ref = await towAfter(app, 'started');
    for (let i = 0; i < 3; i += 1) {
      await answerHead(app, ref, 'retry');
      await api(app).post(apiPath(ref, '/reports/started-1/retry')).send({});
    }
    await answerHead(app, ref, 'refused');
    const text = textIn((await visitor.get(pagePath(ref))).html, 'wire-started-1');
    expect(text).toContain('3 times the same');
    expect(text).toContain('12 ms');
    expect(textIn((await visitor.get(pagePath(ref))).html, 'timeline')).toContain('Attempts 1 to 3 to send “Started”');
  });
});
