import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { imageOf, PNG } from '../support/images';
import { api, entriesOf, errorOf, fieldsOf, newKey, towIn, towOf, towPath } from './client';
import { clearDisk, formOf, imagesOnDisk, postForm, type FormFile } from './forms';
import { newTow } from './world';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const send = (ref: string, files: readonly FormFile[], options = {}) =>
  postForm(app, towPath(ref, '/photos'), formOf({}, files), options);

it('keeps the photos of a tow and serves them byte for byte', async () => {
  const ref = await newTow(app, { towing_reference_id: 'TW/../1 ٣' });
  const files = [
    { name: 'front.png', bytes: imageOf(4000) },
    { name: 'خلف.png', bytes: imageOf(5000, 2) },
  ];
  const tow = towIn(await send(ref, files));
  expect(tow.dispatch.photos).toMatchObject(
    files.map(({ name, bytes }) => ({ name, size_bytes: bytes.length, content_type: 'image/png', by: 'bootstrap' })),
  );
  for (const [index, { id }] of tow.dispatch.photos.entries()) {
    const response = await api(app).get(towPath(ref, `/photos/${id}`));
    expect(response.body).toEqual(files[index]?.bytes);
    expect(response.get('content-type')).toBe('image/png');
    expect(response.get('cache-control')).toBe('private, no-store');
  }
});

it('adds later photos of a tow to earlier ones and changes nothing else of the tow', async () => {
  const ref = await newTow(app);
  const before = await towOf(app, ref);
  towIn(await send(ref, [{ name: 'a.png', bytes: PNG }]));
  const after = towIn(await send(ref, [{ name: 'b.png', bytes: PNG }]));
  expect(after.dispatch.photos.map(({ name }) => name)).toEqual(['a.png', 'b.png']);
  expect(after.reports).toEqual([]);
  expect({ ...after.dispatch, photos: [] }).toEqual(before.dispatch);
  expect(after.timeline.filter(({ type }) => type === 'tow.photo_added')).toHaveLength(2);
});

it('keeps every photo of a tow when several clients upload at once', async () => {
  const ref = await newTow(app);
  const names = Array.from({ length: 8 }, (_, at) => `${at}.png`);
  const responses = await Promise.all(names.map((name) => send(ref, [{ name, bytes: PNG }])));
  expect(responses.map(({ status }) => status)).toEqual(names.map(() => 202));
  const { dispatch } = await towOf(app, ref);
  expect(dispatch.photos.map(({ name }) => name).toSorted()).toEqual(names);
});

it('audits added photos with their ids and without their file names', async () => {
  const ref = await newTow(app);
  let ids: string[] = [];
  const entries = await entriesOf(app, async () => {
    ids = towIn(await send(ref, [{ name: 'a.png', bytes: PNG }])).dispatch.photos.map(({ id }) => id);
  });
  expect(entries).toMatchObject([
    { action: 'tow.photo_added', on: { towing_reference_id: ref }, what: { photo_ids: ids } },
  ]);
});

it('refuses a photo upload with 422 when it contains no image, an unknown field or a file that is not an image', async () => {
  const ref = await newTow(app);
  for (const files of [[], [{ name: '', bytes: Buffer.alloc(0) }]]) {
    const empty = await send(ref, files);
    expect([empty.status, fieldsOf(empty)]).toEqual([422, ['images']]);
  }
  const mixed = await postForm(
    app,
    towPath(ref, '/photos'),
    formOf({ colour: 'red' }, [
      { name: 'a.png', bytes: PNG },
      { name: 'b.jpg', bytes: Buffer.from('a text') },
    ]),
  );
  expect([mixed.status, fieldsOf(mixed)]).toEqual([422, ['colour', 'images.2']]);
  expect((await towOf(app, ref)).dispatch.photos).toEqual([]);
  await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
});

it('refuses photos of an unknown tow with 404 and keeps none on disk', async () => {
  const response = await send('TW-unknown', [{ name: 'a.png', bytes: PNG }]);
  expect([response.status, errorOf(response).code]).toEqual([404, 'tow_not_found']);
  await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
});

it('keeps photos once when an upload is repeated with the same Idempotency-Key', async () => {
  const ref = await newTow(app);
  const options = { idempotencyKey: 'a-key-of-the-client' };
  const first = await send(ref, [{ name: 'a.png', bytes: PNG }], options);
  const again = await send(ref, [{ name: 'a.png', bytes: PNG }], options);
  expect([again.status, again.text]).toEqual([202, first.text]);
  expect((await towOf(app, ref)).dispatch.photos).toHaveLength(1);
  await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(1));
});

it('lets crew add photos and viewers only read them, and serves a photo only under its own tow', async () => {
  const ref = await newTow(app);
  const [crew, viewer] = [await newKey(app, 'crew'), await newKey(app, 'viewer')];
  const { dispatch } = towIn(await send(ref, [{ name: 'a.png', bytes: PNG }], { apiKey: crew }));
  expect((await send(ref, [{ name: 'a.png', bytes: PNG }], { apiKey: viewer })).status).toBe(403);
  const path = towPath(ref, `/photos/${dispatch.photos[0]?.id}`);
  await api(app, viewer).get(path).expect(200);
  await api(app).get(towPath(ref, '/photos/unknown')).expect(404);
  await api(app)
    .get(towPath(await newTow(app), `/photos/${dispatch.photos[0]?.id}`))
    .expect(404);
});

it('accepts 200 photos of a tow, refuses more with 409 and keeps none of the refused ones', async () => {
  const ref = await newTow(app);
  const files = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `${at}.png`, bytes: PNG }));
  for (let nth = 0; nth < 19; nth += 1) towIn(await send(ref, files(10)));
  towIn(await send(ref, files(9)));
  const more = await send(ref, files(2));
  expect([more.status, errorOf(more).code]).toEqual([409, 'too_many_photos']);
  expect(towIn(await send(ref, files(1))).dispatch.photos).toHaveLength(200);
  expect((await send(ref, files(1))).status).toBe(409);
  await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(200));
});
