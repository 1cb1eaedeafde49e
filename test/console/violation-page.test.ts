import { beforeCorrectionTask, sharedReferenceTask } from '../../src/domain/ops/tasks';
import { messagesIn } from '../../src/console/messages';
import type { ViolationState } from '../../src/domain/vocabulary';
import { api, newKey } from '../operator/client';
import { clearDisk, COMPLETE, report, REQUIRED, violationIn } from '../operator/forms';
import { violationOf } from '../operator/world';
import { useApp } from '../support/app';
import { refusedWith } from '../support/exchanges';
import { PNG } from '../support/images';
import { outcome, takenAs } from '../support/violations';
import { openOnViolation } from './task-world';
import { markupOf, textIn } from './tow-world';
import { sendAs, valueIn } from './violation-world';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const FILES = [
  { name: 'front.png', bytes: PNG },
  { name: 'back.png', bytes: PNG },
];
const REFUSED = outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'Zone not found') });

async function newOne(fields: Readonly<Record<string, string>> = REQUIRED, files = FILES): Promise<string> {
  return violationIn(await report(app, fields, files)).id;
}
const offered = (html: string, id: string) =>
  [...html.matchAll(/<form method="post" action="([^"]+)"/g)]
    .map(([, action = '']) => action)
    .filter((action) => action.startsWith(`/violations/${id}/`))
    .map((action) => action.slice(`/violations/${id}/`.length));

