import { formatWarnings, visibleForm } from '../../src/domain/format-warnings';
import { looksSaudi } from '../../src/domain/tow/plate';
import type { ViolationForm } from '../../src/domain/violation/violation';

const NOW_MS = Date.parse('2026-03-10T12:00:00Z');
const FORM: ViolationForm = {
  latitude: 24.7,
  longitude: 46.7,
  location: 'King Fahd Road',
  plateNumber: 'ABJ 1235',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  violationType: 'WRONG_PARKING',
  metadata: { id: 'case-1' },
};

function fieldsWarnedOf(changes: Partial<ViolationForm>, also: { api?: 'guide'; images?: number } = {}): string[] {
  const about = { api: 'reference', images: 0, nowMs: NOW_MS, ...also } as const;
  return formatWarnings({ ...FORM, ...changes }, about).map(({ field }) => field);
}

it('a form like the documented ones gets no warning', () => {
  expect(
    fieldsWarnedOf({
      date: '2026-03-10T12:01:30Z',
      isSaudi: true,
      identityNumber: '1000000008',
      mobileNumber: '0512345678',
      supervisorIdentityNumber: '٢٠٠٠٠٠٠٠٠٦',
      supervisorMobileNumber: '+966 51 234 5678',
    }),
  ).toEqual([]);
});

describe('warnings about plates', () => {
  it.each(['ABJ 1235', 'A1', '7 UVZ', 'xka-9999', 'أ ب ح ١٢٣٤', 'ا ب ح ۱۲۳۴', 'ه و ي 1', 'abj1235'])(
    'the plate %s has the format of a Saudi plate',
    (plate) => {
      expect(looksSaudi(plate)).toBe(true);
    },
  );

  it.each(['ABC 1234', 'ABJ 12345', 'ABJD 123', '1234', 'ABJ', '', 'A1B2', 'AB1234C', 'ج 1', 'P 12'])(
    "the plate '%s' does not have the format of a Saudi plate",
    (plate) => {
      expect(looksSaudi(plate)).toBe(false);
    },
  );

  it('warns about a plate that is not in the format of a Saudi plate', () => {
    expect(fieldsWarnedOf({ plateNumber: 'ABC 1234' })).toEqual(['plateNumber']);
    expect(fieldsWarnedOf({ plateNumber: 'ABC 1234', isSaudi: true })).toEqual(['plateNumber', 'isSaudi']);
  });

  it.each(['DIPLOMATIC', 'EXPORT', 'MOTORCYCLE', 'Heavy_Equipment'] as const)(
    'a plate of the type %s is not checked for the Saudi format',
    (plateType) => {
      for (const isSaudi of [undefined, true, false]) {
        expect(fieldsWarnedOf({ plateNumber: '12 CD 345', plateType, isSaudi })).toEqual([]);
      }
    },
  );

  it('a foreign plate is not checked, but a warning names one in the Saudi format', () => {
    expect(fieldsWarnedOf({ plateNumber: 'M-XY 12345', isSaudi: false })).toEqual([]);
    expect(fieldsWarnedOf({ plateNumber: 'ABJ 1235', isSaudi: false })).toEqual(['isSaudi']);
  });
});

it.each(['100000000', '10000000088', '3000000004', '1000000009', '1234567890', 'A000000008', ''])(
  'warns about a number that is no identity number, for any person: %s',
  (identityNumber) => {
    expect(fieldsWarnedOf({ identityNumber })).toEqual(['identityNumber']);
    expect(fieldsWarnedOf({ supervisorIdentityNumber: identityNumber })).toEqual(['supervisorIdentityNumber']);
  },
);

it.each(['512345678', '05123456789', '0412345678', '966512345678', '+4915112345678', 'none'])(
  'warns about a number that is no mobile number, for any person: %s',
  (mobileNumber) => {
    expect(fieldsWarnedOf({ mobileNumber })).toEqual(['mobileNumber']);
    expect(fieldsWarnedOf({ supervisorMobileNumber: mobileNumber })).toEqual(['supervisorMobileNumber']);
  },
);

describe('warnings about characters', () => {
  const about = { api: 'reference', images: 0, nowMs: NOW_MS } as const;
  const entered = { ...FORM, plateNumber: '\u200f١٢٣٤ ا ب ح\u200e', mobileNumber: '\u202a+966 51–234–5678\u202c' };

  it('names the characters that are not visible, and they are not sent', () => {
    expect(formatWarnings(entered, about)).toEqual([
      {
        field: 'plateNumber',
        rule: 'had characters that are not visible and are not sent: U+200F RIGHT-TO-LEFT MARK, U+200E LEFT-TO-RIGHT MARK',
      },
      {
        field: 'mobileNumber',
        rule: 'had characters that are not visible and are not sent: U+202A LEFT-TO-RIGHT EMBEDDING, U+202C POP DIRECTIONAL FORMATTING',
      },
    ]);
    expect(visibleForm(entered)).toEqual({ ...FORM, plateNumber: '١٢٣٤ ا ب ح', mobileNumber: '+966 51–234–5678' });
  });

  it('names the letters of another keyboard in a plate, which are sent as entered', () => {
    const form = { ...FORM, plateNumber: 'ک ی ۱' };
    expect(formatWarnings(form, about)).toEqual([
      {
        field: 'plateNumber',
        rule: 'has letters or digits of another keyboard: U+06A9 ARABIC LETTER KEHEH, U+06CC ARABIC LETTER FARSI YEH, U+06F1',
      },
    ]);
    expect(visibleForm(form)).toEqual(form);
  });
});

describe('warnings about dates', () => {
  it.each(['2026-03-10T12:02:00Z', '2026-03-10T15:00:00+03:00', '1999-12-31T23:59:59.999Z'])(
    'does not warn about a date in the past or within the clock drift of a phone: %s',
    (date) => {
      expect(fieldsWarnedOf({ date })).toEqual([]);
    },
  );

  it.each(['2026-03-10T12:02:01Z', '2026-03-10T12:00:00-01:00', '2999-01-01T00:00:00Z'])(
    'warns about a date in the future: %s',
    (date) => {
      expect(fieldsWarnedOf({ date })).toEqual(['date']);
    },
  );

  it('warns about a date without offset and treats it as Riyadh time', () => {
    expect(fieldsWarnedOf({ date: '2026-03-10T14:59:00' })).toEqual(['date']);
    expect(fieldsWarnedOf({ date: '2026-03-10T15:03:00' })).toEqual(['date', 'date']);
  });
});

it('warns that the guide form sends no images', () => {
  expect(fieldsWarnedOf({}, { api: 'guide', images: 2 })).toEqual(['images']);
  expect(fieldsWarnedOf({}, { api: 'guide' })).toEqual([]);
  expect(fieldsWarnedOf({}, { images: 2 })).toEqual([]);
});

it('never repeats an entered value in a warning', () => {
  const changes = { plateNumber: 'QQQ 98765', identityNumber: '777', mobileNumber: '888', date: '2999-01-01T00:00:00' };
  const text = JSON.stringify(formatWarnings({ ...FORM, ...changes }, { api: 'guide', images: 1, nowMs: NOW_MS }));
  for (const value of ['QQQ', '98765', '777', '888', '2999']) expect(text).not.toContain(value);
});
