import { counting } from './plural';

/** The tries to send something to the service. */
interface Attempts {
  readonly title: string;
  readonly none: string;
  readonly count: (count: number) => string;
  /** Only the first and the last are kept. */
  readonly kept: (kept: number, all: number) => string;
  readonly number: string;
  readonly when: string;
  readonly took: string;
  readonly result: string;
  readonly answer: string;
  readonly noStatus: string;
  readonly times: (count: number) => string;
  /** Milliseconds. */
  readonly lasted: (ms: string) => string;
  /** By the word its record keeps; one that is not here is shown as it is. */
  readonly outcomes: Readonly<Record<string, string>>;
}

const en: Attempts = {
  title: 'Tries',
  none: 'Not tried yet.',
  count: counting('en')({ one: '# try', other: '# tries' }),
  kept: (kept, all) => `${kept} of ${all} tries are kept: the first and the last ones.`,
  number: 'No.',
  when: 'When',
  took: 'Took',
  result: 'Result',
  answer: 'Answer',
  noStatus: 'no answer',
  times: (count) => `${count} times alike`,
  lasted: (ms) => `${ms} ms`,
  outcomes: {
    accepted: 'accepted',
    refused: 'refused',
    retry: 'failed, to be tried again',
    unknown: 'outcome unknown',
    hold: 'held back',
    worker_lost: 'cut off: the worker was lost',
  },
};

const ar: Attempts = {
  title: 'المحاولات',
  none: 'لم تجرِ أي محاولة بعد.',
  count: counting('ar')({
    zero: 'لا محاولات',
    one: 'محاولة واحدة',
    two: 'محاولتان',
    few: '# محاولات',
    many: '# محاولة',
    other: '# محاولة',
  }),
  kept: (kept, all) => `محفوظ منها ${kept} من أصل ${all}: الأولى والأخيرة.`,
  number: 'رقم',
  when: 'الوقت',
  took: 'المدة',
  result: 'النتيجة',
  answer: 'الرد',
  noStatus: 'بلا رد',
  times: (count) => `${count} مرات متشابهة`,
  lasted: (ms) => `${ms} م.ث`,
  outcomes: {
    accepted: 'مقبول',
    refused: 'مرفوض',
    retry: 'فشلت وستُعاد',
    unknown: 'النتيجة غير معروفة',
    hold: 'أُجّلت',
    worker_lost: 'انقطعت: توقف العامل',
  },
};

export const attempts = { en, ar };
