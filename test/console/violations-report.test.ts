import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { page } from '../../src/contracts/paging';
import { VIOLATION_FIELDS } from '../../src/contracts/violation/violation-input';
import { violationView } from '../../src/contracts/violation/violations';
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

describe('console: violation form', () => {
  test('has a violation form field for every contract field and marks exactly the required ones', async () => {
    const { html } = await (await signedIn(app)).get(FORM_PATH);
    for (const [name, schema] of Object.entries(VIOLATION_FIELDS)) {
      const isRequired = !schema.safeParse(undefined).success;
      expect([name, / required/.test(controlIn(html, name))]).toEqual([name, isRequired]);
    }
    expect(html).toMatch(/<input type="file"[^>]* name="images"[^>]* multiple/);
    expect(html).toMatch(/<input type="file"[^>]* name="images"[^>]* capture="environment"/);
    expect(html.lastIndexOf('type="file"')).toBeGreaterThan(html.indexOf('name="metadata"'));
  });

  test.each(['en', 'ar'])('offers every plate and violation type with a label in language %s', async (language) => {
    const visitor = await signedIn(app);
    visitor.cookies.set('towhook_language', language);
    const { html } = await visitor.get(FORM_PATH);
    const labels = [...PLATE_TYPES, ...VIOLATION_TYPES].map(
      (value) => new RegExp(`<option value="${value}"[^>]*>([^<]+)<`).exec(html)?.[1] ?? '',
    );
    expect(new Set(labels).size).toBe(PLATE_TYPES.length + VIOLATION_TYPES.length);
    for (const label of labels) expect(label).toMatch(language === 'ar' ? /^[\u0600-\u06ff ]+$/ : /^[A-Z][a-z ]+/);
  });

  test('prefills the violation time in Riyadh time with its UTC offset', async () => {
    const { html } = await (await signedIn(app)).get(FORM_PATH);
    const date = valueIn(html, 'date');
    expect(date).toMatch(/T\d{2}:\d{2}:00\+03:00$/);
    expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(120_000);
  });

  test('hides the violation form from crews and refuses their reports with 403', async () => {
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

  test('suggests the zones of the latest violations in the violation form', async () => {
    const visitor = await signedIn(app);
    expect((await visitor.get(FORM_PATH)).html).not.toContain(REQUIRED.zoneId);
    await sendReport(visitor, { fields: REQUIRED });
    expect((await visitor.get(FORM_PATH)).html).toContain(`<option value="${REQUIRED.zoneId}"`);
  });
});

describe('console: violation form without scripts', () => {
  test('creates a violation with its images from the form and redirects to its page', async () => {
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

  test('stores line breaks of the violation form as LF, although a browser sends CRLF', async () => {
    const visitor = await signedIn(app);
    const fields = { ...REQUIRED, imagesDescription: 'front\r\nback' };
    expect((await sendReport(visitor, { fields })).status).toBe(303);
    const [violation] = await reportedViolations();
    expect(violation?.form.imagesDescription).toBe('front\nback');
  });

  test.each([
    ['24,7136', '46,6753'],
    ['٢٤,٧١٣٦', '٤٦،٦٧٥٣'],
    [' +24.7136 ', '٤٦٫٦٧٥٣'],
  ])('takes the comma in the coordinates %s %s for a decimal point', async (latitude, longitude) => {
    const sent = await sendReport(await signedIn(app), { fields: { ...REQUIRED, latitude, longitude } });
    expect(sent.status).toBe(303);
    expect((await reportedViolations())[0]?.form).toMatchObject({ latitude: 24.7136, longitude: 46.6753 });
  });

  test.each(['24,713,6', '24,7136.5', ','])('refuses the latitude %s and names the field', async (latitude) => {
    const sent = await sendReport(await signedIn(app), { fields: { ...REQUIRED, latitude } });
    expect(sent.status).toBe(422);
    expect(sent.html).toContain('<a href="#report-latitude">');
    expect(await reportedViolations()).toEqual([]);
  });

  test('creates a violation without images from a form with empty file fields', async () => {
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

  test('creates one violation when its form is sent twice', async () => {
    const visitor = await signedIn(app);
    const response = await visitor.get(FORM_PATH);
    const [first, again] = [
      await sendReport(visitor, { fields: REQUIRED, files: [PHOTO], page: response }),
      await sendReport(visitor, { fields: REQUIRED, files: [PHOTO], page: response }),
    ];
    expect(again.location).toBe(first.location);
    expect(await reportedViolations()).toHaveLength(1);
  });

  test('refuses a violation form with the token of another session with 403 and shows none of its values', async () => {
    const [visitor, other] = [await signedIn(app), await signedIn(app)];
    const sent = await sendReport(visitor, { fields: COMPLETE, files: [PHOTO], page: await other.get(FORM_PATH) });
    expect(sent.status).toBe(403);
    expect(sent.html).not.toContain(COMPLETE.identityNumber);
    expect(await reportedViolations()).toEqual([]);
    expect(await imagesOnDisk(app)).toEqual([]);
  });
});

describe('console: refused violation form', () => {
  const WRONG = { ...COMPLETE, zoneId: 'north', latitude: '91', fullName: '', metadata: '{"id":7}' };

  test('names every invalid field of a violation form and keeps the entered values', async () => {
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

  test('asks to choose the images again after a refused violation form and deletes them', async () => {
    const visitor = await signedIn(app);
    expect((await visitor.get(FORM_PATH)).html).not.toContain('data-files-lost');
    const sent = await sendReport(visitor, { fields: WRONG, files: [PHOTO] });
    expect(textOf(sent.html)).toContain('Choose the images again');
    expect(await imagesOnDisk(app)).toEqual([]);
  });

  test('names invalid images of a violation form and keeps the entered values', async () => {
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
    expect(textIn(text.html, 'report-images-error')).toContain('Image 2: must be a whole image');
  });

  test('offers to send a damaged image after it was refused', async () => {
    const visitor = await signedIn(app);
    const CHECKBOX = 'name="accept_damaged_images" value="true"';
    const files = [PHOTO, { name: 'cut.png', bytes: PNG.subarray(0, -4) }];
    expect((await visitor.get(FORM_PATH)).html).not.toContain(CHECKBOX);
    const refused = await sendReport(visitor, { fields: COMPLETE, files });
    expect(refused.status).toBe(422);
    expect(textIn(refused.html, 'report-images-error')).toContain('Image 2: is cut off or damaged');
    expect(refused.html).toContain(CHECKBOX);
    const sent = await sendReport(visitor, { fields: { ...COMPLETE, accept_damaged_images: 'true' }, files });
    expect(sent.status).toBe(303);
  });

  test('opens a folded group of the violation form that holds an error', async () => {
    const visitor = await signedIn(app);
    const folded = (html: string) => [...html.matchAll(/<details class="card group"( open)?/g)].map(([, open]) => open);
    expect(folded((await visitor.get(FORM_PATH)).html)).toEqual([undefined, undefined]);
    const { html } = await sendReport(visitor, { fields: { ...REQUIRED, metadata: 'x' } });
    expect(folded(html)).toEqual([undefined, ' open']);
  });

  test('explains a refused violation form in Arabic', async () => {
    const sent = await sendReport(await arabic(), {
      fields: { ...COMPLETE, zoneId: 'north', latitude: '91', plateType: 'BICYCLE', date: 'yesterday', location: '' },
    });
    const [problem = ''] = /<div class="problem"[^]*?<\/div>/.exec(sent.html) ?? [];
    expect(textOf(problem)).toContain('المنطقة : يجب أن يكون UUID');
    expect(problem).not.toContain('lang="en"');
  });

  test('refuses a changed violation form with the form key of an earlier one with 422', async () => {
    const visitor = await signedIn(app);
    const response = await visitor.get(FORM_PATH);
    await sendReport(visitor, { fields: REQUIRED, page: response });
    const changed = await sendReport(visitor, { fields: { ...REQUIRED, location: 'elsewhere' }, page: response });
    expect([changed.status, (await reportedViolations()).length]).toEqual([422, 1]);
    expect(valueIn(changed.html, 'location')).toBe('elsewhere');
  });
});

describe('console: violation form sent by a script', () => {
  const headers = { 'hx-request': 'true' };

  test('returns the page of the new violation in HX-Redirect to a script', async () => {
    const sent = await sendReport(await signedIn(app), { fields: REQUIRED, files: [PHOTO], headers });
    const [violation] = await reportedViolations();
    expect([sent.status, sent.get('hx-redirect'), sent.html]).toEqual([200, `/violations/${violation?.id}`, '']);
    expect(sent.get('Set-Cookie')?.join()).toContain('towhook_done=reported');
  });

  test('returns only the form to a script when a violation form is refused', async () => {
    const sent = await sendReport(await signedIn(app), { fields: { ...REQUIRED, zoneId: 'x' }, headers });
    expect(sent.status).toBe(422);
    expect(sent.html).toMatch(/^<div id="report"/);
    expect(markupOf(sent.html, 'report')).toContain('aria-invalid');
  });
});

test('lists the sent fields on the violation form when the guide API is configured', async () => {
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

test.each([
  [
    'the disk is unusable',
    async (spool: string) => {
      await rm(spool, { recursive: true, force: true });
      await writeFile(spool, 'a file where the folder should be');
    },
  ],
  [
    'no upload can begin',
    async (spool: string) => {
      await rm(join(spool, 'incoming'), { recursive: true, force: true });
      await writeFile(join(spool, 'incoming'), 'a file where the folder should be');
    },
  ],
])('keeps the entered values of a violation form while %s', async (_state, spoil) => {
  const spool = join(app.foundation.config.dataDir, 'spool');
  const visitor = await signedIn(app);
  await sendReport(visitor, { fields: REQUIRED });
  try {
    await spoil(spool);
    const sent = await sendReport(visitor, { fields: COMPLETE, files: [PHOTO] });
    expect(sent.status).toBe(503);
    expect(valueIn(sent.html, 'location')).toBe(COMPLETE.location);
    expect(valueIn(sent.html, 'identityNumber')).toBe(COMPLETE.identityNumber);
  } finally {
    await rm(spool, { recursive: true, force: true });
    await app.redis.ask('DEL', '{towhook-main}:spool-marker');
  }
});
