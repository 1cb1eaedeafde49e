/**
 * Rules of fields in Arabic, by their English text as contracts and format warnings say it. Those with a number or a list
 * in them are known by their pattern. A test keeps this in step with what is said.
 */

const RULES: Readonly<Record<string, string>> = {
  'must be JSON': 'يجب أن يكون JSON',
  'must be a finite number': 'يجب أن يكون عددًا منتهيًا',
  'must be an object': 'يجب أن يكون كائن JSON',
  'must be a string': 'يجب أن يكون نصًا',
  'must be text that is not blank': 'يجب أن يكون نصًا غير فارغ',
  'must be a UUID': 'يجب أن يكون UUID',
  'must be an ISO 8601 time': 'يجب أن يكون وقتًا بصيغة ISO 8601',
  'must not contain control characters': 'يجب أن يخلو من محارف التحكم وفواصل الأسطر',
  'must be well-formed Unicode text': 'يجب أن يكون نصًا سليم الترميز (Unicode)',
  'must not be "." or ".."': 'يجب ألا يكون ".‎" أو "..‎"',
  'must not contain control characters other than line breaks': 'يجب أن يخلو من محارف التحكم عدا فواصل الأسطر',
  'must be given once': 'يجب أن يُذكر مرة واحدة',
  'must be files': 'يجب أن يكون ملفات',
  'must be a multipart form': 'يجب أن يكون نموذجًا كاملًا',
  'must not be that of another violation': 'يجب ألا يكون لمخالفة أخرى',
  'needs at least one field of the form': 'يجب تغيير حقل واحد على الأقل',
  'must be a whole image: JPEG, PNG, WebP, GIF, BMP, TIFF, HEIC, HEIF or AVIF':
    'يجب أن تكون صورة كاملة: JPEG أو PNG أو WebP أو GIF أو BMP أو TIFF أو HEIC أو HEIF أو AVIF',
  'are not sent: VIOLATION_API is guide': 'لا تُرسل: VIOLATION_API هو guide',
  'has no offset from UTC; the service may take it as another time':
    'لا يذكر فرق التوقيت عن UTC، وقد تفهمه الخدمة وقتًا آخر',
  'lies in the future': 'في المستقبل',
  'does not look like a Saudi plate: 1 to 4 digits and 1 to 3 of the 17 letters in use':
    'لا يشبه لوحة سعودية: من 1 إلى 4 أرقام ومن 1 إلى 3 من الحروف السبعة عشر المستخدمة',
  'is false, but the plate looks like a Saudi one': '«لا»، لكن اللوحة تشبه لوحة سعودية',
  'is true, but the plate does not look like a Saudi one': '«نعم»، لكن اللوحة لا تشبه لوحة سعودية',
  'does not have 10 digits of which the first is 1 or 2': 'ليس من 10 أرقام أولها 1 أو 2',
  'fails its checksum': 'رقم التحقق فيه لا يصح',
  'does not look like 05######## or +9665########': 'لا يشبه 05######## أو +9665########',
};

const PATTERNS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^is required \(.+\)$/, 'مطلوب'],
  [/^must be one of (.+)$/, 'يجب أن يكون واحدًا مما يلي: $1'],
  [/^must be at least ([\d.-]+)(?: characters)?$/, 'يجب ألا يقل عن $1'],
  [/^must be at most ([\d.-]+) characters$/, 'يجب ألا يزيد على $1 حرف'],
  [/^must be at most ([\d.-]+) bytes in all$/, 'يجب ألا يزيد مجموعها على $1 بايت'],
  [/^must be at most ([\d.-]+) files$/, 'يجب ألا تزيد على $1 ملف'],
  [/^must be at most ([\d.-]+)$/, 'يجب ألا يزيد على $1'],
  [/^must not be nested deeper than (\d+) levels$/, 'يجب ألا يزيد تداخله على $1 مستوى'],
];

/** The rule in Arabic; null for one that is not known here. */
export function ruleInArabic(rule: string): string | null {
  const known = RULES[rule];
  if (known !== undefined) return known;
  const pattern = PATTERNS.find(([each]) => each.test(rule));
  return pattern ? rule.replace(pattern[0], pattern[1]) : null;
}
