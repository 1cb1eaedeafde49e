import type { FactEvent } from '../../domain/vocabulary';
import { counting } from './plural';

/** Everything that is ever written on the timeline of a tow, besides its facts. */
export const TIMELINE_TYPES = [
  'tow.requested',
  'violation.joined',
  'violation.linked',
  'invoice.attached',
  'request.rival_kept',
  'tow.assigned',
  'tow.unassigned',
  'tow.step_recorded',
  'tow.yard_set',
  'tow.hold_placed',
  'tow.hold_lifted',
  'tow.note_added',
  'tow.photo_added',
  'report.retried',
  'report.corrected',
  'report.waived',
  'report.accepted_by_hand',
  'report.accepted',
  'report.refused',
  'report.unknown',
  'report.handed_over',
  'task.resolved',
] as const;
export type TimelineType = (typeof TIMELINE_TYPES)[number];

interface Timeline {
  readonly newestFirst: string;
  readonly facts: Readonly<Record<FactEvent, string>>;
  /** `report` is the name of the report it is about, empty where it is about none. */
  readonly entries: Readonly<Record<TimelineType, (report: string) => string>>;
  /** How a report came to be accepted without an answer to its own try. */
  readonly accepted: Readonly<Record<'late_answer' | 'proved_by_webhook', (report: string) => string>>;
  readonly attempt: (report: string, number: number) => string;
  readonly attempts: (report: string, from: number, to: number) => string;
  readonly unknown: (type: string) => string;
  readonly happened: string;
  readonly reason: string;
  readonly withdrawn: string;
  readonly words: Readonly<
    Record<'delivery' | 'violation' | 'crew' | 'truck' | 'yard' | 'slot' | 'reference' | 'was' | 'task', string>
  >;
  readonly photos: (count: number) => string;
}

const en: Timeline = {
  newestFirst: 'Newest first, Riyadh time',
  facts: {
    started: 'The vehicle was hooked up: started',
    detained: 'The vehicle came to the yard: detained',
    canceled: 'The tow was called off: canceled',
    released: 'The vehicle was handed back: released',
    invoice: 'The invoice was asked for',
    payment: 'A payment was recorded',
  },
  entries: {
    'tow.requested': () => 'The service asked for this tow',
    'violation.joined': () => 'The tow was matched with our violation',
    'violation.linked': () => 'The tow was linked by hand to our violation',
    'invoice.attached': () => 'The service posted an invoice',
    'request.rival_kept': () =>
      'The service asked for this tow again, with another violation or metadata; the first request counts',
    'tow.assigned': () => 'The tow was assigned',
    'tow.unassigned': () => 'The assignment was taken back',
    'tow.step_recorded': () => 'The crew is a step further',
    'tow.yard_set': () => 'The place in the yard was noted',
    'tow.hold_placed': () => 'A hold was placed',
    'tow.hold_lifted': () => 'A hold was lifted',
    'tow.note_added': () => 'A note was added',
    'tow.photo_added': () => 'Photos were added',
    'report.retried': (report) => `The report “${report}” is to be sent again`,
    'report.corrected': (report) => `The report “${report}” was corrected and is to be sent again`,
    'report.waived': (report) => `The report “${report}” was waived`,
    'report.accepted_by_hand': (report) => `The report “${report}” was accepted by hand`,
    'report.accepted': (report) => `The service accepted the report “${report}”`,
    'report.refused': (report) => `The service refused the report “${report}”`,
    'report.unknown': (report) => `Nobody knows whether the report “${report}” arrived`,
    'report.handed_over': (report) => `The report “${report}” was handed to a person to decide`,
    'task.resolved': () => 'A task was closed',
  },
  accepted: {
    late_answer: (report) => `A late answer shows that the service accepted the report “${report}”`,
    proved_by_webhook: (report) => `A webhook call proves that the service accepted the report “${report}”`,
  },
  attempt: (report, number) => `Try ${number} to send “${report}”`,
  attempts: (report, from, to) => `Tries ${from} to ${to} to send “${report}”`,
  unknown: (type) => `Something this page has no words for (${type})`,
  happened: 'happened at',
  reason: 'reason',
  withdrawn: 'withdrawn by the cancellation, before anything was sent',
  words: {
    delivery: 'delivery',
    violation: 'violation',
    crew: 'crew',
    truck: 'truck',
    yard: 'yard',
    slot: 'slot',
    reference: 'payment reference',
    was: 'before',
    task: 'task',
  },
  photos: counting('en')({ one: '# photo', other: '# photos' }),
};

