import type {
  DeliveryKind,
  FactEvent,
  ReportState,
  Role,
  TowState,
  ViolationState,
  ViolationType,
} from '../../domain/vocabulary';
import type { TaskAction } from '../../domain/tasks';

/** The words of the field: states, facts, roles (design, "Words"). */
interface Terms {
  readonly towStates: Readonly<Record<TowState, string>>;
  readonly facts: Readonly<Record<FactEvent, string>>;
  readonly reportStates: Readonly<Record<ReportState, string>>;
  readonly violationStates: Readonly<Record<ViolationState, string>>;
  readonly violationTypes: Readonly<Record<ViolationType, string>>;
  readonly deliveries: Readonly<Record<DeliveryKind, string>>;
  readonly roles: Readonly<Record<Role, string>>;
  readonly actions: Readonly<Record<TaskAction, string>>;
}

const en: Terms = {
  towStates: {
    requested: 'Requested',
    started: 'Started',
    detained: 'Detained',
    released: 'Released',
    canceled: 'Canceled',
  },
  facts: {
    started: 'Started',
    detained: 'Detained',
    canceled: 'Canceled',
    released: 'Released',
    invoice: 'Invoice',
    payment: 'Payment',
  },
  reportStates: {
    pending: 'Waiting',
    sending: 'Sending',
    accepted: 'Accepted',
    refused: 'Refused',
    unknown: 'Outcome unknown',
    waived: 'Waived',
  },
  violationStates: {
    pending: 'Waiting',
    held: 'Held',
    sending: 'Sending',
    unknown: 'Outcome unknown',
    refused: 'Refused',
    accepted: 'Accepted',
    waived: 'Waived',
  },
  violationTypes: {
    NO_TICKET: 'No ticket',
    TICKET_ENDED: 'Ticket ended',
    USER_EXCEED_PARKING_TIME: 'Parking time exceeded',
    WRONG_PARKING: 'Wrong parking',
    RESERVED_PARKING: 'Reserved parking',
    OBS_CLS_PARKING: 'Obstructing or closing',
    EMRG_PARKING: 'Emergency parking',
    ENT_EXT_PARKING: 'Entrance or exit',
    PROH_PARKING: 'Prohibited parking',
  },
  deliveries: { tow_request: 'Tow request', tow_invoice: 'Tow invoice' },
  roles: { viewer: 'viewer', crew: 'crew', dispatcher: 'dispatcher', ops: 'ops' },
  actions: {
    correct: 'Correct and resend',
    retry: 'Send again',
    waive: 'Waive',
    accept: 'Accept by hand',
    resolve: 'Close',
    resume: 'Resume',
  },
};

const ar: Terms = {
  towStates: {
    requested: 'مطلوبة',
    started: 'بدأت',
    detained: 'محجوزة',
    released: 'أُفرج عنها',
    canceled: 'ملغاة',
  },
  facts: {
    started: 'بدء السحب',
    detained: 'الحجز',
    canceled: 'الإلغاء',
    released: 'الإفراج',
    invoice: 'الفاتورة',
    payment: 'الدفع',
  },
  reportStates: {
    pending: 'في الانتظار',
    sending: 'قيد الإرسال',
    accepted: 'مقبول',
    refused: 'مرفوض',
    unknown: 'النتيجة غير معروفة',
    waived: 'متنازل عنه',
  },
  violationStates: {
    pending: 'في الانتظار',
    held: 'موقوفة',
    sending: 'قيد الإرسال',
    unknown: 'النتيجة غير معروفة',
    refused: 'مرفوضة',
    accepted: 'مقبولة',
    waived: 'متنازل عنها',
  },
  violationTypes: {
    NO_TICKET: 'بلا تذكرة',
    TICKET_ENDED: 'انتهت التذكرة',
    USER_EXCEED_PARKING_TIME: 'تجاوز مدة الوقوف',
    WRONG_PARKING: 'وقوف خاطئ',
    RESERVED_PARKING: 'موقف محجوز',
    OBS_CLS_PARKING: 'إعاقة أو إغلاق',
    EMRG_PARKING: 'موقف طوارئ',
    ENT_EXT_PARKING: 'مدخل أو مخرج',
    PROH_PARKING: 'وقوف ممنوع',
  },
  deliveries: { tow_request: 'طلب سحب', tow_invoice: 'فاتورة سحب' },
  roles: { viewer: 'مطّلع', crew: 'طاقم', dispatcher: 'موزّع', ops: 'مشغّل' },
  actions: {
    correct: 'تصحيح وإعادة إرسال',
    retry: 'إعادة الإرسال',
    waive: 'تنازل',
    accept: 'قبول يدوي',
    resolve: 'إغلاق',
    resume: 'استئناف',
  },
};

export const terms = { en, ar };
