import { masked, maskedBody, maskedJson, maskedText } from '../../src/console/mask';

describe('console: masking of personal data', () => {
  test('masks personal data in JSON at any depth and keeps other values', () => {
    expect(
      masked({
        plate_number: 'ABJ 1234',
        latitude: 24.7,
        deep: [{ plateNumber: 'x', mobileNumber: null, token: 'abc' }],
        towed_location: 'Riyadh',
      }),
    ).toEqual({
      plate_number: '•••',
      latitude: 24.7,
      deep: [{ plateNumber: '•••', mobileNumber: null, token: '•••' }],
      towed_location: 'Riyadh',
    });
  });

  test.each(['ABJ 1234', 'ABJ1234', 'abj-1234', 'A B J 1234', 'ا ب ح ١٢٣٤', 'ابح١٢٣٤'])(
    'masks a known plate in free text when it is spelled %s',
    (spelling) => {
      expect(maskedText(`no plate ${spelling} here`, ['ABJ 1234'])).toBe('no plate ••• here');
    },
  );

  test('does not mask values in free text that are too short to match', () => {
    expect(maskedText('HTTP 400: 7', ['7', ''])).toBe('HTTP 400: 7');
  });

  test('masks personal data in a body that breaks its contract, JSON or not', () => {
    expect(maskedBody('{"plate_number":"XYZ","code":1}')).toBe('{\n  "plate_number": "•••",\n  "code": 1\n}');
    expect(maskedBody('<p>ABJ 1234 (.*</p>', ['ABJ 1234'])).toBe('<p>••• (.*</p>');
    expect(maskedJson({ message: 'plate a.c+ 12 unknown' }, ['a.c+12'])).toContain('plate ••• unknown');
  });

  test.each([
    ['begins with a byte order mark', '\uFEFF{"mobileNumber":"0500000001"}'],
    ['has a number out of range', '{"mobileNumber":"0500000001","total":1e999}'],
    ['was cut off', '{"data":[{"mobileNumber":"0500000001","status":"open"'],
    ['was cut off inside the field', '{"code":1,"mobileNumber": "0500000001'],
    ['was cut off after a backslash', String.raw`{"code":1,"mobileNumber":"0500000001\"\\`.slice(0, -1)],
    ['was cut off behind a number', '{"mobileNumber" : 500000001'],
    ['is nested too deeply', `{"mobileNumber":"0500000001","deep":${'['.repeat(40)}`],
  ])('masks a sensitive field of a body that %s', (_what, body) => {
    const shown = maskedBody(body);

    expect(shown).toContain('•••');
    expect(shown).not.toContain('500000001');
  });
});
