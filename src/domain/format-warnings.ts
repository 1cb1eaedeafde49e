import { invisibleIn, unusualLettersIn, visibleText } from './entered-text';
import { FUTURE_TOLERANCE_MS, hasOffset, timestampMs } from './timestamp';
import { westernDigits } from './numerals';
import { looksSaudi } from './tow/plate';
import type { FieldRule } from './refusal';
import { PERSON_FIELDS, type ViolationForm } from './violation/violation';
import type { PlateType, ViolationApi } from './vocabulary';

/**
 * Warnings about fields of a violation that look wrong in Saudi Arabia although the service's documentation allows them.
 * They never refuse a form, or contain a value. `entered` is the form before `visibleForm`, `damaged` the numbers
 * of images of which a part is missing.
 */
export function formatWarnings(
  entered: ViolationForm,
  about: {
    readonly api: ViolationApi;
    readonly images: number;
    readonly damaged?: readonly number[];
    readonly nowMs: number;
  },
): FieldRule[] {
  const form = visibleForm(entered);
  const { damaged = [] } = about;
  return [
    ...INVISIBLE_GO.flatMap((field) => invisibleWarnings(field, entered[field])),
    ...dateWarnings(form.date, about.nowMs),
    ...plateWarnings(form),
    ...identityWarnings('identityNumber', form.identityNumber),
    ...mobileWarnings('mobileNumber', form.mobileNumber),
    ...identityWarnings('supervisorIdentityNumber', form.supervisorIdentityNumber),
    ...mobileWarnings('supervisorMobileNumber', form.supervisorMobileNumber),
    ...warnIf(about.api === 'guide' && about.images > 0, 'images', 'are not sent: VIOLATION_API is guide'),
    ...warnIf(damaged.length > 0, 'images', `are cut off or damaged, and were accepted: ${damaged.join(', ')}`),
  ];
}

/** The fields in which an invisible character is a mistake. */
const INVISIBLE_GO = ['plateNumber', ...PERSON_FIELDS] as const;

/** The form as it is sent: these fields without invisible characters. */
export function visibleForm<F extends ViolationForm>(form: F): F {
  const given = INVISIBLE_GO.flatMap((field) => {
    const value = form[field];
    return value === undefined ? [] : [[field, visibleText(value)] as const];
  });
  return { ...form, ...Object.fromEntries(given) };
}

const INVISIBLE_REMOVED = 'had characters that are not visible and are not sent: ';

/** The warning about characters of a field that are not sent. */
export function invisibleWarnings(field: string, value: string | undefined): FieldRule[] {
  const found = invisibleIn(value ?? '');
  return warnIf(found.length > 0, field, `${INVISIBLE_REMOVED}${found.join(', ')}`);
}

/** The warnings about removed characters that stay true when other fields are corrected. */
export function keptWarnings(warnings: readonly FieldRule[], corrected: readonly string[]): FieldRule[] {
  return warnings.filter(({ field, rule }) => rule.startsWith(INVISIBLE_REMOVED) && !corrected.includes(field));
}

/** A time without an offset is in Asia/Riyadh. */
const RIYADH_OFFSET = '+03:00';

function dateWarnings(date: string | undefined, nowMs: number): FieldRule[] {
  if (date === undefined) return [];
  const isClear = hasOffset(date);
  const ms = timestampMs(isClear ? date : `${date}${RIYADH_OFFSET}`);
  return [
    ...warnIf(!isClear, 'date', 'has no offset from UTC; the service may take it as another time'),
    ...warnIf(ms !== null && ms > nowMs + FUTURE_TOLERANCE_MS, 'date', 'lies in the future'),
  ];
}

/** Types of plates with other rules. */
const OTHER_PLATES: readonly PlateType[] = ['DIPLOMATIC', 'EXPORT', 'MOTORCYCLE', 'Heavy_Equipment'];

function plateWarnings({ plateNumber, plateType, isSaudi }: ViolationForm): FieldRule[] {
  if (plateType !== undefined && OTHER_PLATES.includes(plateType)) return [];
  const isLike = looksSaudi(plateNumber);
  const unusual = unusualLettersIn(plateNumber);
  return [
    ...warnIf(
      isLike && unusual.length > 0,
      'plateNumber',
      `has letters or digits of another keyboard: ${unusual.join(', ')}`,
    ),
    ...warnIf(
      isSaudi !== false && !isLike,
      'plateNumber',
      'does not look like a Saudi plate: 1 to 4 digits and 1 to 3 of the 17 letters in use',
    ),
    ...warnIf(isSaudi === false && isLike, 'isSaudi', 'is false, but the plate looks like a Saudi one'),
    ...warnIf(isSaudi === true && !isLike, 'isSaudi', 'is true, but the plate does not look like a Saudi one'),
  ];
}

function identityWarnings(field: string, value: string | undefined): FieldRule[] {
  if (value === undefined) return [];
  const digits = westernDigits(value);
  if (!/^[12]\d{9}$/.test(digits)) return [{ field, rule: 'does not have 10 digits of which the first is 1 or 2' }];
  return warnIf(!passesLuhn(digits), field, 'fails its checksum');
}

function mobileWarnings(field: string, value: string | undefined): FieldRule[] {
  if (value === undefined) return [];
  const isMobile = /^(05|\+9665)\d{8}$/.test(westernDigits(value).replaceAll(/[\s.\p{Pd}]/gu, ''));
  return warnIf(!isMobile, field, 'does not look like 05######## or +9665########');
}

function passesLuhn(digits: string): boolean {
  const sum = Array.from(digits, Number)
    .toReversed()
    .map((digit, index) => (index % 2 === 0 ? digit : digit * 2))
    .reduce((total, value) => total + (value > 9 ? value - 9 : value), 0);
  return sum % 10 === 0;
}

function warnIf(condition: boolean, field: string, rule: string): FieldRule[] {
  return condition ? [{ field, rule }] : [];
}
