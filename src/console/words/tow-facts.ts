import type { ReleaseItem } from '../../domain/release-checklist';
import type { FactEvent } from '../../domain/vocabulary';
import { counting } from './plural';

/** What people say about a tow: the forms of its facts. */
interface TowFacts {
  /** What the button says; the fact is told in the words of people. */
  readonly record: Readonly<Record<FactEvent, string>>;
  readonly explain: Readonly<Record<FactEvent, string>>;
  readonly others: string;
  readonly nothing: string;
  readonly mayNot: (role: string) => string;
  readonly othersSay: (role: string) => string;
  readonly notNow: string;
  /** By the code of the refusal; what is not here needs no word. */
  readonly whyNot: Readonly<Record<string, string>>;
  readonly onlyOps: string;
  readonly fields: Readonly<
    Record<
      | 'plate_number'
      | 'towed_location'
      | 'latitude'
      | 'longitude'
      | 'occurred_at'
      | 'cancellation_reason'
      | 'cancellation_more'
      | 'reason'
      | 'vehicle_type'
      | 'delay_in_days'
      | 'override_reason'
      | 'payment_status'
      | 'external_reference'
      | 'handed_to'
      | 'handed_id',
      string
    >
  >;
  readonly known: string;
  readonly different: string;
  readonly otherTime: string;
  readonly timeHint: string;
  readonly notBefore: string;
  readonly choose: string;
  /** Sent to the service in English; shown in the reader's language. */
  readonly reasons: readonly (readonly [sent: string, shown: string])[];
  readonly otherReason: string;
  readonly moreHint: string;
  readonly opsReasonHint: string;
  readonly handedHint: string;
  readonly delay: (days: number) => string;
  readonly delayOf: { readonly none: string; readonly counted: (counted: number, free: number) => string };
  readonly otherDays: string;
  readonly overrideHint: string;
  readonly checklist: {
    readonly title: string;
    readonly items: Readonly<Record<ReleaseItem, string>>;
    readonly met: string;
    readonly missing: string;
    readonly notNeeded: string;
  };
}

const en: TowFacts = {
  record: {
    started: 'Vehicle hooked up: started',
    detained: 'Vehicle in the yard: detained',
    canceled: 'Cancel the tow',
    released: 'Vehicle handed back: released',
    invoice: 'Ask for the invoice',
    payment: 'Record the payment',
  },
  explain: {
    started: 'Reports the tow as started, with plate and place.',
    detained: 'Reports that the vehicle stands in the yard.',
    canceled: 'Reports the tow as canceled, with the reason.',
    released: 'Reports that the vehicle was released.',
    invoice: 'Asks the service for the invoice. This is done once.',
    payment: 'Reports to the service that the invoice was paid.',
  },
  others: 'Something else happened',
  nothing: 'There is nothing more to say about this tow.',
  mayNot: (role) => `To say what happened needs the role ${role}.`,
  othersSay: (role) => `What happens next is for the role ${role} to say.`,
  notNow: 'Not now',
  whyNot: {
    payment_required: 'the payment comes first',
    invoice_required: 'the invoice comes first',
    on_hold: 'the tow is on hold',
    invoice_exists: 'there is an invoice; only ops may do it',
  },
  onlyOps: 'only ops may do it',
  fields: {
    plate_number: 'Plate',
    towed_location: 'Taken from (address)',
    latitude: 'Latitude',
    longitude: 'Longitude',
    occurred_at: 'When',
    cancellation_reason: 'Reason',
    cancellation_more: 'In your words',
    reason: 'Why ops cancels it',
    vehicle_type: 'Vehicle type',
    delay_in_days: 'Days of delay',
    override_reason: 'Why other days',
    payment_status: 'Payment status',
    external_reference: 'Receipt or payment reference',
    handed_to: 'Handed to (name)',
    handed_id: 'Their identity number',
  },
  known: 'Known from the violation',
  different: 'Something is different',
  otherTime: 'Not now, but earlier',
  timeHint: 'Riyadh time. Left empty it means now.',
  notBefore: 'Not before',
  choose: 'Choose …',
  reasons: [
    ['Gone on arrival', 'Gone on arrival'],
    ['Owner came and moved the vehicle', 'Owner came and moved the vehicle'],
    ['Wrong vehicle', 'Wrong vehicle'],
    ['Vehicle cannot be reached', 'Vehicle cannot be reached'],
    ['Vehicle cannot be towed safely', 'Vehicle cannot be towed safely'],
    ['Requested by mistake', 'Requested by mistake'],
  ],
  otherReason: 'Another reason (write it below)',
  moreHint: 'The service is told the reason and these words.',
  opsReasonHint: 'Kept in the audit and not sent: the tow has an invoice.',
  handedHint: 'Kept here as a note, and not sent to the service.',
  delay: counting('en')({ one: '# day of delay will be invoiced', other: '# days of delay will be invoiced' }),
  delayOf: {
    none: 'the vehicle was not detained, so there is nothing to count',
    counted: (counted, free) => `${counted} calendar days in Riyadh since then, less ${free} free days`,
  },
  otherDays: 'Invoice other days',
  overrideHint: 'Kept in the audit and not sent.',
  checklist: {
    title: 'Before the release',
    items: {
      state: 'The vehicle is with us',
      invoice_requested: 'Invoice asked for',
      invoice_accepted: 'Invoice confirmed by the service',
      payment_recorded: 'Payment recorded',
      no_open_hold: 'No open hold',
    },
    met: 'done',
    missing: 'missing',
    notNeeded: 'not needed',
  },
};

