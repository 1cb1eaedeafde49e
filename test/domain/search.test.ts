import * as fc from 'fast-check';
import { searchText } from '../../src/domain/entered-text';
import { plateKey } from '../../src/domain/tow/plate';
import { searchPrefixes, searchTerms, violationSearchTerms } from '../../src/domain/search';
import type { Tow } from '../../src/domain/tow/tow';
import { violationOf } from '../support/violations';
import { INVOICE_WEBHOOK, towAs, towWithPlate, violationReference } from './tows';

/** True when an index of terms finds the tow: by their beginnings. */
const finds = (tow: Tow, typed: string) =>
  searchPrefixes(typed).some((prefix) => searchTerms(tow).some((term) => term.startsWith(prefix)));

/** A tow with one invoice that has this number. */
function towWithInvoiceNumber(number: string): Tow {
  const invoiceWebhooks = [{ ...INVOICE_WEBHOOK, towingInvoice: { invoice_number: number } }];
  return { ...towAs('detained'), invoiceWebhooks };
}

test('a text of plain characters is spelled as one with an invisible mark, which takes the long way', () => {
  const plain = fc.string({ unit: 'grapheme-ascii' });
  fc.assert(fc.property(plain, (text) => expect(searchText(text)).toBe(searchText(`${text}\u200b`))));
});

describe('plateKey', () => {
  test.each([
    ['أ ب ح ١٢٣٤', 'A B J 1234'],
    ['ا ب ح ۱۲۳۴', 'ABJ1234'],
    ['د ر س 907', 'd-r-s 907'],
    ['ص ط ع 1', 'X T E 1'],
    ['ق ك ل 22', 'G K L 22'],
    ['م ن ه 333', 'Z N H 333'],
    ['و ى ي 4444', 'U V V 4444'],
  ])('plateKey treats %s and %s as the same plate', (arabic, latin) => {
    expect(plateKey(arabic)).toBe(plateKey(latin));
  });

  test('plateKey ignores case and spacing of a plate', () => {
    expect(['ABJ 1234', 'abj1234', 'A B J  1234', 'ABJ-1234', 'abj_12.34'].map(plateKey)).toEqual(
      Array.from({ length: 5 }, () => 'abj1234'),
    );
  });

  test('plateKey keeps plate letters outside the national alphabet', () => {
    expect(plateKey('W-PQ 77')).toBe('wpq77');
  });

  test('plateKey writes plate digits of three scripts as western digits', () => {
    const arabicIndic = Array.from({ length: 10 }, (_, digit) => String.fromCodePoint(0x660 + digit)).join('');
    const persian = Array.from({ length: 10 }, (_, digit) => String.fromCodePoint(0x6f0 + digit)).join('');

    expect([arabicIndic, persian].map(plateKey)).toEqual(['0123456789', '0123456789']);
  });

  test.each([
    ['direction marks', '\u200f١٢٣٤ ا ب ح\u200e', '1234 ABJ'],
    ['isolates and a byte order mark', '\ufeff\u2068ABJ\u2069 \u206712\u200b34\u2069', 'ABJ 1234'],
    ['a Persian keyboard', 'ک ی ه ۱۲', 'KVH 12'],
    ['an Urdu keyboard', 'ے ہ ھ ۴', 'VHH 4'],
    ['letters with marks', 'آ إ ۀ 5', 'AAH 5'],
    ['presentation forms', 'ﺍﺑﺤ ١', 'ABJ 1'],
    ['vowel signs and the stroke', 'اَ بـ هـ 1', 'ABH 1'],
    ['full width', 'ＡＢＪ　１２３４', 'ABJ 1234'],
    ['dashes, dots and spaces', 'A–B—J\u00a0‑1·2・3\u20284', 'ABJ 1234'],
    ['Cyrillic and Greek capitals', 'АВК ΗΝ 1', 'ABK HN 1'],
  ])('plateKey reads %s as the plate that a person sees', (_what, plate, plain) => {
    expect(plateKey(plate)).toBe(plateKey(plain));
  });

  test('plateKey leaves a normalized plate unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (plate) => expect(plateKey(plateKey(plate))).toBe(plateKey(plate))),
    );
  });
});