describe('console: page of a violation', () => {
  test('shows every reported value of a violation and folds personal data', async () => {
    const id = await newOne(COMPLETE);
    const { html } = await (await signedIn(app)).get(`/violations/${id}`);
    const text = textIn(html, 'reported');
    const { fullName, identityNumber, mobileNumber, supervisorFullName, supervisorMobileNumber } = COMPLETE;
    for (const value of ['10 Mar, 21:05', COMPLETE.location, '24.7136, 46.6753', COMPLETE.zoneId, 'case-77', id]) {
      expect(text).toContain(value);
    }
    expect(textIn(html, 'images')).toContain(COMPLETE.imagesDescription);
    const folded = /<details class="person">[^]*?<\/details>/.exec(html)?.[0] ?? '';
    for (const value of [fullName, identityNumber, mobileNumber, supervisorFullName, supervisorMobileNumber]) {
      expect(folded).toContain(value);
    }
    const open = html.replaceAll(/<details(?![^>]* open)[^]*?<\/details>/g, '');
    for (const value of [fullName, identityNumber, mobileNumber]) expect(open).not.toContain(value);
    expect(html).toContain(`href="/api/violations/${id}"`);
  });

  test('finds a violation by its metadata id and answers 404 for an unknown id', async () => {
    const id = await newOne(COMPLETE);
    const visitor = await signedIn(app);
    expect((await visitor.get('/violations/case-77')).html).toContain(`data-watch="violation:${id}"`);
    expect((await visitor.get('/violations/none')).status).toBe(404);
  });

  test('shows stored violation images to a viewer and states when they are deleted', async () => {
    const id = await newOne();
    const visitor = await signedIn(app, await newKey(app, 'viewer', 'viewer of images'));
    // A pending violation only links its images, because they are deleted as soon as the service accepts it.
    const leaving = markupOf((await visitor.get(`/violations/${id}`)).html, 'images');
    expect(leaving).toContain(`href="/api/violations/${id}/images/2"`);
    expect(leaving).not.toContain('<img');
    await sendAs(app, id, REFUSED);
    const before = await visitor.get(`/violations/${id}`);
    for (const number of [1, 2]) {
      expect(before.html).toContain(`<img src="/api/violations/${id}/images/${number}"`);
      expect((await visitor.get(`/api/violations/${id}/images/${number}`)).status).toBe(200);
    }
    await api(app).post(`/api/violations/${id}/retry`).send({});
    await sendAs(app, id, takenAs('V-20261121-PAGE01'));
    const after = textIn((await visitor.get(`/violations/${id}`)).html, 'images');
    expect(after).toContain('2 images were deleted');
    expect(after).not.toContain('front.png');
  });

  test('names violation images missing on the disk and loads none of them', async () => {
    const id = await newOne();
    await clearDisk(app);
    const { html } = await (await signedIn(app)).get(`/violations/${id}`);
    expect(textIn(html, 'images')).toMatch(/front.png.*missing on disk.*back.png.*missing on disk/);
    expect(html).not.toContain('/images/1');
  });

  test('warns about suspicious values of a violation in both languages without blocking it', async () => {
    const id = await newOne({ ...REQUIRED, identityNumber: '123', plateNumber: 'QQQ 1', date: '2026-03-10T18:05:00' });
    const visitor = await signedIn(app);
    const text = textIn((await visitor.get(`/violations/${id}`)).html, 'warnings');
    expect(text).toContain('Identity number : does not have 10 digits');
    expect(text).toContain('has no offset from UTC');
    expect(text).toContain('These warnings do not stop the violation');
    visitor.cookies.set('towhook_language', 'ar');
    expect(markupOf((await visitor.get(`/violations/${id}`)).html, 'warnings')).not.toContain('lang="en"');
  });

  test('shows the result of a violation at the service', async () => {
    const id = await newOne();
    await sendAs(app, id, REFUSED);
    const visitor = await signedIn(app);
    const refused = await visitor.get(`/violations/${id}`);
    expect(textOf(refused.html)).toContain(
      'The service refused the violation; a decision is needed ( HTTP 400: Zone not found )',
    );
    expect(textIn(refused.html, 'attempts')).toContain('refused');

    await api(app).post(`/api/violations/${id}/retry`).send({});
    const acceptedViolation = { reference: 'V-20261121-PAGE02', serviceStatus: 'PENDING', canTow: true };
    await sendAs(app, id, takenAs(acceptedViolation.reference, { acceptedViolation }));
    const service = textIn((await visitor.get(`/violations/${id}`)).html, 'service');
    expect(service).toMatch(/V-20261121-PAGE02.*Status PENDING.*May be towed Yes.*Accepted .* by the answer/);
  });

  test('names no next attempt and no end of attempts of a violation whose outcome is unknown', async () => {
    const id = await newOne();
    await sendAs(app, id, outcome({ next: 'unknown', delayMs: 15_000 }));
    const view = await violationOf(app, id);
    expect([view.state, view.next_attempt_at, view.give_up_at]).toEqual([
      'unknown',
      expect.any(String),
      expect.any(String),
    ]);
    const service = textIn((await (await signedIn(app)).get(`/violations/${id}`)).html, 'service');
    expect(service).not.toContain(messagesIn('en').towReports.nextTry);
    expect(service).not.toContain(messagesIn('en').towReports.giveUp);
  });

  test('masks personal data in a service response that breaks the contract', async () => {
    const id = await newOne(COMPLETE);
    const rawBody = JSON.stringify({ note: `about ${COMPLETE.fullName}`, plateNumber: COMPLETE.plateNumber });
    await sendAs(app, id, outcome({ next: 'accepted' }, { rawBody }));
    const service = markupOf((await (await signedIn(app)).get(`/violations/${id}`)).html, 'service');
    expect(service).toContain('about •••');
    expect(service).not.toContain(COMPLETE.plateNumber);
  });
});

