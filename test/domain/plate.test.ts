import * as fc from 'fast-check';
import { bothScripts, plateKey } from '../../src/domain/tow/plate';

const LETTERS = 'abdeghjklnrstuvxz';

describe('plates of Saudi Arabia', () => {
  test.each([
    ['ABJ 1234', 'A B J 1234', 'ا ب ح ١٢٣٤'],
    ['abj1234', 'A B J 1234', 'ا ب ح ١٢٣٤'],
    ['أ ب ح ۱۲۳۴', 'A B J 1234', 'ا ب ح ١٢٣٤'],
    ['7 HVZ', '7 H V Z', '٧ هـ ى م'],
    ['هـ ي م 907', 'H V Z 907', 'هـ ى م ٩٠٧'],
    ['K-5', 'K 5', 'ك ٥'],
  ])('the plate %s is shown as %s and as %s', (plate, latin, arabic) => {
    expect(bothScripts(plate)).toEqual({ latin, arabic });
  });

  test('a plate is found by its text in either script', () => {
    const digits = fc.integer({ min: 0, max: 9999 }).map(String);
    const letters = fc
      .array(fc.constantFrom(...Array.from(LETTERS)), { minLength: 1, maxLength: 3 })
      .map((few) => few.join(''));
    const plates = fc.oneof(fc.tuple(letters, digits), fc.tuple(digits, letters)).map((parts) => parts.join(' '));
    fc.assert(
      fc.property(plates, (plate) => {
        const shown = bothScripts(plate);
        expect([shown && plateKey(shown.latin), shown && plateKey(shown.arabic)]).toEqual([
          plateKey(plate),
          plateKey(plate),
        ]);
      }),
    );
  });

  test('every plate letter exists in both scripts', () => {
    for (const letter of LETTERS) {
      const { latin, arabic } = bothScripts(`${letter}1`) ?? { latin: '', arabic: '' };
      expect([latin, /^[\u0621-\u064a]+ ١$/.test(arabic)]).toEqual([`${letter.toUpperCase()} 1`, true]);
    }
  });
});

test.each(['', 'ABC 12345', 'WWW 12', 'DUBAI A 4', '1234', 'ABJK 12', 'A1B2'])(
  'a plate in another format has no second script: %j',
  (plate) => {
    expect(bothScripts(plate)).toBeNull();
  },
);

test('the Arabic stroke that lengthens letters is ignored in a plate', () => {
  expect(plateKey('هـ ب ح 12')).toBe(plateKey('HBJ 12'));
});
