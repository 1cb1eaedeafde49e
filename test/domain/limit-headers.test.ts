import {
  learnWindow,
  NOTHING_LEARNED,
  perMinuteWith,
  readLimitHeaders,
  type LimitHeaders,
} from '../../src/domain/service/limit-headers';
import { nowMs } from './tows';

const inHalfAMinuteMs = nowMs + 30_000;

test.each([
  ['seconds', '30'],
  ['UNIX seconds', String(inHalfAMinuteMs / 1000)],
  ['UNIX milliseconds', String(inHalfAMinuteMs)],
  ['an HTTP date', new Date(inHalfAMinuteMs).toUTCString()],
  ['an ISO 8601 date', new Date(inHalfAMinuteMs).toISOString()],
])('readLimitHeaders reads limit, remaining and reset in %s', (_form, reset) => {
  expect(readLimitHeaders({ limit: '60', remaining: '7', reset }, { nowMs })).toEqual({
    perMinute: 60,
    perWindow: 60,
    remaining: 7,
    resetAtMs: inHalfAMinuteMs,
    isInvalid: false,
  });
});

test.each([
  ['60, 60;w=60', 60],
  ['10;w=1', 600],
  ['5000;w=3600', 83],
  ['20;w=3600', 1],
  [' 40 ', 40],
])('readLimitHeaders turns the limit "%s" into %i calls per minute', (limit, perMinute) => {
  expect(readLimitHeaders({ limit }, { nowMs })).toMatchObject({ perMinute, isInvalid: false });
});

test.each([
  [{ limit: 'many' }],
  [{ limit: '0' }],
  [{ limit: '-5' }],
  [{ limit: '1e3' }],
  [{ limit: '60;w=0' }],
  [{ remaining: '-1' }],
  [{ remaining: 'none' }],
  [{ reset: 'soon' }],
  [{ reset: '9999999' }],
])('readLimitHeaders ignores headers that make no sense, and reports it: %j', (headers) => {
  expect(readLimitHeaders(headers, { nowMs })).toEqual({
    perMinute: null,
    perWindow: null,
    remaining: null,
    resetAtMs: null,
    isInvalid: true,
  });
});

test('readLimitHeaders does not take what is left of a limit of 0, which is no limit', () => {
  expect(readLimitHeaders({ limit: '0', remaining: '0', reset: '30' }, { nowMs })).toEqual({
    perMinute: null,
    perWindow: null,
    remaining: null,
    resetAtMs: nowMs + 30_000,
    isInvalid: true,
  });
});

test('readLimitHeaders keeps the readable headers beside one that makes no sense', () => {
  expect(readLimitHeaders({ limit: 'many', remaining: '0', reset: '30' }, { nowMs })).toEqual({
    perMinute: null,
    perWindow: null,
    remaining: 0,
    resetAtMs: inHalfAMinuteMs,
    isInvalid: true,
  });
});

test('readLimitHeaders finds nothing invalid in an answer without such headers', () => {
  expect(readLimitHeaders({}, { nowMs })).toMatchObject({ perMinute: null, isInvalid: false });
});

describe('the window of a limit whose header does not name it', () => {
  interface Seen extends LimitHeaders {
    readonly afterMs: number;
    readonly isRefusal?: boolean;
  }
  const perSecond = { afterMs: 2000, limit: '10', remaining: '9', reset: '1' };

  /** The calls per minute that count after these answers. */
  function learnedFrom(answers: readonly Seen[]): number | null {
    let [learned, atMs, perMinute]: [typeof NOTHING_LEARNED, number, number | null] = [NOTHING_LEARNED, nowMs, null];
    for (const { afterMs, isRefusal = false, ...headers } of answers) {
      atMs += afterMs;
      const announced = readLimitHeaders(headers, { nowMs: atMs });
      learned = learnWindow(learned, announced, { isRefusal, nowMs: atMs });
      perMinute = perMinuteWith(learned, announced);
    }
    return perMinute;
  }
  const times = (count: number, answer: Seen) => Array.from({ length: count }, () => answer);

  test('is a second after four answers that announce a reset within a second and almost no counted call', () => {
    expect(learnedFrom(times(3, perSecond))).toBe(10);
    expect(learnedFrom(times(4, perSecond))).toBe(600);
    const burst = times(9, { ...perSecond, afterMs: 20, remaining: '1' });
    expect(learnedFrom([...times(2, perSecond), ...burst, ...times(2, perSecond)])).toBe(600);
  });

  test.each<[string, readonly Seen[]]>([
    ['one announced a later reset', [...times(3, perSecond), { ...perSecond, reset: '30' }, perSecond]],
    ['one counted the calls before it', [...times(3, perSecond), { ...perSecond, remaining: '5' }]],
    ['they came close together', times(20, { ...perSecond, afterMs: 100 })],
    ['one was a 429', [...times(5, perSecond), { ...perSecond, isRefusal: true }, ...times(5, perSecond)]],
    ['none announced a reset', times(6, { afterMs: 2000, limit: '10', remaining: '9' })],
    ['the window is named', times(6, { ...perSecond, limit: '10;w=60' })],
  ])('stays a minute when %s', (_why, answers) => {
    expect(learnedFrom(answers)).toBe(10);
  });
});
