import { useApp } from '../support/app';
import { imageOf, jpegOfBlocks, PNG } from '../support/images';
import { api, audited, errorOf, fieldsOf } from './client';
import { clearDisk, formOf, imagesOnDisk, postForm, report, REQUIRED, violationIn } from './forms';
import { newTow, violationOf } from './world';
import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { JSON_LEVELS_MAX, METADATA_LEVELS_MAX } from '../../src/contracts/common';
import { violationDocument } from '../../src/domain/violation/violation';
import { readCall } from '../../src/receiver/read-call';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const FIRST = { name: 'first.png', bytes: PNG };
const OTHER = { name: 'other.png', bytes: imageOf(500) };
const reported = async () => violationIn(await report(app, REQUIRED, [FIRST]));
const replace = (id: string, fields: Readonly<Record<string, string>>, files = [OTHER]) =>
  postForm(app, `/api/violations/${id}/images`, formOf(fields, files));

describe('operator API: other images of a violation', () => {
  it('replaces the images of a violation, sends it again, and keeps the earlier ones as replaced', async () => {
    const { id, images: earlier } = await reported();
    const corrected = violationIn(await replace(id, { location: 'Gate 4' }));

    expect(corrected).toMatchObject({ state: 'pending', images: [{ name: 'other.png', size_bytes: 500 }] });
    expect(corrected.replaced_images).toMatchObject([{ ...earlier[0] }]);
    expect(corrected.form).toMatchObject({ location: 'Gate 4', zoneId: REQUIRED.zoneId });
    expect(await violationOf(app, id)).toEqual(corrected);
    expect((await api(app).get(`/api/violations/${id}/images/1`).expect(200)).body).toEqual(OTHER.bytes);
    expect(await imagesOnDisk(app)).toHaveLength(2);
    const [entry] = (await audited(app)).items;
    expect(entry).toMatchObject({
      action: 'violation.corrected',
      what: { fields: ['location', 'images'], replaced_images: [earlier[0]?.sha256] },
    });
  });

  it('refuses a replacement without an image, or with a broken field, and keeps the images', async () => {
    const { id, images } = await reported();
    expect(fieldsOf(await replace(id, {}, []))).toEqual(['images']);
    expect(fieldsOf(await replace(id, { zoneId: 'north' }))).toEqual(['zoneId']);
    expect((await violationOf(app, id)).images).toEqual(images);
    expect(await imagesOnDisk(app)).toHaveLength(1);
  });

  it('refuses other images of a settled or unknown violation and removes them from the disk', async () => {
    const { id } = await reported();
    await api(app).post(`/api/violations/${id}/waive`).send({ reason: 'reported twice' }).expect(202);
    const refused = await replace(id, {});
    expect([refused.status, errorOf(refused).code]).toEqual([409, 'violation_settled']);
    expect((await replace('gone', {})).status).toBe(404);
    expect(await imagesOnDisk(app)).toHaveLength(1);
  });
});

describe('operator API: damaged images', () => {
  /** A third of a photo, with the end marker of its trailer. */
  const DAMAGED = { name: 'damaged.jpg', bytes: jpegOfBlocks([0x3f, 0xff, 0xd9]) };
  const ACCEPTED = { accept_damaged_images: 'true' };
  const WARNING = { field: 'images', rule: 'are cut off or damaged, and were accepted: 2' };
  const newest = async () => (await audited(app)).items[0]?.what;

  it('refuses a damaged image and says how to send it', async () => {
    for (const fields of [REQUIRED, { ...REQUIRED, accept_damaged_images: 'false' }]) {
      const refused = await report(app, fields, [FIRST, DAMAGED]);
      expect([refused.status, errorOf(refused).details]).toEqual([
        422,
        [
          {
            field: 'images.2',
            rule: 'is cut off or damaged: send a whole copy, or accept_damaged_images=true',
          },
        ],
      ]);
    }
    expect(fieldsOf(await report(app, { ...REQUIRED, accept_damaged_images: 'yes' }, [FIRST]))).toEqual([
      'accept_damaged_images',
    ]);
    expect(await imagesOnDisk(app)).toEqual([]);
  });

  it('reports a violation with a damaged image that is accepted, and notes it', async () => {
    const { images, warnings } = violationIn(await report(app, { ...REQUIRED, ...ACCEPTED }, [FIRST, DAMAGED]));
    expect(images).toHaveLength(2);
    expect(warnings).toContainEqual(WARNING);
    expect(await newest()).toEqual({ damaged_images: [images[1]?.sha256] });
  });

  it('takes a damaged image in place of others, and keeps the note when another field is corrected', async () => {
    const { id } = await reported();
    expect(fieldsOf(await replace(id, {}, [FIRST, DAMAGED]))).toEqual(['images.2']);
    const { images } = violationIn(await replace(id, ACCEPTED, [FIRST, DAMAGED]));
    expect(await newest()).toMatchObject({ damaged_images: [images[1]?.sha256] });
    await api(app).post(`/api/violations/${id}/correct`).send({ location: 'Gate 4' }).expect(202);
    expect((await violationOf(app, id)).warnings).toContainEqual(WARNING);
  });

  it('takes a damaged photo of a tow, and never a file that is no image', async () => {
    const ref = await newTow(app);
    const add = (fields: Readonly<Record<string, string>>, files = [DAMAGED]) =>
      postForm(app, `/api/tows/${ref}/photos`, formOf(fields, files));
    expect(fieldsOf(await add({}))).toEqual(['images.1']);
    expect(fieldsOf(await add(ACCEPTED, [{ name: 'a.jpg', bytes: Buffer.from('text') }]))).toEqual(['images.1']);
    expect((await add(ACCEPTED)).status).toBe(202);
    expect(await newest()).toMatchObject({ damaged_images: [expect.any(String)] });
  });
});

