import { useApp } from '../support/app';
import { imageOf, PNG } from '../support/images';
import { api, audited, errorOf, fieldsOf } from './client';
import { clearDisk, formOf, imagesOnDisk, postForm, report, REQUIRED, violationIn } from './forms';
import { violationOf } from './world';

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
