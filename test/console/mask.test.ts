import { masked, maskedBody, maskedJson, maskedWords } from '../../src/console/mask';

describe('what goes over the wire is shown', () => {
  test('without personal data, at any depth, and otherwise as it is', () => {
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
    'without a known plate in free text, spelled %s',
    (spelling) => {
      expect(maskedWords(`no plate ${spelling} here`, ['ABJ 1234'])).toBe('no plate ••• here');
    },
  );

  test('with what is too short to be looked for', () => {
    expect(maskedWords('HTTP 400: 7', ['7', ''])).toBe('HTTP 400: 7');
  });

  test('without personal data in a body that breaks its contract, JSON or not', () => {
    expect(maskedBody('{"plate_number":"XYZ","code":1}')).toBe('{\n  "plate_number": "•••",\n  "code": 1\n}');
    expect(maskedBody('<p>ABJ 1234 (.*</p>', ['ABJ 1234'])).toBe('<p>••• (.*</p>');
    expect(maskedJson({ message: 'plate a.c+ 12 unknown' }, ['a.c+12'])).toContain('plate ••• unknown');
  });
});