/** JSON members that parsing and serializing would change: large numbers, duplicate keys, escapes, spacing. */
const ODD = String.raw`"big": 12345678901234567890, "price":1.50, "__proto__":{"a":1}, "e":1E2,"a":1,"a":2, "n":"\u0041"`;

async function storedText(id: string): Promise<string | undefined> {
  const document: unknown = JSON.parse(
    String(await app.redis.ask('HGET', `{towhook-main}:violation:${id}`, 'document')),
  );
  return violationDocument.parse(document).metadataText;
}

describe('operator API: metadata of a violation', () => {
  it('stores metadata with its own id byte for byte', async () => {
    const metadata = `{ "id" : "case-9",\t${ODD} }`;
    const { id, metadata_id, form } = violationIn(await report(app, { ...REQUIRED, metadata: `  ${metadata} ` }));
    expect([await storedText(id), metadata_id]).toEqual([metadata, 'case-9']);
    expect(form.metadata).toMatchObject({ price: 1.5, a: 2 });
  });

  it('stores metadata without an id byte for byte after an added id', async () => {
    const { id, metadata_id } = violationIn(await report(app, { ...REQUIRED, metadata: `{${ODD},"deep":{"id":1}}` }));
    expect([await storedText(id), metadata_id]).toEqual([`{"id":"${id}",${ODD},"deep":{"id":1}}`, id]);
  });

  it.each(['', '{}', '{ }'])('stores the violation id alone as metadata for the input %j', async (metadata) => {
    const { id } = violationIn(await report(app, { ...REQUIRED, metadata }));
    expect(JSON.parse((await storedText(id)) ?? '')).toEqual({ id });
  });
});

describe('operator API: nesting of violation metadata', () => {
  const nested = (levels: number) => `{"id":"deep","a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  const tow = (metadata: string) =>
    `{"violation_reference_id":"V-1","towing_reference_id":"TW-1","metadata":${metadata}}`;
  const echoed = (metadata: string) =>
    readCall('tow_request', Buffer.from(tow(metadata)), { verified: true, signatureId: null, signedAtMs: null });

  it('accepts metadata at the nesting limit in a violation and in the tow request that echoes it', async () => {
    const metadata = nested(METADATA_LEVELS_MAX);
    const { id } = violationIn(await report(app, { ...REQUIRED, metadata }));
    expect(await storedText(id)).toBe(metadata);
    expect(echoed(metadata).kind).toBe('delivery');
  });

  it.each([METADATA_LEVELS_MAX + 1, 2000, 3500, 8000])(
    'refuses metadata nested %i levels deep with 422 in a violation and as broken in a tow request',
    async (levels) => {
      const response = await report(app, { ...REQUIRED, metadata: nested(levels) });
      expect([response.status, errorOf(response).details]).toEqual([
        422,
        [{ field: 'metadata', rule: `must not be nested deeper than ${JSON_LEVELS_MAX - 1} levels` }],
      ]);
      expect(echoed(nested(levels)).kind).toBe('broken');
    },
  );

  it('refuses a number out of range in metadata with 422, and a tow request that echoes it breaks the contract', async () => {
    const metadata = '{"a":{"b":[1,1e999]}}';
    const response = await report(app, { ...REQUIRED, metadata });
    expect([response.status, errorOf(response).details]).toEqual([
      422,
      [{ field: 'metadata.a.b.1', rule: 'must be a finite number' }],
    ]);
    expect(WEBHOOK_READERS.tow_request(tow(metadata))).toMatchObject({
      kind: 'differs',
      rules: [{ field: 'metadata.a.b.1', rule: 'must be a finite number' }],
    });
  });
});