describe('searchTerms', () => {
  test('a search finds a tow by the beginning of its references in any case', () => {
    const tow = towAs('requested');

    for (const typed of ['TW-20260310', 'tw-20260310-aaaaaa', 'v-2026', 'V-20260310-BBBBBB', ' tw-2026 ']) {
      expect([typed, finds(tow, typed)]).toEqual([typed, true]);
    }
  });

  test('a search finds a tow by the beginning of a number that is longer than a term', () => {
    const number = `INV-${'7'.repeat(10_000)}`;
    const tow = towWithInvoiceNumber(number);

    expect([number, number.slice(0, 300), 'INV-777'].map((typed) => finds(tow, typed))).toEqual([true, true, true]);
    expect(Math.max(...searchTerms(tow).map(({ length }) => length))).toBeLessThan(300);
  });

  test('no term has a line feed, which ends a term in the index', () => {
    const tow = towWithInvoiceNumber('INV-1\nTW-20260310-CCCCCC');

    expect(finds(tow, 'INV-1')).toBe(true);
    expect(searchTerms(tow).filter((term) => term.includes('\n'))).toEqual([]);
  });

  test("a search finds a tow by the operator's own id", () => {
    expect(finds(towAs('requested'), 'CASE-7')).toBe(true);
  });

  test.each(['ABJ 1234', 'abj12', 'أ ب ح ١٢', 'ابح1234', 'a-b'])(
    'a search finds a tow by its plate in either script: %s',
    (typed) => {
      expect(finds(towWithPlate('ABJ 1234'), typed)).toBe(true);
      expect(finds(towWithPlate('أ ب ح ١٢٣٤'), typed)).toBe(true);
    },
  );

  test.each(['ABJ 1234', '1234 ABJ', 'أ ب ح ١٢٣٤', '١٢٣٤ أ ب ح'])(
    'a search for a whole plate finds it in either order of letters and digits: %s',
    (typed) => {
      expect(
        ['ABJ 1234', '1234 ABJ', 'أ ب ح ١٢٣٤', '١٢٣٤ أ ب ح'].map((plate) => finds(towWithPlate(plate), typed)),
      ).toEqual([true, true, true, true]);
      expect(['JBA 1234', 'ABJ 4321', 'W-PQ 1234'].map((plate) => finds(towWithPlate(plate), typed))).toEqual([
        false,
        false,
        false,
      ]);
    },
  );

  test.each(['1234', '١٢٣٤', '12', '1234 A', 'ABJ', 'أ ب'])(
    'a search finds a plate by the beginning of its digits or of its letters: %s',
    (typed) => {
      expect(['ABJ 1234', '١٢٣٤ أ ب ح'].map((plate) => finds(towWithPlate(plate), typed))).toEqual([true, true]);
      expect(['XTE 4321', 'W-PQ 1234'].map((plate) => finds(towWithPlate(plate), typed))).toEqual([false, false]);
    },
  );

  test('a search finds a tow by the numbers of both its invoices', () => {
    const invoiceWebhooks = [{ ...INVOICE_WEBHOOK, delayInvoice: { invoice_number: 'DLY-9' } }];
    const tow: Tow = { ...towAs('detained'), invoiceWebhooks };

    expect([finds(tow, 'inv-1'), finds(tow, 'dly-9')]).toEqual([true, true]);
  });

  test.each(['\u200fTW-20260310', 'TW–20260310', 'TW‑٢٠٢٦٠٣١٠', '\u2068tw-20260310-aaa\u2069', '\u200f1234', 'ک'])(
    'a search finds a tow by a text from any keyboard or program: %j',
    (typed) => {
      expect(finds(towWithPlate('\u200f١٢٣٤ ك ب ح\u200e'), typed)).toBe(true);
    },
  );

  test('a search does not find a tow by the inside of a term or by another plate', () => {
    const tow = towWithPlate('ABJ 1234');

    for (const typed of ['20260310', 'BJ 1234', '234', 'ABJ 12345', 'XYZ']) {
      expect([typed, finds(tow, typed)]).toEqual([typed, false]);
    }
  });

  test.each(['', '   ', '\u200f', ' \ufeff\u200b'])('an empty search finds no tow', (typed) => {
    expect(searchPrefixes(typed)).toEqual([]);
  });

  test.each(['p', 'plate', 'plate:', '-', '. .'])(
    'a search for %s does not find a tow merely because the tow has a plate',
    (typed) => {
      expect(finds(towWithPlate('ABJ 1234'), typed)).toBe(false);
    },
  );

  test('a search finds an invoice number that the service sent as a number', () => {
    const invoiceWebhooks = [{ ...INVOICE_WEBHOOK, towingInvoice: { invoice_number: 70_021 } }];

    expect(finds({ ...towAs('detained'), invoiceWebhooks }, '70021')).toBe(true);
  });

  test('search terms leave out null, absent and empty texts', () => {
    const invoiceWebhooks = [{ ...INVOICE_WEBHOOK, towingInvoice: { invoice_number: null } }];
    const tow: Tow = { ...towAs('requested'), metadata: { id: '' }, invoiceWebhooks };

    expect(searchTerms(tow)).toHaveLength(2);
    expect(searchTerms({ ...tow, metadata: null })).toHaveLength(2);
    expect([finds(tow, 'null'), finds(tow, 'undefined')]).toEqual([false, false]);
  });

  test('search terms contain each term of a tow once', () => {
    const twice: Tow = { ...towAs('requested'), violationReferenceId: violationReference('CASE-7') };

    expect(searchTerms(twice)).toHaveLength(2);
    expect(finds(twice, 'case-7')).toBe(true);
  });
});

describe('violationSearchTerms', () => {
  const violation = violationOf('U-1', { metadata: { id: 'CASE-7' } });
  const isFound = (typed: string, reference: string | null) => {
    const terms = violationSearchTerms(violation, reference);
    return searchPrefixes(typed).some((prefix) => terms.some((term) => term.startsWith(prefix)));
  };

  test.each(['u-1', 'case', 'ABJ 12', 'أ ب ح', '1234'])(
    'a search finds a violation by our id, its own id and its plate in either script: %s',
    (typed) => {
      expect(isFound(typed, null)).toBe(true);
    },
  );

  test("a search finds a violation by the service's reference once it is known", () => {
    expect([isFound('v-2026', null), isFound('v-2026', 'V-20260310-BBBBBB')]).toEqual([false, true]);
  });
});
