import { knownViolationsView } from '../../src/contracts/violation/known-violations';
import { page } from '../../src/contracts/paging';
import { violationView } from '../../src/contracts/violation/violations';
import { unpackFields } from '../../src/store/redis/packed-fields';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { IMAGES, imageOf, PNG } from '../support/images';
import { api, entriesOf, errorOf, newKey } from './client';
import { clearDisk, COMPLETE, imagesOnDisk, report, REQUIRED, violationIn } from './forms';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

async function listed(query: Readonly<Record<string, string>> = {}) {
  const response = await api(app).get('/api/violations').query(query);
  return page(violationView).parse(response.body);
}

async function violationByReference(name: string) {
  const response = await api(app).get(`/api/violations/${name}`).expect(200);
  return violationView.parse(response.body);
}

const imagePath = (id: string, number: number | string) => `/api/violations/${encodeURIComponent(id)}/images/${number}`;

describe('operator API: reported violations', () => {
  it('accepts a violation with 202 and returns its id and everything that was entered', async () => {
    const files = [
      { name: 'front.png', bytes: imageOf(5000) },
      { name: 'صورة جانبية.png', bytes: imageOf(70_000, 2) },
      { name: 'back.png', bytes: PNG },
    ];
    const violation = violationIn(await report(app, COMPLETE, files));
    expect(violation).toMatchObject({
      state: 'pending',
      api: 'reference',
      metadata_id: 'case-77',
      violation_reference_id: null,
      by: 'bootstrap',
      warnings: [],
      attempts: 0,
      form: {
        ...COMPLETE,
        latitude: 24.7136,
        longitude: 46.6753,
        isSaudi: true,
        metadata: { id: 'case-77', shift: { name: 'night', cars: 2 } },
      },
    });
    expect(violation.images.map(({ name, size_bytes, content_type }) => [name, size_bytes, content_type])).toEqual(
      files.map(({ name, bytes }) => [name, bytes.length, 'image/png']),
    );
    const { next_attempt_at: _due, ...read } = await violationByReference(violation.id);
    const { next_attempt_at: _none, ...accepted } = violation;
    expect(read).toEqual(accepted);
  });

  it('accepts a violation with the required fields alone and uses its id as the metadata id', async () => {
    const violation = violationIn(await report(app));
    expect(violation).toMatchObject({ metadata_id: violation.id, images: [] });
    expect(violation.form).toEqual({
      ...REQUIRED,
      latitude: 24.7136,
      longitude: 46.6753,
      metadata: { id: violation.id },
    });
    await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  });

  it('stores the fields of a violation as entered, only trimmed', async () => {
    const entered = { ...REQUIRED, location: '  شارع العليا، الرياض\t', plateNumber: ' أ ب ح ١٢٣٤ ' };
    const { form, warnings } = violationIn(await report(app, entered));
    expect([form.location, form.plateNumber, warnings]).toEqual(['شارع العليا، الرياض', 'أ ب ح ١٢٣٤', []]);
  });

  it('accepts a violation with implausible values and returns a warning for each', async () => {
    const odd = {
      plateNumber: 'ABC 12345',
      identityNumber: '1234567890',
      mobileNumber: '12',
      date: '2999-01-01T00:00:00Z',
    };
    const { warnings, form } = violationIn(await report(app, { ...REQUIRED, ...odd }));
    expect(warnings.map(({ field }) => field)).toEqual(['date', 'plateNumber', 'identityNumber', 'mobileNumber']);
    expect(form).toMatchObject(odd);
  });

  it('finds a violation by its id and by its metadata id', async () => {
    const { id } = violationIn(await report(app, COMPLETE));
    for (const name of [id, 'case-77']) {
      expect((await violationByReference(name)).id).toBe(id);
    }
    await api(app).get('/api/violations/unknown').expect(404);
  });

  it('audits a reported violation with the key that reported it', async () => {
    const apiKey = await newKey(app, 'dispatcher', 'patrol 4');
    let id = '';
    const entries = await entriesOf(app, async () => {
      ({ id } = violationIn(await report(app, REQUIRED, [], { apiKey })));
    });
    expect(entries).toMatchObject([
      { action: 'violation.reported', by: 'patrol 4', role: 'dispatcher', on: { violation_id: id }, what: {} },
    ]);
  });

  it('keeps a plate without its invisible characters, names them in a warning, and finds it', async () => {
    const marks = 'U+200F RIGHT-TO-LEFT MARK, U+200E LEFT-TO-RIGHT MARK';
    const plateNumber = '\u200f١٢٣٤ ا ب ح\u200e';
    const violation = violationIn(await report(app, { ...REQUIRED, plateNumber, metadata: '{"id":"case-marks"}' }));
    const warnings = [{ field: 'plateNumber', rule: `had characters that are not visible and are not sent: ${marks}` }];
    expect(violation).toMatchObject({ form: { plateNumber: '١٢٣٤ ا ب ح' }, warnings });
    for (const q of ['1234', 'ABJ', '\u200f١٢٣٤', plateNumber]) {
      expect((await listed({ q })).items.map(({ id }) => id)).toContain(violation.id);
    }
    const unseen = await report(app, { ...REQUIRED, plateNumber: '\u200f\u200e' });
    expect([unseen.status, errorOf(unseen).details]).toMatchObject([422, [{ field: 'plateNumber' }]]);
  });

  it('refuses a violation with the metadata id of another one with 409 and keeps none of its images', async () => {
    violationIn(await report(app, COMPLETE));
    const again = await report(app, { ...COMPLETE, location: 'elsewhere' }, [{ name: 'a.png', bytes: PNG }]);
    expect([again.status, errorOf(again).code]).toEqual([409, 'metadata_id_taken']);
    expect(errorOf(again).details).toMatchObject([{ field: 'metadata.id' }]);
    expect((await listed()).items).toHaveLength(1);
    await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  });
});

