import { VIOLATION_FIELDS } from '../../src/contracts/violation/violation-input';
import { violationView } from '../../src/contracts/violation/violations';
import { PLATE_TYPES, VIOLATION_TYPES } from '../../src/domain/vocabulary';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { imageOf, PNG } from '../support/images';
import { api, errorOf, fieldsOf, type ApiResponse } from './client';
import { clearDisk, COMPLETE, imagesOnDisk, report, REQUIRED, violationIn, type FormFile } from './forms';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

/** Expects a 422 that names exactly these fields, stores no violation and leaves no image on the disk. */
async function expectInvalid(response: ApiResponse, ...fields: readonly string[]): Promise<void> {
  const { code, details, message } = errorOf(response);
  expect([response.status, code, fieldsOf(response)]).toEqual([422, 'field_invalid', fields]);
  for (const { field, rule } of details) expect(message).toContain(`${field}: ${rule}`);
  await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  expect(await app.redis.ask('EXISTS', '{towhook-main}:index:violations')).toBe(0);
}

const names = Object.keys(REQUIRED);

/** A value as a test name shows it: long ones by their beginning and their length. */
function shown(value: string): string {
  return value.length > 40 ? `"${value.slice(0, 8)}…" (${value.length} characters)` : JSON.stringify(value);
}

it.each(names)('refuses a violation form without %s with 422 and names the field', async (missing) => {
  const fields = Object.fromEntries(Object.entries(COMPLETE).filter(([name]) => name !== missing));
  await expectInvalid(await report(app, fields, [{ name: 'a.png', bytes: PNG }]), missing);
});

it.each(names)('refuses a violation form with a blank %s with 422 and names the field', async (empty) => {
  await expectInvalid(await report(app, { ...COMPLETE, [empty]: '  ' }), empty);
});

it.each(Object.keys(VIOLATION_FIELDS).filter((name) => !names.includes(name) && name !== 'metadata'))(
  'accepts a violation form with %s missing or blank',
  async (optional) => {
    const { metadata: _metadata, ...rest } = COMPLETE;
    const fields = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== optional));
    for (const form of [fields, { ...rest, [optional]: ' ' }]) {
      expect(violationIn(await report(app, form)).form).not.toHaveProperty(optional);
    }
  },
);

it('accepts a violation form with metadata missing or blank', async () => {
  for (const form of [REQUIRED, { ...REQUIRED, metadata: '' }]) {
    const { id, form: taken } = violationIn(await report(app, form));
    expect(taken.metadata).toEqual({ id });
  }
});

it.each([...PLATE_TYPES])('accepts plateType %s in its exact spelling only', async (plateType) => {
  violationIn(await report(app, { ...REQUIRED, plateType }));
  await app.redis.ask('FLUSHALL');
  const other = plateType === plateType.toUpperCase() ? plateType.toLowerCase() : plateType.toUpperCase();
  await expectInvalid(await report(app, { ...REQUIRED, plateType: other }), 'plateType');
});

it.each([...VIOLATION_TYPES])('accepts violationType %s in its exact spelling only', async (type) => {
  violationIn(await report(app, { ...REQUIRED, violationType: type }));
  await app.redis.ask('FLUSHALL');
  await expectInvalid(await report(app, { ...REQUIRED, violationType: type.toLowerCase() }), 'violationType');
});

it.each([
  ['Arabic', '٢٤٫٧١٣٦', '٤٦٫٦٧٥٣'],
  ['Persian', '۲۴٫۷۱۳۶', '۴۶٫۶۷۵۳'],
])('accepts a violation form whose coordinates have %s digits', async (_digits, latitude, longitude) => {
  const { form } = violationIn(await report(app, { ...REQUIRED, latitude, longitude }));
  expect(form).toMatchObject({ latitude: 24.7136, longitude: 46.6753 });
});

const INVALID: readonly (readonly [name: string, value: string])[] = [
  ['plateType', 'CAR'],
  ['violationType', 'PARKING'],
  ['zoneId', '12'],
  ['zoneId', '11111111-2222-4333-8444-55555555555'],
  ['latitude', '90.1'],
  ['latitude', '-91'],
  ['latitude', 'north'],
  ['latitude', '24,7'],
  ['latitude', '0x10'],
  ['latitude', 'NaN'],
  ['longitude', '180.5'],
  ['longitude', '1e9'],
  ['date', 'yesterday'],
  ['date', '2026-02-30T08:00:00Z'],
  ['date', '10/03/2026'],
  ['isSaudi', 'yes'],
  ['isSaudi', '1'],
  ['plateNumber', 'x'.repeat(51)],
  ['location', 'x'.repeat(1001)],
  ['metadata', 'case-77'],
  ['metadata', '[1]'],
  ['metadata', '"case-77"'],
  ['metadata', 'null'],
  ['colour', 'red'],
  ['__proto__', 'x'],
  ['images', 'not a file'],
];

it.each(INVALID.map(([name, value]) => [name, shown(value), value] as const))(
  'refuses a violation form with %s %s with 422 and names the field',
  async (name, _shown, value) => {
    const fields = Object.fromEntries([...Object.entries(COMPLETE), [name, value]]);
    await expectInvalid(await report(app, fields), name);
  },
);

it.each(['{"id":7}', '{"id":""}', '{"id":"  "}', '{"id":null}', '{"id":"a","b":{"id":1},"\\u0069d" :"c"}'])(
  'refuses metadata %s with 422: its id must be one text that is not blank',
  async (metadata) => {
    await expectInvalid(await report(app, { ...REQUIRED, metadata }), 'metadata.id');
  },
);

