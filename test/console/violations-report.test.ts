import { page } from '../../src/contracts/paging';
import { VIOLATION_FIELDS } from '../../src/contracts/violation-input';
import { violationView } from '../../src/contracts/violations';
import { PLATE_TYPES, VIOLATION_TYPES } from '../../src/domain/vocabulary';
import { api, newKey } from '../operator/client';
import { clearDisk, COMPLETE, imagesOnDisk, REQUIRED } from '../operator/forms';
import { startApp, useApp } from '../support/app';
import { imageOf, PNG } from '../support/images';
import { markupOf, textIn } from './tow-world';
import { controlIn, FORM_PATH, formKeys, sendReport, valueIn } from './violation-world';
import { signedIn, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const reportedViolations = async () => page(violationView).parse((await api(app).get('/api/violations')).body).items;
const arabic = async (): Promise<Visitor> => {
  const visitor = await signedIn(app);
  visitor.cookies.set('towhook_language', 'ar');
  return visitor;
};
const PHOTO = { name: 'front.png', bytes: imageOf(5000) };

describe('the form', () => {
  test('has a field for everything the contract takes, and asks for exactly what it requires', async () => {
    const { html } = await (await signedIn(app)).get(FORM_PATH);
    for (const [name, schema] of Object.entries(VIOLATION_FIELDS)) {
      const isRequired = !schema.safeParse(undefined).success;
      expect([name, / required/.test(controlIn(html, name))]).toEqual([name, isRequired]);
    }
    expect(html).toMatch(/<input type="file"[^>]* name="images"[^>]* multiple/);
    expect(html).toMatch(/<input type="file"[^>]* name="images"[^>]* capture="environment"/);
    expect(html.lastIndexOf('type="file"')).toBeGreaterThan(html.indexOf('name="metadata"'));
  });

  test.each(['en', 'ar'])('offers every kind by its wire name, with words in %s', async (language) => {
    const visitor = await signedIn(app);
    visitor.cookies.set('towhook_language', language);
    const { html } = await visitor.get(FORM_PATH);
    const labels = [...PLATE_TYPES, ...VIOLATION_TYPES].map(
      (value) => new RegExp(`<option value="${value}"[^>]*>([^<]+)<`).exec(html)?.[1] ?? '',
    );
    expect(new Set(labels).size).toBe(PLATE_TYPES.length + VIOLATION_TYPES.length);
    for (const label of labels) expect(label).toMatch(language === 'ar' ? /^[\u0600-\u06ff ]+$/ : /^[A-Z][a-z ]+/);
  });

  test('says when it was seen in Riyadh time with its offset, as the API takes it', async () => {
    const { html } = await (await signedIn(app)).get(FORM_PATH);
    const date = valueIn(html, 'date');
    expect(date).toMatch(/T\d{2}:\d{2}:00\+03:00$/);
    expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(120_000);
  });

  test('is for dispatchers: crews are neither led to it nor let in', async () => {
    const crew = await signedIn(app, await newKey(app, 'crew', 'crew of the form'));
    expect((await crew.get('/violations')).html).not.toContain(FORM_PATH);
    expect((await crew.get(FORM_PATH)).status).toBe(403);
    const dispatcher = await signedIn(app, await newKey(app, 'dispatcher', 'dispatcher of the form'));
    const response = await dispatcher.get(FORM_PATH);
    const sent = await sendReport(crew, { fields: REQUIRED, files: [PHOTO], page: response });
    expect(sent.status).toBe(403);
    expect(await reportedViolations()).toEqual([]);
    expect(await imagesOnDisk(app)).toEqual([]);
  });

  test('suggests the zones of the latest reports', async () => {
    const visitor = await signedIn(app);
    expect((await visitor.get(FORM_PATH)).html).not.toContain(REQUIRED.zoneId);
    await sendReport(visitor, { fields: REQUIRED });
    expect((await visitor.get(FORM_PATH)).html).toContain(`<option value="${REQUIRED.zoneId}"`);
  });
});

describe('a form that is sent without a script', () => {
  test('is taken in with its images, and leads to the page of its violation', async () => {
    const visitor = await signedIn(app);
    const sent = await sendReport(visitor, {
      fields: COMPLETE,
      files: [PHOTO, { name: 'back.png', bytes: PNG }],
    });
    const [violation] = await reportedViolations();
    expect([sent.status, sent.location]).toEqual([303, `/violations/${violation?.id}`]);
    expect(violation?.form).toMatchObject({ plateNumber: COMPLETE.plateNumber, identityNumber: '1000000008' });
    expect(violation?.images.map(({ name }) => name)).toEqual(['front.png', 'back.png']);
    expect(sent.get('Set-Cookie')?.join()).toContain('towhook_done=reported');
  });

  test('as browsers send it with no file chosen is taken in without images', async () => {
    const visitor = await signedIn(app);
    const fields = { ...formKeys((await visitor.get(FORM_PATH)).html), ...REQUIRED };
    // Written by hand: superagent cannot send an empty file name.
    const parts = Object.entries(fields).map(([name, value]) => [`name="${name}"`, value]);
    const noFile = ['name="images"; filename=""\r\ncontent-type: application/octet-stream', ''];
    const body = [...parts, noFile, noFile].map(
      ([head, value]) => `--part\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`,
    );
    const sent = await visitor.postRaw(FORM_PATH, `${body.join('')}--part--\r\n`, {
      'content-type': 'multipart/form-data; boundary=part',
    });
    expect(sent.status).toBe(303);
    expect((await reportedViolations())[0]?.images).toEqual([]);
  });

  test('twice is one violation', async () => {
    const visitor = await signedIn(app);
    const response = await visitor.get(FORM_PATH);
    const [first, again] = [
      await sendReport(visitor, { fields: REQUIRED, files: [PHOTO], page: response }),
      await sendReport(visitor, { fields: REQUIRED, files: [PHOTO], page: response }),
    ];
    expect(again.location).toBe(first.location);
    expect(await reportedViolations()).toHaveLength(1);
  });

  test('with the token of another session takes nothing in, and shows nothing of it', async () => {
    const [visitor, other] = [await signedIn(app), await signedIn(app)];
    const sent = await sendReport(visitor, { fields: COMPLETE, files: [PHOTO], page: await other.get(FORM_PATH) });
    expect(sent.status).toBe(403);
    expect(sent.html).not.toContain(COMPLETE.identityNumber);
    expect(await reportedViolations()).toEqual([]);
    expect(await imagesOnDisk(app)).toEqual([]);
  });
});

describe('a form that is refused', () => {
  const WRONG = { ...COMPLETE, zoneId: 'north', latitude: '91', fullName: '', metadata: '{"id":7}' };

  test('comes back with every failing field named and everything that was entered', async () => {
    const sent = await sendReport(await signedIn(app), { fields: WRONG, files: [PHOTO] });
    expect(sent.status).toBe(422);
    const named = [...sent.html.matchAll(/<li><a href="#report-([^"]+)">/g)].map(([, field]) => field);
    expect(new Set(named)).toEqual(new Set(['latitude', 'metadata-id', 'zoneId']));
    for (const field of named) expect(sent.html).toContain(`id="report-${field}"`);
    for (const [name, value] of Object.entries(WRONG)) {
      expect([name, textOf(valueIn(sent.html, name))]).toEqual([name, value]);
    }
    expect(controlIn(sent.html, 'zoneId')).toContain('aria-invalid="true"');
    expect(controlIn(sent.html, 'metadata')).toContain('aria-invalid="true"');
  });

  test('says that the images must be chosen again, and leaves none on the disk', async () => {
    const visitor = await signedIn(app);
    expect((await visitor.get(FORM_PATH)).html).not.toContain('data-files-lost');
    const sent = await sendReport(visitor, { fields: WRONG, files: [PHOTO] });
    expect(textOf(sent.html)).toContain('Please choose the images again');
    expect(await imagesOnDisk(app)).toEqual([]);
  });

  test('for its images names them, and what was entered is still there', async () => {
    const visitor = await signedIn(app);
    const large = await sendReport(visitor, {
      fields: COMPLETE,
      files: [{ name: 'a.png', bytes: imageOf(11_000_000) }],
    });
    expect([large.status, valueIn(large.html, 'location')]).toEqual([413, COMPLETE.location]);
    expect(large.html).toContain('href="#report-images"');
    const text = await sendReport(visitor, {
      fields: COMPLETE,
      files: [PHOTO, { name: 'a.txt', bytes: Buffer.from('no image') }],
    });
    expect([text.status, valueIn(text.html, 'location')]).toEqual([422, COMPLETE.location]);
    expect(textIn(text.html, 'report-images-error')).toContain('images.2 must be a whole image');
  });

  test('shows the groups that are folded where something in them is wrong or entered', async () => {
    const visitor = await signedIn(app);
    const folded = (html: string) => [...html.matchAll(/<details class="card group"( open)?/g)].map(([, open]) => open);
    expect(folded((await visitor.get(FORM_PATH)).html)).toEqual([undefined, undefined]);
    const { html } = await sendReport(visitor, { fields: { ...REQUIRED, metadata: 'x' } });
    expect(folded(html)).toEqual([undefined, ' open']);
  });

  test('is answered in Arabic as far as it is our own words', async () => {
    const sent = await sendReport(await arabic(), {
      fields: { ...COMPLETE, zoneId: 'north', latitude: '91', plateType: 'BICYCLE', date: 'yesterday', location: '' },
    });
    const problem = sent.html.slice(sent.html.indexOf('role="alert"'), sent.html.indexOf('id="report-form"'));
    expect(textOf(problem)).toContain('المنطقة : يجب أن يكون UUID');
    expect(problem).not.toContain('lang="en"');
  });

  test('under the key of another one says so instead of reporting twice', async () => {
    const visitor = await signedIn(app);
    const response = await visitor.get(FORM_PATH);
    await sendReport(visitor, { fields: REQUIRED, page: response });
    const changed = await sendReport(visitor, { fields: { ...REQUIRED, location: 'elsewhere' }, page: response });
    expect([changed.status, (await reportedViolations()).length]).toEqual([422, 1]);
    expect(valueIn(changed.html, 'location')).toBe('elsewhere');
  });
});

describe('a form that a script sends', () => {
  const headers = { 'hx-request': 'true' };

  test('is told where its violation is, and what to say there', async () => {
    const sent = await sendReport(await signedIn(app), { fields: REQUIRED, files: [PHOTO], headers });
    const [violation] = await reportedViolations();
    expect([sent.status, sent.get('hx-redirect'), sent.html]).toEqual([200, `/violations/${violation?.id}`, '']);
    expect(sent.get('Set-Cookie')?.join()).toContain('towhook_done=reported');
  });

  test('comes back as the form alone when it is refused', async () => {
    const sent = await sendReport(await signedIn(app), { fields: { ...REQUIRED, zoneId: 'x' }, headers });
    expect(sent.status).toBe(422);
    expect(sent.html).toMatch(/^<div id="report"/);
    expect(markupOf(sent.html, 'report')).toContain('aria-invalid');
  });
});

test('a console that reports by the guide says what of the form is sent', async () => {
  const showsNotice = async (console: Parameters<typeof signedIn>[0]) =>
    textOf((await (await signedIn(console)).get(FORM_PATH)).html).includes(
      'only plate, plate type, zone and violation type',
    );
  expect(await showsNotice(app)).toBe(false);
  const guide = await startApp({ role: 'console', redisUrl: app.redis.url, environment: { VIOLATION_API: 'guide' } });
  try {
    expect(await showsNotice(guide)).toBe(true);
  } finally {
    await guide.stop();
  }
});