describe('operator API: lists of violations', () => {
  it('lists violations newest first, page by page', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) ids.push(violationIn(await report(app)).id);
    const first = await listed({ limit: '2' });
    const second = await listed({ limit: '2', cursor: first.next_cursor ?? '' });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids.toReversed());
    expect(second.next_cursor).toBeNull();
  });

  it('filters violations by state and by the start of an id or of a plate in either script', async () => {
    const { id } = violationIn(await report(app, COMPLETE));
    violationIn(await report(app, { ...REQUIRED, plateNumber: 'KLM 77' }));
    expect((await listed({ state: 'pending' })).items).toHaveLength(2);
    expect((await listed({ state: 'accepted' })).items).toEqual([]);
    for (const q of ['case-7', id.slice(0, 8), 'abj', 'ا ب ح', '  ABJ12']) {
      expect((await listed({ q })).items.map((one) => one.id)).toEqual([id]);
    }
  });
});

describe('operator API: images of violations', () => {
  it.each(IMAGES)('serves the image %s byte for byte with its content type', async (name, bytes, contentType) => {
    const { id } = violationIn(await report(app, REQUIRED, [{ name, bytes }]));
    const response = await api(app).get(imagePath(id, 1)).expect(200);
    expect(response.body).toEqual(bytes);
    expect(response.get('content-type')).toBe(contentType);
  });

  it('serves an image without caching, sniffing or scripts, and with its file name escaped', async () => {
    const name = 'صورة "1"; a\'b c.png';
    const { id } = violationIn(await report(app, REQUIRED, [{ name, bytes: PNG }]));
    const response = await api(app).get(imagePath(id, 1));
    expect(response.get('x-content-type-options')).toBe('nosniff');
    expect(response.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.get('cache-control')).toBe('private, no-store');
    const disposition = response.get('content-disposition') ?? '';
    expect(disposition).toMatch(/^inline; filename="[\w .()-]+"; filename\*=UTF-8''[\w%.~!-]+$/);
    expect(decodeURIComponent(disposition.split("''")[1] ?? '')).toContain('صورة');
  });

  it('answers 404 for an unknown image number, an unknown violation and a missing image file', async () => {
    const { id } = violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
    for (const number of [0, 2, -1, '1.0', '01', 'x', '..%2f1']) {
      await api(app).get(imagePath(id, number)).expect(404);
    }
    await api(app).get(imagePath('unknown', 1)).expect(404);
    await api(app).get(imagePath(id, 1)).expect(200);
    await app.foundation.spool.drop({ kind: 'violation', id });
    const gone = await api(app).get(imagePath(id, 1)).expect(404);
    expect(errorOf(gone).code).toBe('not_found');
  });

  it('serves an image to a viewer and refuses it with 401 without an API key', async () => {
    const { id } = violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
    const viewer = await newKey(app, 'viewer');
    await api(app, viewer).get(imagePath(id, 1)).expect(200);
    await api(app, null).get(imagePath(id, 1)).expect(401);
  });
});