const ar: Timeline = {
  newestFirst: 'الأحدث أولًا، بتوقيت الرياض',
  facts: {
    started: 'رُفعت المركبة: بدء السحب',
    detained: 'وصلت المركبة إلى الساحة: الحجز',
    canceled: 'أُلغي السحب',
    released: 'سُلّمت المركبة: الإفراج',
    invoice: 'طُلبت الفاتورة',
    payment: 'سُجّلت دفعة',
  },
  entries: {
    'tow.requested': () => 'طلبت الخدمة هذا السحب',
    'violation.joined': () => 'طُوبق السحب مع مخالفتنا',
    'violation.linked': () => 'رُبط السحب يدويًا بمخالفتنا',
    'invoice.attached': () => 'أرسلت الخدمة فاتورة',
    'request.rival_kept': () => 'طلبت الخدمة هذا السحب مرة أخرى بمخالفة أو بيانات أخرى، والطلب الأول هو المعتمد',
    'tow.assigned': () => 'عُيّن السحب',
    'tow.unassigned': () => 'سُحب التعيين',
    'tow.step_recorded': () => 'تقدّم الطاقم خطوة',
    'tow.yard_set': () => 'سُجّل المكان في الساحة',
    'tow.hold_placed': () => 'أُوقف السحب',
    'tow.hold_lifted': () => 'رُفع إيقاف',
    'tow.note_added': () => 'أُضيفت ملاحظة',
    'tow.photo_added': () => 'أُضيفت صور',
    'report.retried': (report) => `سيُعاد إرسال تقرير «${report}»`,
    'report.corrected': (report) => `صُحّح تقرير «${report}» وسيُعاد إرساله`,
    'report.waived': (report) => `تُنوزل عن تقرير «${report}»`,
    'report.accepted_by_hand': (report) => `قُبل تقرير «${report}» يدويًا`,
    'report.accepted': (report) => `قبلت الخدمة تقرير «${report}»`,
    'report.refused': (report) => `رفضت الخدمة تقرير «${report}»`,
    'report.unknown': (report) => `لا أحد يعلم هل وصل تقرير «${report}»`,
    'report.handed_over': (report) => `سُلّم تقرير «${report}» إلى شخص ليقرر`,
    'task.resolved': () => 'أُغلقت مهمة',
  },
  accepted: {
    late_answer: (report) => `أظهر رد متأخر أن الخدمة قبلت تقرير «${report}»`,
    proved_by_webhook: (report) => `أثبت إشعار من الخدمة أنها قبلت تقرير «${report}»`,
  },
  attempt: (report, number) => `المحاولة ${number} لإرسال «${report}»`,
  attempts: (report, from, to) => `المحاولات من ${from} إلى ${to} لإرسال «${report}»`,
  unknown: (type) => `شيء لا تملك هذه الصفحة كلمات له (${type})`,
  happened: 'حدث في',
  reason: 'السبب',
  withdrawn: 'سُحب مع الإلغاء قبل إرسال أي شيء',
  words: {
    delivery: 'التسليم',
    violation: 'المخالفة',
    crew: 'الطاقم',
    truck: 'السطحة',
    yard: 'الساحة',
    slot: 'الموقف',
    reference: 'مرجع الدفع',
    was: 'كان',
    task: 'المهمة',
  },
  photos: counting('ar')({ one: 'صورة واحدة', two: 'صورتان', few: '# صور', many: '# صورة', other: '# صورة' }),
};

export const timeline = { en, ar };