const ar: TowFacts = {
  record: {
    started: 'رُفعت المركبة: بدء السحب',
    detained: 'المركبة في الساحة: الحجز',
    canceled: 'إلغاء السحب',
    released: 'سُلّمت المركبة: الإفراج',
    invoice: 'طلب الفاتورة',
    payment: 'تسجيل الدفع',
  },
  explain: {
    started: 'يبلّغ الخدمة ببدء السحب مع اللوحة والموقع.',
    detained: 'يبلّغ الخدمة بأن المركبة في الساحة.',
    canceled: 'يبلّغ الخدمة بإلغاء السحب مع السبب.',
    released: 'يبلّغ الخدمة بالإفراج عن المركبة.',
    invoice: 'يطلب الفاتورة من الخدمة، مرة واحدة فقط.',
    payment: 'يبلّغ الخدمة بأن الفاتورة دُفعت.',
  },
  others: 'حدث شيء آخر',
  nothing: 'لم يبقَ ما يُقال عن هذا السحب.',
  mayNot: (role) => `تسجيل ما حدث يتطلب دور ${role}.`,
  othersSay: (role) => `الخطوة التالية يسجّلها دور ${role}.`,
  notNow: 'ليس الآن',
  whyNot: {
    payment_required: 'الدفع أولًا',
    invoice_required: 'الفاتورة أولًا',
    on_hold: 'السحب موقوف',
    invoice_exists: 'توجد فاتورة، ولا يملك ذلك إلا المشغّل',
  },
  onlyOps: 'لا يملك ذلك إلا المشغّل',
  fields: {
    plate_number: 'اللوحة',
    towed_location: 'سُحبت من (العنوان)',
    latitude: 'خط العرض',
    longitude: 'خط الطول',
    occurred_at: 'متى',
    cancellation_reason: 'السبب',
    cancellation_more: 'بكلماتك',
    reason: 'لماذا يلغيه المشغّل',
    vehicle_type: 'نوع المركبة',
    delay_in_days: 'أيام التأخير',
    override_reason: 'لماذا أيام أخرى',
    payment_status: 'حالة الدفع',
    external_reference: 'رقم الإيصال أو مرجع الدفع',
    handed_to: 'سُلّمت إلى (الاسم)',
    handed_id: 'رقم هويته',
  },
  known: 'معروف من المخالفة',
  different: 'هناك شيء مختلف',
  otherTime: 'ليس الآن، بل قبل ذلك',
  timeHint: 'بتوقيت الرياض. إذا تُرك فارغًا فهو الآن.',
  notBefore: 'ليس قبل',
  choose: 'اختر …',
  reasons: [
    ['Gone on arrival', 'لم تكن موجودة عند الوصول'],
    ['Owner came and moved the vehicle', 'حضر المالك وحرّك المركبة'],
    ['Wrong vehicle', 'مركبة خاطئة'],
    ['Vehicle cannot be reached', 'لا يمكن الوصول إلى المركبة'],
    ['Vehicle cannot be towed safely', 'لا يمكن سحبها بأمان'],
    ['Requested by mistake', 'طُلب السحب بالخطأ'],
  ],
  otherReason: 'سبب آخر (اكتبه أدناه)',
  moreHint: 'يُرسل السبب وهذه الكلمات إلى الخدمة.',
  opsReasonHint: 'يُحفظ في السجل ولا يُرسل: للسحب فاتورة.',
  handedHint: 'يُحفظ هنا ملاحظةً ولا يُرسل إلى الخدمة.',
  delay: counting('ar')({
    zero: 'لن تُحتسب أيام تأخير',
    one: 'سيُحتسب يوم تأخير واحد',
    two: 'سيُحتسب يوما تأخير',
    few: 'ستُحتسب # أيام تأخير',
    many: 'سيُحتسب # يوم تأخير',
    other: 'سيُحتسب # يوم تأخير',
  }),
  delayOf: {
    none: 'لم تُحجز المركبة فلا شيء يُحسب',
    counted: (counted, free) => `أيام التقويم في الرياض منذ ذلك الحين: ${counted}، تُخصم الأيام المجانية: ${free}`,
  },
  otherDays: 'احتساب أيام أخرى',
  overrideHint: 'يُحفظ في السجل ولا يُرسل.',
  checklist: {
    title: 'قبل الإفراج',
    items: {
      state: 'المركبة عندنا',
      invoice_requested: 'طُلبت الفاتورة',
      invoice_accepted: 'أكدت الخدمة الفاتورة',
      payment_recorded: 'سُجّل الدفع',
      no_open_hold: 'لا إيقاف مفتوح',
    },
    met: 'تم',
    missing: 'ناقص',
    notNeeded: 'غير لازم',
  },
};

export const towFacts = { en, ar };
