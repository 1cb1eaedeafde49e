import { page } from '../../src/contracts/paging';
import { violationView } from '../../src/contracts/violations';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { IMAGES, imageOf, PNG } from '../support/images';
import { entriesOf } from './audited';
import { errorOf, get, newKey } from './client';
import { clearDisk, COMPLETE, imagesOnDisk, report, REQUIRED, violationIn } from './forms';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

async function listed(query: Readonly<Record<string, string>> = {}) {
  const answer = await get(app, `/api/violations?${new URLSearchParams(query).toString()}`);
  return page(violationView).parse(answer.json);
}

const imagePath = (id: string, number: number | string) => `/api/violations/${encodeURIComponent(id)}/images/${number}`;

async function bytesOf(path: string): Promise<{ response: Response; bytes: Buffer }> {
  const response = await fetch(`${app.consoleUrl}${path}`, { headers: { authorization: `Bearer ${app.apiKey}` } });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe('a reported violation', () => {
  it('is answered at once with our id and everything that was entered', async () => {
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
    const { next_attempt_at: _due, ...read } = violationIn(await get(app, `/api/violations/${violation.id}`), 200);
    const { next_attempt_at: _none, ...answered } = violation;
    expect(read).toEqual(answered);
  });

  it('needs no more than the required fields, and gets our id as the id of its metadata', async () => {
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

  it('keeps metadata without an id beside our id', async () => {
    const violation = violationIn(await report(app, { ...REQUIRED, metadata: '{"patrol":7}' }));
    expect(violation.form.metadata).toEqual({ patrol: 7, id: violation.id });
  });

  it('goes out as it was entered, only trimmed', async () => {
    const entered = { ...REQUIRED, location: '  شارع العليا، الرياض\t', plateNumber: ' أ ب ح ١٢٣٤ ' };
    const { form, warnings } = violationIn(await report(app, entered));
    expect([form.location, form.plateNumber, warnings]).toEqual(['شارع العليا، الرياض', 'أ ب ح ١٢٣٤', []]);
  });

  it('carries warnings about what looks wrong, and is taken in all the same', async () => {
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

  it('is found by our id and by the id of its metadata', async () => {
    const { id } = violationIn(await report(app, COMPLETE));
    for (const name of [id, 'case-77']) {
      expect(violationIn(await get(app, `/api/violations/${name}`), 200).id).toBe(id);
    }
    expect((await get(app, '/api/violations/unknown')).status).toBe(404);
  });

  it('is audited with the key that reported it', async () => {
    const apiKey = await newKey(app, 'dispatcher', 'patrol 4');
    let id = '';
    const entries = await entriesOf(app, async () => {
      ({ id } = violationIn(await report(app, REQUIRED, [], { apiKey })));
    });
    expect(entries).toMatchObject([
      { action: 'violation.reported', by: 'patrol 4', role: 'dispatcher', on: { violation_id: id }, what: {} },
    ]);
  });

  it('is refused when another one has the same id in its metadata, and leaves no image behind', async () => {
    violationIn(await report(app, COMPLETE));
    const again = await report(app, { ...COMPLETE, location: 'elsewhere' }, [{ name: 'a.png', bytes: PNG }]);
    expect([again.status, errorOf(again).code]).toEqual([409, 'metadata_id_taken']);
    expect(errorOf(again).details).toMatchObject([{ field: 'metadata.id' }]);
    expect((await listed()).items).toHaveLength(1);
    await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  });
});

describe('violations are listed', () => {
  it('newest first, page by page', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) ids.push(violationIn(await report(app)).id);
    const first = await listed({ limit: '2' });
    const second = await listed({ limit: '2', cursor: first.next_cursor ?? '' });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids.toReversed());
    expect(second.next_cursor).toBeNull();
  });

  it('by state, and by the beginning of an id or a plate in either script', async () => {
    const { id } = violationIn(await report(app, COMPLETE));
    violationIn(await report(app, { ...REQUIRED, plateNumber: 'KLM 77' }));
    expect((await listed({ state: 'pending' })).items).toHaveLength(2);
    expect((await listed({ state: 'accepted' })).items).toEqual([]);
    for (const q of ['case-7', id.slice(0, 8), 'abj', 'ا ب ح', '  ABJ12']) {
      expect((await listed({ q })).items.map((one) => one.id)).toEqual([id]);
    }
  });
});

describe('an image of a violation', () => {
  it.each(IMAGES)('%s is given back byte for byte, as what it is', async (name, bytes, contentType) => {
    const { id } = violationIn(await report(app, REQUIRED, [{ name, bytes }]));
    const given = await bytesOf(imagePath(id, 1));
    expect(given.response.status).toBe(200);
    expect(given.bytes.equals(bytes)).toBe(true);
    expect(given.response.headers.get('content-type')).toBe(contentType);
  });

  it('runs nothing, is kept by no cache and is shown under a name that breaks no header', async () => {
    const name = 'صورة "1"; a\'b c.png';
    const { id } = violationIn(await report(app, REQUIRED, [{ name, bytes: PNG }]));
    const { headers } = (await bytesOf(imagePath(id, 1))).response;
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('cache-control')).toBe('private, no-store');
    const disposition = headers.get('content-disposition') ?? '';
    expect(disposition).toMatch(/^inline; filename="[\w .()-]+"; filename\*=UTF-8''[\w%.~!-]+$/);
    expect(decodeURIComponent(disposition.split("''")[1] ?? '')).toContain('صورة');
  });

  it('is 404 when there is none of that number, no such violation, or its file is gone', async () => {
    const { id } = violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
    for (const number of [0, 2, -1, '1.0', '01', 'x', '..%2f1']) {
      expect((await get(app, imagePath(id, number))).status).toBe(404);
    }
    expect((await get(app, imagePath('unknown', 1))).status).toBe(404);
    expect((await get(app, imagePath(id, 1))).status).toBe(200);
    await app.foundation.spool.drop({ kind: 'violation', id });
    const gone = await get(app, imagePath(id, 1));
    expect([gone.status, errorOf(gone).code]).toEqual([404, 'not_found']);
  });

  it('is shown to viewers and to nobody without a key', async () => {
    const { id } = violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
    expect((await get(app, imagePath(id, 1), { apiKey: await newKey(app, 'viewer') })).status).toBe(200);
    expect((await get(app, imagePath(id, 1), { apiKey: null })).status).toBe(401);
  });
});

describe('under an Idempotency-Key', () => {
  const idempotencyKey = 'a-key-of-the-client';
  const file = { name: 'a.png', bytes: imageOf(2000) };

  it('the same form is one violation with one set of images', async () => {
    const first = await report(app, COMPLETE, [file], { idempotencyKey });
    const again = await report(app, COMPLETE, [file], { idempotencyKey });
    expect([again.status, again.text]).toEqual([202, first.text]);
    expect((await listed()).items).toHaveLength(1);
    await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(1));
  });

  it.each([
    ['another field', { ...COMPLETE, location: 'elsewhere' }, [file]],
    ['another image of the same size', COMPLETE, [{ ...file, bytes: imageOf(2000, 9) }]],
    ['an image of another name', COMPLETE, [{ ...file, name: 'b.png' }]],
    ['one image more', COMPLETE, [file, file]],
  ])('%s is another form: 422, and nothing of it stays', async (_what, fields, files) => {
    violationIn(await report(app, COMPLETE, [file], { idempotencyKey }));
    const answer = await report(app, fields, files, { idempotencyKey });
    expect([answer.status, errorOf(answer).code]).toEqual([422, 'idempotency_key_reused']);
    await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(1));
  });

  it('the answer is stored by the write that stores the violation', async () => {
    violationIn(await report(app, REQUIRED, [], { idempotencyKey }));
    const keys = await app.redis.ask('KEYS', '*idempotency*');
    expect(keys).toHaveLength(1);
    const stored = await app.redis.ask('HGET', String(keys).trim(), 'answer');
    expect(JSON.parse(String(stored))).toMatchObject({ status: 202, body: { state: 'pending' } });
  });
});