it('names every invalid field and image of a violation form in one 422', async () => {
  const { location: _location, ...rest } = REQUIRED;
  const files: FormFile[] = [
    { name: 'a.png', bytes: PNG },
    { name: 'b.jpg', bytes: Buffer.from('Dear all, see attached.') },
    { name: 'c.png', bytes: PNG },
    { name: 'd.png', bytes: PNG.subarray(0, 20) },
    { name: 'e.png', bytes: PNG, under: 'photos' },
  ];
  const response = await report(app, { ...rest, plateType: 'CAR', zoneId: '1' }, files);
  await expectInvalid(response, 'images.2', 'images.4', 'location', 'photos', 'plateType', 'zoneId');
});

it('refuses a text file named .jpg with 422 and lists the accepted image formats', async () => {
  const response = await report(app, REQUIRED, [{ name: 'photo.jpg', bytes: Buffer.from('This is a text.') }]);
  await expectInvalid(response, 'images.1');
  expect(errorOf(response).details[0]?.rule).toBe(
    'must be a whole image: JPEG, PNG, WebP, GIF, BMP, TIFF, HEIC, HEIF or AVIF',
  );
});

it('refuses truncated images with 422', async () => {
  const cut = [PNG.subarray(0, 33), PNG.subarray(0, PNG.length - 4)];
  const files = cut.map((bytes, at) => ({ name: `${at}.png`, bytes }));
  await expectInvalid(await report(app, REQUIRED, files), 'images.1', 'images.2');
});

const ONE_RULE: readonly (readonly [name: string, value: string, rule: string])[] = [
  ['latitude', '', 'is required (number)'],
  ['latitude', 'north', 'must be a number'],
  ['location', '', 'is required (string)'],
  ['location', 'x'.repeat(1001), 'must be at most 1000 characters'],
  ['location', 'x'.repeat(80_000), 'must be at most 70000 bytes'],
  ['plateNumber', 'x'.repeat(60), 'must be at most 50 characters'],
  ['plateNumber', 'x'.repeat(2000), 'must be at most 50 characters'],
  ['metadata', `{"a":"${'x'.repeat(16_384)}"}`, 'must be at most 16384 characters'],
  ['metadata', '[]', 'must be an object'],
  ['location', 'Gate\u00004', 'must not contain control characters other than line breaks'],
  ['location', 'Gate\t4', 'must not contain control characters other than line breaks'],
  ...['plateNumber', 'fullName', 'mobileNumber', 'supervisorIdentityNumber', 'zoneId', 'plateType'].flatMap((name) =>
    ['a\u0000b', 'a\nb', 'a\r\nb', 'a\u0085b'].map(
      (value) => [name, value, 'must not contain control characters'] as const,
    ),
  ),
];

it.each(ONE_RULE.map(([name, value, rule]) => [name, shown(value), rule, value] as const))(
  'refuses a violation form with %s %s and gives the one rule that it breaks: %s',
  async (name, _shown, rule, value) => {
    const rest = Object.fromEntries(Object.entries(COMPLETE).filter(([other]) => other !== name));
    const response = await report(app, value === '' ? rest : { ...rest, [name]: value });
    await expectInvalid(response, name);
    expect(errorOf(response).details).toEqual([{ field: name, rule }]);
  },
);

it('accepts line breaks in the location and in the description of the images', async () => {
  const several = { location: 'Gate 4\r\nKing Fahd Road', imagesDescription: 'front\nside' };
  const response = await api(app)
    .post('/api/violations')
    .field({ ...REQUIRED, ...several })
    .expect(202);
  const { form } = violationView.parse(response.body);
  expect([form.location, form.imagesDescription]).toEqual(['Gate 4\r\nKing Fahd Road', 'front\nside']);
});

it('refuses an SVG image with 422, because it can contain a script', async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script/></svg>');
  await expectInvalid(await report(app, REQUIRED, [{ name: 'a.svg', bytes: svg }]), 'images.1');
});

it('refuses an empty image with a file name with 422 and ignores an empty image without one', async () => {
  await expectInvalid(await report(app, REQUIRED, [{ name: 'a.png', bytes: Buffer.alloc(0) }]), 'images.1');
  const unnamed = { name: '', bytes: Buffer.alloc(0) };
  const { images, id } = violationIn(
    await report(app, REQUIRED, [unnamed, { name: 'b.png', bytes: imageOf(99) }, unnamed]),
  );
  expect(images.map(({ name }) => name)).toEqual(['b.png']);
  expect(await imagesOnDisk(app)).toEqual([expect.stringMatching(new RegExp(`^violations/${id}/`))]);
});

it('refuses a violation form that gives a field twice with 422', async () => {
  const form = api(app).post('/api/violations').field(REQUIRED).field('plateNumber', 'KLM 7');
  const response = await form.expect(422);
  expect(errorOf(response).message).toContain('plateNumber: must be given once');
});

it('refuses a violation form with too many fields or more than 100 images with 422', async () => {
  const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, 'x']));
  expect(fieldsOf(await report(app, { ...REQUIRED, ...fields }))).toContain('body');
  const files = Array.from({ length: 101 }, (_, at) => ({ name: `${at}.png`, bytes: PNG }));
  await expectInvalid(await report(app, REQUIRED, files), 'images');
  const many = violationIn(await report(app, REQUIRED, files.slice(1)));
  expect(many.images).toHaveLength(100);
});
