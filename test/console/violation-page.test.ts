import { beforeCorrectionTask } from '../../src/domain/violation-tasks';
import type { ViolationState } from '../../src/domain/vocabulary';
import { api, newKey } from '../operator/client';
import { clearDisk, COMPLETE, report, REQUIRED, violationIn } from '../operator/forms';
import { violationOf } from '../operator/violation-world';
import { useApp } from '../support/app';
import { PNG } from '../support/images';
import { outcome, takenAs } from '../support/violations';
import { openGeneral } from './task-world';
import { markupOf, textIn } from './tow-world';
import { sendAs, valueIn } from './violation-world';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const FILES = [
  { name: 'front.png', bytes: PNG },
  { name: 'back.png', bytes: PNG },
];
const REFUSED = outcome(
  { next: 'refused', hint: null },
  { error: { http_status: 400, message: 'Zone not found' }, hadNoEffect: true },
);

async function newOne(fields: Readonly<Record<string, string>> = REQUIRED, files = FILES): Promise<string> {
  return violationIn(await report(app, fields, files)).id;
}
const offered = (html: string, id: string) =>
  [...html.matchAll(/<form method="post" action="([^"]+)"/g)]
    .map(([, action = '']) => action)
    .filter((action) => action.startsWith(`/violations/${id}/`))
    .map((action) => action.slice(`/violations/${id}/`.length));

describe('the page of a violation', () => {
  test('shows everything that was reported, and folds what is about people', async () => {
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

  test('is found by the id in its metadata too, and there is none for what is no violation', async () => {
    const id = await newOne(COMPLETE);
    const visitor = await signedIn(app);
    expect((await visitor.get('/violations/case-77')).html).toContain(`data-watch="violation:${id}"`);
    expect((await visitor.get('/violations/none')).status).toBe(404);
  });

  test('shows the images to whoever is signed in while they are here, and says once they left', async () => {
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
    expect(after).toContain('Its 2 images left our disk');
    expect(after).not.toContain('front.png');
  });

  test('says which image is missing on the disk, and asks for none of them', async () => {
    const id = await newOne();
    await clearDisk(app);
    const { html } = await (await signedIn(app)).get(`/violations/${id}`);
    expect(textIn(html, 'images')).toMatch(/front.png.*not on the disk.*back.png.*not on the disk/);
    expect(html).not.toContain('/images/1');
  });

  test('warns of what looks wrong, in both languages, and says that it is sent all the same', async () => {
    const id = await newOne({ ...REQUIRED, identityNumber: '123', plateNumber: 'QQQ 1', date: '2026-03-10T18:05:00' });
    const visitor = await signedIn(app);
    const text = textIn((await visitor.get(`/violations/${id}`)).html, 'warnings');
    expect(text).toContain('Identity number : does not have 10 digits');
    expect(text).toContain('has no offset from UTC');
    expect(text).toContain('Nothing here stops the violation');
    visitor.cookies.set('towhook_language', 'ar');
    expect(markupOf((await visitor.get(`/violations/${id}`)).html, 'warnings')).not.toContain('lang="en"');
  });

  test('shows what the service made of it', async () => {
    const id = await newOne();
    await sendAs(app, id, REFUSED);
    const visitor = await signedIn(app);
    const refused = await visitor.get(`/violations/${id}`);
    expect(textOf(refused.html)).toContain(
      'The service refused the violation and a person must decide ( HTTP 400: Zone not found )',
    );
    expect(textIn(refused.html, 'attempts')).toContain('refused');

    await api(app).post(`/api/violations/${id}/retry`).send({});
    const named = { reference: 'V-20261121-PAGE02', serviceStatus: 'PENDING', canTow: true };
    await sendAs(app, id, takenAs(named.reference, { named }));
    const service = textIn((await visitor.get(`/violations/${id}`)).html, 'service');
    expect(service).toMatch(/V-20261121-PAGE02.*Status PENDING.*May be towed Yes.*Accepted .* by the answer/);
  });

  test('masks personal data in an answer that breaks the contract', async () => {
    const id = await newOne(COMPLETE);
    const rawBody = JSON.stringify({ note: `about ${COMPLETE.fullName}`, plateNumber: COMPLETE.plateNumber });
    await sendAs(app, id, outcome({ next: 'accepted', flag: 'contract_broken' }, { rawBody }));
    const service = markupOf((await (await signedIn(app)).get(`/violations/${id}`)).html, 'service');
    expect(service).toContain('about •••');
    expect(service).not.toContain(COMPLETE.plateNumber);
  });
});

describe('what may be decided', () => {
  const ALL = ['accept', 'correct', 'retry', 'waive'];

  test.each<[ViolationState, readonly string[]]>([
    ['pending', ALL],
    ['refused', ALL],
    ['unknown', ['accept', 'retry', 'waive']],
    ['accepted', []],
    ['waived', []],
  ])('of one that is %s is offered, and nothing else', async (state, expected) => {
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

  test('is carried out, and only what was changed is corrected', async () => {
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

  test('comes back with its reason and what was entered when it is refused', async () => {
    const id = await newOne();
    const visitor = await signedIn(app);
    await visitor.get(`/violations/${id}`);
    const response = await visitor.post(`/violations/${id}/correct`, { zoneId: 'north', location: 'Elsewhere' });
    expect(response.status).toBe(422);
    const form = markupOf(response.html, 'form-correct');
    expect(form).toContain('href="#correct-zoneId"');
    expect(valueIn(form, 'location')).toBe('Elsewhere');
    expect(response.html).toMatch(/<details class="folded" open[^>]*>\s*<summary>Correct and resend/);

    const nothing = await visitor.post(`/violations/${id}/waive`, {});
    expect(textOf(nothing.html)).toContain('Please look at these fields: Reason');
  });

  test('is refused with the reason where the answer came meanwhile', async () => {
    const id = await newOne();
    const visitor = await signedIn(app);
    await visitor.get(`/violations/${id}`);
    await sendAs(app, id, takenAs('V-20261121-LATE01'));
    const response = await visitor.post(`/violations/${id}/waive`, { reason: 'twice' });
    expect(response.status).toBe(409);
    expect(textOf(response.html)).toContain('The violation was already accepted.');
  });

  test('by hand takes over the reference that a person has seen', async () => {
    const id = await newOne();
    const visitor = await signedIn(app);
    await visitor.get(`/violations/${id}`);
    const seen = { reason: 'seen there', violation_reference_id: 'V-20261121-HAND01' };
    expect((await visitor.post(`/violations/${id}/accept`, seen)).status).toBe(303);
    const { html } = await visitor.get(`/violations/${id}`);
    expect(textIn(html, 'service')).toMatch(/V-20261121-HAND01.*by a person.*seen there/);
  });

  test('of a task that only informs is to close it', async () => {
    const id = await newOne();
    const taskId = await openGeneral(app, beforeCorrectionTask(id));
    const visitor = await signedIn(app);
    const { html } = await visitor.get(`/violations/${id}`);
    expect(textOf(html)).toContain('perhaps as it was before it was corrected');
    const [resolve = ''] = offered(html, id).filter((action) => action.endsWith('/resolve'));
    expect((await visitor.post(`/violations/${id}/${resolve}`, { reason: 'compared' })).status).toBe(303);
    expect((await api(app).get('/api/tasks')).text).not.toContain(taskId);
  });
});

test('an address of a form leads whoever opens it to the page of its violation', async () => {
  const response = await (await signedIn(app)).get('/violations/some-id/correct');
  expect([response.status, response.location]).toEqual([303, '/violations/some-id']);
});