describe('console: violation decisions', () => {
  const ALL = ['accept', 'correct', 'images', 'retry', 'waive'];

  test.each<[ViolationState, readonly string[]]>([
    ['pending', ALL],
    ['refused', ALL],
    ['unknown', ['accept', 'retry', 'waive']],
    ['accepted', []],
    ['waived', []],
  ])('offers only the decisions allowed for a violation in state %s', async (state, expected) => {
    const id = await newOne();
    if (state === 'refused') await sendAs(app, id, REFUSED);
    if (state === 'unknown') await sendAs(app, id, outcome({ next: 'unknown', delayMs: 60_000 }));
    if (state === 'accepted') await sendAs(app, id, takenAs('V-20261121-OFFER1'));
    if (state === 'waived') await api(app).post(`/api/violations/${id}/waive`).send({ reason: 'twice' });
    expect((await violationOf(app, id)).state).toBe(state);
    const dispatcher = await signedIn(app, await newKey(app, 'dispatcher', `dispatcher ${state}`));
    expect(offered((await dispatcher.get(`/violations/${id}`)).html, id).toSorted()).toEqual(expected);
    const crew = await signedIn(app, await newKey(app, 'crew', `crew ${state}`));
    expect(offered((await crew.get(`/violations/${id}`)).html, id)).toEqual([]);
  });

  test('names the images that a form with other images lacks by their label, which is not optional', async () => {
    const id = await newOne();
    await sendAs(app, id, REFUSED);
    const visitor = await signedIn(app);
    const { html } = await visitor.get(`/violations/${id}`);
    const { images } = messagesIn('en').violationForm.fields;
    const shown = markupOf(html, 'form-images');
    const own = ['form_token', 'form_key', 'question'];
    const fields = Object.fromEntries(own.map((name) => [name, valueIn(shown, name)]));
    const refused = await visitor.postMultipart(`/violations/${id}/images`, { fields });
    expect(refused.status).toBe(422);
    const form = markupOf(refused.html, 'form-images');
    expect(textOf(form)).toContain(`${images} : is required`);
    expect(textOf(form)).not.toContain(`${images} (optional)`);
  });

  test('corrects only the changed fields of a violation', async () => {
    const id = await newOne({ ...COMPLETE, location: 'Olaya Street\nat the tower' });
    await sendAs(app, id, REFUSED);
    const visitor = await signedIn(app);
    const { html } = await visitor.get(`/violations/${id}`);
    const form = markupOf(html, 'form-correct');
    const names = [...form.matchAll(/<(?:input|select|textarea)[^>]* name="([^"]+)"/g)].map(([, name = '']) => name);
    const entered = Object.fromEntries(
      names.filter((name) => !/^form_|^was-|^question$/.test(name)).map((name) => [name, textOf(valueIn(form, name))]),
    );
    const sent = {
      ...entered,
      location: 'Olaya Street\r\nat the tower',
      zoneId: '11111111-2222-4333-8444-666666666666',
    };
    const done = await visitor.post(`/violations/${id}/correct`, {
      ...sent,
      isSaudi: 'false',
      date: '2026-03-10T22:00',
    });
    expect([done.status, done.location]).toEqual([303, `/violations/${id}`]);

    const { form: corrected, state } = await violationOf(app, id);
    expect(corrected).toMatchObject({
      zoneId: '11111111-2222-4333-8444-666666666666',
      isSaudi: false,
      date: '2026-03-10T22:00:00+03:00',
      // Browsers send line breaks as CRLF.
      location: 'Olaya Street\r\nat the tower',
      identityNumber: COMPLETE.identityNumber,
    });
    expect(state).toBe('pending');
    const audit = await api(app).get('/api/audit?limit=1');
    expect(audit.body).toMatchObject({ items: [{ what: { fields: ['date', 'zoneId', 'isSaudi'] } }] });
  });

  test('clears the optional fields of a violation that were emptied in its correction', async () => {
    const id = await newOne(COMPLETE);
    const visitor = await signedIn(app);
    await visitor.get(`/violations/${id}`);
    const emptied = { fullName: ' ', identityNumber: '', isSaudi: '', date: '', location: 'Elsewhere' };
    expect((await visitor.post(`/violations/${id}/correct`, emptied)).status).toBe(303);
    const { form } = await violationOf(app, id);
    for (const name of ['fullName', 'identityNumber', 'isSaudi', 'date']) expect(form).not.toHaveProperty(name);
    expect(form).toMatchObject({ location: 'Elsewhere', mobileNumber: COMPLETE.mobileNumber });
  });

  test.each(['plateNumber', 'plateType', 'violationType', 'zoneId', 'latitude', 'longitude', 'location'])(
    'refuses a correction of a violation that empties %s, and names the field',
    async (name) => {
      const id = await newOne(COMPLETE);
      const visitor = await signedIn(app);
      await visitor.get(`/violations/${id}`);
      const response = await visitor.post(`/violations/${id}/correct`, { [name]: '', fullName: '' });
      expect(response.status).toBe(422);
      expect(markupOf(response.html, 'form-correct')).toContain(`href="#correct-${name}"`);
      expect((await violationOf(app, id)).form).toMatchObject({ fullName: COMPLETE.fullName });
    },
  );

  test('shows the reason and the entered values of a refused violation decision', async () => {
    const id = await newOne();
    const visitor = await signedIn(app);
    await visitor.get(`/violations/${id}`);
    const response = await visitor.post(`/violations/${id}/correct`, { zoneId: 'north', location: 'Elsewhere' });
    expect(response.status).toBe(422);
    const form = markupOf(response.html, 'form-correct');
    expect(form).toContain('href="#correct-zoneId"');
    expect(valueIn(form, 'location')).toBe('Elsewhere');
    expect(response.html).toMatch(/<details class="folded" open[^>]*>\s*<summary>Correct and send again/);

    const nothing = await visitor.post(`/violations/${id}/waive`, {});
    expect(textOf(nothing.html)).toContain('Check these fields: Reason');
  });

  test('refuses a violation decision with 409 when the service has accepted the violation', async () => {
    const id = await newOne();
    const visitor = await signedIn(app);
    await visitor.get(`/violations/${id}`);
    await sendAs(app, id, takenAs('V-20261121-LATE01'));
    const response = await visitor.post(`/violations/${id}/waive`, { reason: 'twice' });
    expect(response.status).toBe(409);
    expect(textOf(response.html)).toContain('This violation is already settled.');
  });

  test('accepts a violation manually with the reference entered by a person', async () => {
    const id = await newOne();
    const visitor = await signedIn(app);
    await visitor.get(`/violations/${id}`);
    const seen = { reason: 'seen there', violation_reference_id: 'V-20261121-HAND01' };
    expect((await visitor.post(`/violations/${id}/accept`, seen)).status).toBe(303);
    const { html } = await visitor.get(`/violations/${id}`);
    expect(textIn(html, 'service')).toMatch(/V-20261121-HAND01.*by hand.*seen there/);
  });

  test.each([
    ['the form before its correction', beforeCorrectionTask, 'perhaps as it was before it was corrected'],
    [
      'a reference of another violation',
      (id: string) => sharedReferenceTask({ id, otherId: 'other', reference: 'V-1' }),
      'the reference V-1, which is that of other',
    ],
  ])('closes the task about %s on the page of its violation', async (_what, taskOf, said) => {
    const id = await newOne();
    const taskId = await openOnViolation(app, id, taskOf(id));
    const visitor = await signedIn(app);
    const { html } = await visitor.get(`/violations/${id}`);
    expect(textOf(html)).toContain(said);
    const [resolve = ''] = offered(html, id).filter((action) => action.endsWith('/resolve'));
    expect((await visitor.post(`/violations/${id}/${resolve}`, { reason: 'compared' })).status).toBe(303);
    expect((await api(app).get('/api/tasks')).text).not.toContain(taskId);
  });

  test('shows title and advice of an informational task in the language of the viewer', async () => {
    const id = await newOne();
    await openOnViolation(app, id, beforeCorrectionTask(id));
    const visitor = await signedIn(app);
    visitor.cookies.set('towhook_language', 'ar');
    const shown = textOf((await visitor.get(`/violations/${id}`)).html);
    const { title, advice } = messagesIn('ar').taskTypes.types.violation_before_correction;
    for (const text of [title, advice]) expect(shown).toContain(text);
  });
});

test('redirects a GET of a violation form address to the page of the violation', async () => {
  const response = await (await signedIn(app)).get('/violations/some-id/correct');
  expect([response.status, response.location]).toEqual([303, '/violations/some-id']);
});