describe('operator API: violations with an Idempotency-Key', () => {
  const idempotencyKey = 'a-key-of-the-client';
  const file = { name: 'a.png', bytes: imageOf(2000) };

  it('stores one violation with one set of images when a form is repeated with its Idempotency-Key', async () => {
    const first = await report(app, COMPLETE, [file], { idempotencyKey });
    const again = await report(app, COMPLETE, [file], { idempotencyKey });
    expect([again.status, again.text]).toEqual([202, first.text]);
    expect((await listed()).items).toHaveLength(1);
    await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(1));
  });

  it.each([
    ['another field', { ...COMPLETE, location: 'elsewhere' }, [file]],
    ['another image of the same size', COMPLETE, [{ ...file, bytes: imageOf(2000, 9) }]],
    ['an image with another name', COMPLETE, [{ ...file, name: 'b.png' }]],
    ['one more image', COMPLETE, [file, file]],
  ])(
    'refuses a reused Idempotency-Key with 422 for a form with %s and keeps none of its images',
    async (_what, fields, files) => {
      violationIn(await report(app, COMPLETE, [file], { idempotencyKey }));
      const response = await report(app, fields, files, { idempotencyKey });
      expect([response.status, errorOf(response).code]).toEqual([422, 'idempotency_key_reused']);
      await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(1));
    },
  );

  it('stores the response for an Idempotency-Key together with the violation', async () => {
    violationIn(await report(app, REQUIRED, [], { idempotencyKey }));
    const keys = await app.redis.ask('KEYS', '*idempotency*');
    expect(keys).toHaveLength(1);
    const { answer } = unpackFields(await app.foundation.redis.hgetall(String(keys).trim()));
    expect(JSON.parse(answer ?? '')).toMatchObject({ state: 'pending' });
  });
});

describe('operator API: violations that other software reported', () => {
  const KNOWN = { metadata_id: 'known-1', plateNumber: 'ABJ 1', location: 'Olaya', latitude: 24, longitude: 46 };
  const add = async (...violations: object[]) => {
    const response = await api(app).post('/api/violations/known').send({ violations }).expect(202);
    return knownViolationsView.parse(response.body).items.map(({ result, fields }) => [result, fields]);
  };

  it('keeps the plate of a known violation without its invisible characters, and names them in a warning', async () => {
    const response = await api(app)
      .post('/api/violations/known')
      .send({ violations: [{ ...KNOWN, plateNumber: '\u200fABJ 1' }] });
    const { id = '' } = knownViolationsView.parse(response.body).items[0] ?? {};
    const stored = await api(app).get(`/api/violations/${id}`);
    expect(stored.body).toMatchObject({ form: { plateNumber: 'ABJ 1' }, warnings: [{ field: 'plateNumber' }] });
    expect(JSON.stringify(stored.body)).toContain('RIGHT-TO-LEFT MARK');
  });

  it('reports the fields of a conflict when an id or a reference comes with other content, in one call and in the next', async () => {
    const named = { ...KNOWN, violation_reference_id: 'V-KNOWN-1', date: '2026-03-10T12:00:00Z' };
    const other = { ...KNOWN, plateNumber: 'ABJ 2', date: '2026-03-10T12:00:01Z' };
    expect(await add(named, other)).toEqual([
      ['created', undefined],
      ['conflict', ['plateNumber', 'date']],
    ]);
    expect(
      await add(
        { ...KNOWN, plateNumber: '\u200fا ب ح ١', date: '2026-03-10T15:00:00+03:00' },
        { ...named, metadata_id: 'known-2' },
        { ...KNOWN, violation_reference_id: 'V-KNOWN-2' },
        { ...KNOWN, zoneId: '11111111-2222-4333-8444-555555555555', location: 'King Road' },
      ),
    ).toEqual([
      ['already_known', undefined],
      ['conflict', ['metadata_id']],
      ['conflict', ['violation_reference_id']],
      ['conflict', ['location', 'zoneId']],
    ]);
  });
});
