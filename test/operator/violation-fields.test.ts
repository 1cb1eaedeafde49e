import { VIOLATION_FIELDS } from '../../src/contracts/violation-input';
import { PLATE_TYPES, VIOLATION_TYPES } from '../../src/domain/vocabulary';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { imageOf, PNG } from '../support/images';
import { errorOf, fieldsOf, type Answer } from './client';
import { clearDisk, COMPLETE, imagesOnDisk, report, REQUIRED, violationIn, type FormFile } from './forms';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

/** A refusal names these fields and no others, changes nothing and leaves nothing on the disk. */
async function expectInvalid(answer: Answer, ...fields: readonly string[]): Promise<void> {
  expect([answer.status, errorOf(answer).code, fieldsOf(answer)]).toEqual([422, 'field_invalid', fields]);
  for (const { field, rule } of errorOf(answer).details) expect(errorOf(answer).message).toContain(`${field}: ${rule}`);
  await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  expect(await app.redis.ask('EXISTS', '{p0}:index:violations')).toBe(0);
}

const names = Object.keys(REQUIRED);

it.each(names)('without %s the form is refused 422 and the field is named', async (missing) => {
  const fields = Object.fromEntries(Object.entries(COMPLETE).filter(([name]) => name !== missing));
  await expectInvalid(await report(app, fields, [{ name: 'a.png', bytes: PNG }]), missing);
});

it.each(names)('with %s left empty the form is refused 422 and the field is named', async (empty) => {
  await expectInvalid(await report(app, { ...COMPLETE, [empty]: '  ' }), empty);
});

it.each(Object.keys(VIOLATION_FIELDS).filter((name) => !names.includes(name) && name !== 'metadata'))(
  '%s may be left out or left empty',
  async (optional) => {
    const { metadata: _metadata, ...rest } = COMPLETE;
    const fields = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== optional));
    for (const form of [fields, { ...rest, [optional]: ' ' }]) {
      expect(violationIn(await report(app, form)).form).not.toHaveProperty(optional);
    }
  },
);

it('metadata may be left out or left empty', async () => {
  for (const form of [REQUIRED, { ...REQUIRED, metadata: '' }]) {
    const { id, form: taken } = violationIn(await report(app, form));
    expect(taken.metadata).toEqual({ id });
  }
});

it.each([...PLATE_TYPES])('plateType %s is taken as it is spelled, and no other spelling of it', async (plateType) => {
  violationIn(await report(app, { ...REQUIRED, plateType }));
  await app.redis.ask('FLUSHALL');
  const other = plateType === plateType.toUpperCase() ? plateType.toLowerCase() : plateType.toUpperCase();
  await expectInvalid(await report(app, { ...REQUIRED, plateType: other }), 'plateType');
});

it.each([...VIOLATION_TYPES])(
  'violationType %s is taken as it is spelled, and no other spelling of it',
  async (type) => {
    violationIn(await report(app, { ...REQUIRED, violationType: type }));
    await app.redis.ask('FLUSHALL');
    await expectInvalid(await report(app, { ...REQUIRED, violationType: type.toLowerCase() }), 'violationType');
  },
);

it.each([
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
])('%s %j is refused 422 and the field is named', async (name, value) => {
  const fields = Object.fromEntries([...Object.entries(COMPLETE), [name, value]]);
  await expectInvalid(await report(app, fields), name);
});

it.each(['{"id":7}', '{"id":""}', '{"id":"  "}', '{"id":null}', '{"id":"a","b":{"id":1},"\\u0069d" :"c"}'])(
  'an id in the metadata is text, not blank, and given once: %s',
  async (metadata) => {
    await expectInvalid(await report(app, { ...REQUIRED, metadata }), 'metadata.id');
  },
);

it('everything that is wrong is named at once, fields and images', async () => {
  const { location: _location, ...rest } = REQUIRED;
  const files: FormFile[] = [
    { name: 'a.png', bytes: PNG },
    { name: 'b.jpg', bytes: Buffer.from('Dear all, see attached.') },
    { name: 'c.png', bytes: PNG },
    { name: 'd.png', bytes: PNG.subarray(0, 20) },
    { name: 'e.png', bytes: PNG, under: 'photos' },
  ];
  const answer = await report(app, { ...rest, plateType: 'CAR', zoneId: '1' }, files);
  await expectInvalid(answer, 'images.2', 'images.4', 'location', 'photos', 'plateType', 'zoneId');
});

it('a text file named .jpg is refused in plain words', async () => {
  const answer = await report(app, REQUIRED, [{ name: 'photo.jpg', bytes: Buffer.from('This is a text.') }]);
  await expectInvalid(answer, 'images.1');
  expect(errorOf(answer).details[0]?.rule).toBe(
    'must be a whole image: JPEG, PNG, WebP, GIF, BMP, TIFF, HEIC, HEIF or AVIF',
  );
});

it('an image that was cut off is refused', async () => {
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

it.each(ONE_RULE)('%s %j breaks one rule, and that is told: %s', async (name, value, rule) => {
  const rest = Object.fromEntries(Object.entries(COMPLETE).filter(([other]) => other !== name));
  const answer = await report(app, value === '' ? rest : { ...rest, [name]: value });
  await expectInvalid(answer, name);
  expect(errorOf(answer).details).toEqual([{ field: name, rule }]);
});

it('a place and a description of images may have several lines', async () => {
  const several = { location: 'Gate 4\r\nKing Fahd Road', imagesDescription: 'front\nside' };
  const { form } = violationIn(await report(app, { ...REQUIRED, ...several }));
  // A form on its way has its line breaks in one spelling.
  expect([form.location, form.imagesDescription]).toEqual(['Gate 4\r\nKing Fahd Road', 'front\r\nside']);
});

it('an SVG is refused: it could carry a program', async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script/></svg>');
  await expectInvalid(await report(app, REQUIRED, [{ name: 'a.svg', bytes: svg }]), 'images.1');
});

it('an empty file with a name is an image that got lost, and one without is nothing', async () => {
  await expectInvalid(await report(app, REQUIRED, [{ name: 'a.png', bytes: Buffer.alloc(0) }]), 'images.1');
  const nothing = { name: '', bytes: Buffer.alloc(0) };
  const { images, id } = violationIn(
    await report(app, REQUIRED, [nothing, { name: 'b.png', bytes: imageOf(99) }, nothing]),
  );
  expect(images.map(({ name }) => name)).toEqual(['b.png']);
  expect(await imagesOnDisk(app)).toEqual([expect.stringMatching(new RegExp(`^violations/${id}/`))]);
});

it('a field given twice is refused, rather than one of both being taken', async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries(REQUIRED)) form.append(name, value);
  form.append('plateNumber', 'KLM 7');
  const headers = { authorization: `Bearer ${app.apiKey}` };
  const response = await fetch(`${app.consoleUrl}/api/violations`, { method: 'POST', headers, body: form });
  expect([response.status, await response.text()]).toEqual([
    422,
    expect.stringContaining('plateNumber: must be given once'),
  ]);
});

it('more fields or more files than any form has are refused', async () => {
  const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, 'x']));
  expect(fieldsOf(await report(app, { ...REQUIRED, ...fields }))).toContain('body');
  const files = Array.from({ length: 101 }, (_, at) => ({ name: `${at}.png`, bytes: PNG }));
  await expectInvalid(await report(app, REQUIRED, files), 'images');
  const many = violationIn(await report(app, REQUIRED, files.slice(1)));
  expect(many.images).toHaveLength(100);
});
