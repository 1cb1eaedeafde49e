import { ruleInArabic } from './rules';

/**
 * What the API says no with, in Arabic, by its stable code; in English the API's own message is shown, since it knows
 * more. Rules of fields are translated where they are known, by their English text.
 */

interface Refusals {
  /** Null where the API's own message is shown. */
  readonly messageOf: (code: string) => string | null;
  readonly ruleOf: (rule: string) => string | null;
}

/** Of choices that no field is to blame for: the API's message names fields. */
const CHOICES_EN: Readonly<Record<string, string>> = {
  nothing_chosen: 'Nothing is chosen. Tick tasks, or set a filter: an empty filter never means everything.',
  nothing_found: 'No open task fits the filter any more.',
  too_many_tasks: 'That is more than 1,000 tasks. Set a narrower filter.',
  two_choices: 'Choose either tasks or a filter, not both.',
};

/** What speaks of types, in words of people. */
const TYPES_EN: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^must be of type number$/, 'must be a number'],
  [/^must be of type string$/, 'must be text'],
  [/^must be of type boolean$/, 'must be yes or no'],
  [/^is required \(.+\)$/, 'is required'],
];

const en: Refusals = {
  messageOf: (code) => CHOICES_EN[code] ?? null,
  ruleOf: (rule) => TYPES_EN.find(([pattern]) => pattern.test(rule))?.[1] ?? null,
};

const MESSAGES: Readonly<Record<string, string>> = {
  action_not_offered: 'لا يمكن هذا القرار في هذه المهمة.',
  already_linked: 'السحب مرتبط بهذه المخالفة من قبل.',
  already_recorded: 'سُجّل هذا من قبل.',
  asked_no_more: 'لم يعد هذا مطروحًا: قرّر فيه شخص، أو تغيّر تلقائيًا.',
  bulk_aborted: 'أُوقف هذا التنفيذ.',
  bulk_done: 'اكتمل هذا التنفيذ.',
  bulk_interrupted: 'انقطع هذا التنفيذ.',
  bulk_not_found: 'لا يوجد تنفيذ كهذا: تُحفظ المعاينة ساعة والتنفيذ يومًا.',
  bulk_previewed: 'لم يبدأ هذا التنفيذ بعد.',
  bulk_running: 'هذا التنفيذ جارٍ.',
  correct_not_allowed: 'النتيجة غير معروفة: اقبل أو أعد الإرسال أو تنازل.',
  decision_needed: 'هذه المهمة تحتاج قرارًا ولا تُغلق بغيره.',
  delivery_not_found: 'لا يوجد تسليم كهذا.',
  field_invalid: 'بعض الحقول لا تستوفي شروطها.',
  form_broken: 'وصل النموذج ناقصًا أو تالفًا، ولم يُستلم منه شيء.',
  form_not_ours: 'لم يعد هذا النموذج صالحًا. افتح الصفحة مرة أخرى.',
  hold_not_found: 'لا يوجد إيقاف كهذا.',
  idempotency_key_reused: 'أُرسل هذا النموذج من قبل بمحتوى آخر. افتح الصفحة مرة أخرى.',
  images_not_stored: 'تعذّر حفظ الصور. حاول مرة أخرى.',
  images_too_large: 'حجم الصور معًا أكبر من 10 ميغابايت.',
  invoice_exists: 'للسحب فاتورة؛ لا يلغيه إلا دور ops مع ذكر السبب.',
  invoice_required: 'اطلب الفاتورة قبل تسجيل دفعها.',
  key_name_taken: 'يوجد مفتاح حي بهذا الاسم.',
  key_not_found: 'لا يوجد مفتاح كهذا.',
  metadata_id_taken: 'توجد مخالفة حية بهذا المعرّف.',
  not_assigned: 'السحب غير معيّن لأحد.',
  not_decided: 'تعذّر القرار عدة مرات. افتح المهمة وقرّر فيها هناك.',
  not_found: 'لا يوجد شيء كهذا.',
  on_hold: 'السحب موقوف؛ ارفع الإيقاف أولًا.',
  nothing_chosen: 'لم يُختر شيء. أشّر على مهام أو حدّد تصفية: التصفية الفارغة لا تعني الكل أبدًا.',
  nothing_found: 'لم تعد أي مهمة مفتوحة تطابق التصفية.',
  nothing_to_decide: 'لا شيء فيها يمكن أن يُقرَّر هكذا.',
  nothing_waits: 'لا يمكن هذا القرار في أي من مهامه.',
  operation_not_paused: 'العملية ليست متوقفة.',
  payment_required: 'سجّل الدفع قبل الإفراج.',
  reference_taken: 'هذا المرجع لمخالفة أخرى؛ انظر إليها أولًا.',
  report_in_flight: 'التقرير قيد الإرسال الآن؛ قرّر عندما يصل الرد.',
  report_not_found: 'لا يوجد تقرير كهذا.',
  report_settled: 'حُسم أمر هذا التقرير من قبل.',
  role_not_allowed: 'دورك لا يسمح بذلك.',
  service_not_configured: 'لا يمكن لهذه اللوحة الوصول إلى الخدمة.',
  service_refused: 'رفضت الخدمة السؤال.',
  step_not_allowed: 'هذه الخطوة لا تناسب حالة السحب.',
  task_not_found: 'لا توجد مهمة مفتوحة كهذه.',
  too_large: 'النموذج أكبر مما يُقبل.',
  too_many_holds: 'عدد مرات الإيقاف بلغ حده.',
  too_many_notes: 'عدد الملاحظات بلغ حده.',
  too_many_photos: 'عدد الصور بلغ حده.',
  too_many_tasks: 'هذه أكثر من 1,000 مهمة. حدّد تصفية أضيق.',
  tow_is_over: 'انتهى السحب: لا تُقبل إلا الملاحظات ورفع الإيقاف.',
  tow_not_found: 'لا يوجد سحب كهذا.',
  transition_not_allowed: 'لا تسمح حالة السحب بذلك.',
  two_choices: 'اختر مهام أو تصفية، لا كلتيهما.',
  violation_in_flight: 'المخالفة قيد الإرسال الآن؛ قرّر عندما يصل الرد.',
  violation_not_found: 'لا توجد مخالفة كهذه.',
  violation_settled: 'حُسم أمر هذه المخالفة من قبل.',
  yard_not_allowed: 'لا تقف مركبة هذا السحب في أي ساحة.',
};

const RULES: Readonly<Record<string, string>> = {
  'must not be empty': 'يجب ألا يكون فارغًا',
  'is required': 'مطلوب',
  'must be text': 'يجب أن يكون نصًا',
  'must be a number': 'يجب أن يكون رقمًا',
  'must be of type number': 'يجب أن يكون رقمًا',
  'must be of type string': 'يجب أن يكون نصًا',
  'must be of type boolean': 'يجب أن يكون «نعم» أو «لا»',
  'must be a whole number': 'يجب أن يكون رقمًا صحيحًا',
  'must be an ISO 8601 date and time with Z or an offset': 'يجب أن يكون تاريخًا ووقتًا صحيحين',
  'must not be more than 2 minutes in the future': 'يجب ألا يتجاوز دقيقتين في المستقبل',
  'is required: the violation of this tow does not give it': 'مطلوب: لا تذكره مخالفة هذا السحب',
  'is open': 'مفتوح',
  'is required to waive or accept': 'مطلوب للتنازل أو القبول',
};

const ar: Refusals = {
  messageOf: (code) => MESSAGES[code] ?? null,
  ruleOf: (rule) => RULES[rule] ?? ruleInArabic(rule),
};

export const refusals = { en, ar };
