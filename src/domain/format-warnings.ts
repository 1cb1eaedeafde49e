import { FUTURE_TOLERANCE_MS, hasOffset, timestampMs } from './timestamp';
import { westernDigits } from './numerals';
import { looksSaudi } from './plate';
import type { FieldRule } from './refusal';
import type { ViolationForm } from './violation';
import type { PlateType, ViolationApi } from './vocabulary';

/**
 * Warnings about fields of a violation that look wrong in Saudi Arabia although the service's documentation allows them.
 * They never refuse a form, change it, or contain a value.
 */
export function formatWarnings(
  form: ViolationForm,
  about: { readonly api: ViolationApi; readonly images: number; readonly nowMs: number },
): FieldRule[] {
  return [
    ...dateWarnings(form.date, about.nowMs),
    ...plateWarnings(form),
    ...identityWarnings('identityNumber', form.identityNumber),
    ...mobileWarnings('mobileNumber', form.mobileNumber),
    ...identityWarnings('supervisorIdentityNumber', form.supervisorIdentityNumber),
    ...mobileWarnings('supervisorMobileNumber', form.supervisorMobileNumber),
    ...warnIf(about.api === 'guide' && about.images > 0, 'images', 'are not sent: VIOLATION_API is guide'),
  ];
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
  return [
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
  const isMobile = /^(05|\+9665)\d{8}$/.test(westernDigits(value).replaceAll(/[\s-]/g, ''));
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
