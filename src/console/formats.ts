import { RIYADH_OFFSET_MS, timestampMs } from '../domain/timestamp';
import { messagesIn, type Language, type Messages } from './messages';

/**
 * Formats of times, amounts and sizes. Times are Riyadh time (UTC+3 all year), with UTC and the Hijri date in the
 * tooltip. Digits are western in both languages, so that they match references and plates.
 */
export interface Formats {
  /** With the year if it is not the current one: `21 Nov, 09:14`. */
  timestamp(iso: string): string;
  /** The time of day: `09:14:05.123`. */
  clockTime(iso: string): string;
  date(iso: string): string;
  /** UTC and the Hijri date, for a tooltip. */
  hover(iso: string): string;
  /** `2 d 3 h`, `14 min`, `8 s`: the two largest units, never negative. */
  duration(ms: number): string;
  number(value: number): string;
  /** `started, detained or canceled`. */
  either(texts: readonly string[]): string;
  /** SAR with two decimals. */
  money(amount: number): string;
  bytes(count: number): string;
}

const ZONE = 'Asia/Riyadh';
const LOCALES = { en: 'en-GB', ar: 'ar-SA-u-ca-gregory-nu-latn' } as const;
const HIJRI = { en: 'en-u-ca-islamic-umalqura-nu-latn', ar: 'ar-SA-u-ca-islamic-umalqura' } as const;

/** The formats of a language. `nowMs` decides whether a timestamp shows its year. */
export function formatsOf(language: Language, nowMs: number): Formats {
  const thisYear = yearOf(nowMs);
  const { short, long, day, seconds, hijri, plain, amount, alternatives } = formattersOf(language);
  const { units } = messagesIn(language);
  return {
    timestamp: (iso) => dated(iso, (at) => (yearOf(at.getTime()) === thisYear ? short : long).format(at)),
    clockTime: (iso) => dated(iso, (at) => `${seconds.format(at)}.${String(at.getMilliseconds()).padStart(3, '0')}`),
    date: (iso) => dated(iso, (at) => day.format(at)),
    hover: (iso) => dated(iso, (at) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC · ${hijri.format(at)}`),
    duration: (ms) => durationText(Math.max(0, ms), units),
    number: (value) => plain.format(value),
    either: (texts) => alternatives.format(texts),
    money: (value) => units.money({ amount: amount.format(value) }),
    bytes: (count) => bytesText(count, plain),
  };
}

const DAY = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

const formatters = new Map<Language, ReturnType<typeof makeFormatters>>();

/** Made once per language: that takes time and native memory, and each page and each live part needs them. */
function formattersOf(language: Language): ReturnType<typeof makeFormatters> {
  const made = formatters.get(language) ?? makeFormatters(language);
  formatters.set(language, made);
  return made;
}

function makeFormatters(language: Language) {
  const locale = LOCALES[language];
  return {
    short: new Intl.DateTimeFormat(locale, { timeZone: ZONE, day: 'numeric', month: 'short', ...TIME }),
    long: new Intl.DateTimeFormat(locale, { timeZone: ZONE, ...DAY, ...TIME }),
    day: new Intl.DateTimeFormat(locale, { timeZone: ZONE, ...DAY }),
    seconds: new Intl.DateTimeFormat(locale, { timeZone: ZONE, ...TIME, second: '2-digit' }),
    hijri: new Intl.DateTimeFormat(HIJRI[language], { timeZone: ZONE, dateStyle: 'long' }),
    plain: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
    amount: new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    alternatives: new Intl.ListFormat(language, { type: 'disjunction' }),
  };
}

/**
 * Shows a text that is no timestamp unchanged: it may come from the service. `Date` reads more forms than facts may have, but
 * no fraction after a comma.
 */
function dated(iso: string, show: (at: Date) => string): string {
  const at = new Date(timestampMs(iso) ?? iso);
  return Number.isNaN(at.getTime()) ? iso : show(at);
}

function yearOf(ms: number): number {
  return new Date(ms + RIYADH_OFFSET_MS).getUTCFullYear();
}

function durationText(ms: number, { days, hours, minutes, seconds }: Messages['units']): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(ms / 86_400_000), days],
    [Math.floor(ms / 3_600_000) % 24, hours],
    [Math.floor(ms / 60_000) % 60, minutes],
    [Math.floor(ms / 1000) % 60, seconds],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return `0 ${seconds}`;
  // Seconds are shown for durations under an hour only.
  const shown = parts.slice(first, first + 2).filter(([count], index) => index === 0 || count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

function bytesText(count: number, plain: Intl.NumberFormat): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${plain.format(count / 1024)} KiB`;
  return `${plain.format(count / 1024 / 1024)} MiB`;
}
