import type { ViolationForm } from '../../domain/violation';
import type { PlateType } from '../../domain/vocabulary';

/** The form of a violation: its fields (service-api 2.1), and how it is filled in and sent. */
interface Words {
  readonly title: string;
  readonly intro: string;
  readonly guide: string;
  readonly groups: Readonly<Record<'vehicle' | 'place' | 'person' | 'images' | 'metadata', string>>;
  readonly fields: Readonly<Record<keyof ViolationForm | 'images', string>>;
  readonly hints: Readonly<Partial<Record<keyof ViolationForm | 'images' | 'camera', string>>>;
  readonly choose: string;
  readonly notSaid: string;
  readonly plateTypes: Readonly<Record<PlateType, string>>;
  readonly camera: string;
  readonly chosen: string;
  readonly remove: string;
  /** `{count}`, `{size}` and `{most}` are filled in by the page's script. */
  readonly total: string;
  readonly tooLarge: string;
  readonly filesLost: string;
  readonly submit: string;
  /** `{percent}`, `{sent}` and `{total}` are filled in by the page's script. */
  readonly upload: Readonly<
    Record<
      | 'label'
      | 'progress'
      | 'sending'
      | 'sent'
      | 'aborted'
      | 'failed'
      | 'uncertain'
      | 'signedOut'
      | 'renewed'
      | 'abort',
      string
    >
  >;
}

const en: Words = {
  title: 'Report a violation',
  intro: 'It is sent to the service as you enter it. What is not marked as optional is required.',
  guide:
    'This console reports by the form of the guide: only plate, plate type, zone and violation type are sent. The rest stays here, images too.',
  groups: {
    vehicle: 'Vehicle',
    place: 'Place and time',
    person: 'Who reports it',
    images: 'Images',
    metadata: 'Metadata',
  },
  fields: {
    date: 'When it was seen (Riyadh time)',
    latitude: 'Latitude',
    longitude: 'Longitude',
    location: 'Place in words',
    plateNumber: 'Plate number',
    plateType: 'Plate type',
    zoneId: 'Zone',
    imagesDescription: 'What the images show',
    violationType: 'Violation type',
    isSaudi: 'Saudi plate?',
    metadata: 'Metadata (JSON)',
    fullName: 'Full name',
    identityNumber: 'Identity number',
    mobileNumber: 'Mobile number',
    supervisorFullName: 'Supervisor: full name',
    supervisorIdentityNumber: 'Supervisor: identity number',
    supervisorMobileNumber: 'Supervisor: mobile number',
    images: 'Choose images',
  },
  hints: {
    plateNumber: 'In either script, such as ABJ\u00a01234 or \u2067أ\u00a0ب\u00a0ح\u00a0١٢٣٤\u2069.',
    zoneId: 'The UUID of the zone; those of the latest reports are suggested.',
    metadata: 'An object of your own; the service gives it back. Its id, if you name one, must be new.',
    images: 'JPEG, PNG, WebP, HEIC and the like; together at most 10 MiB.',
    camera: 'Each photo is added to the images.',
  },
  choose: 'Choose …',
  notSaid: 'Not said',
  plateTypes: {
    PRIVATE: 'Private',
    PUBLIC_TRANSPORTATION: 'Public transport',
    PRIVATE_TRANSPORTATION: 'Private transport',
    PUBLIC_MINIBUS: 'Public minibus',
    PRIVATE_MINIBUS: 'Private minibus',
    TAXI: 'Taxi',
    Heavy_Equipment: 'Heavy equipment',
    EXPORT: 'Export',
    DIPLOMATIC: 'Diplomatic',
    MOTORCYCLE: 'Motorcycle',
  },
  camera: 'Take a photo',
  chosen: 'Chosen images',
  remove: 'Remove',
  total: 'Images: {count} · {size} of {most}',
  tooLarge: 'Together the images have {size}; at most {most} are taken. Remove some before you send.',
  filesLost: 'Please choose the images again: what was chosen before is not kept.',
  submit: 'Report the violation',
  upload: {
    label: 'Sending',
    progress: '{percent} % · {sent} of {total}',
    sending: 'The violation is being sent.',
    sent: 'Everything is sent; waiting for the answer.',
    aborted: 'Sending was stopped and nothing was reported. What you entered is still here.',
    failed: 'The console could not be reached. What you entered is still here: try again.',
    uncertain:
      'Whether it was taken in is not certain. Send it again as it is: it is reported once, however often it is sent.',
    signedOut: 'You are signed out. Sign in again in another tab, then send this form again: it is still here.',
    renewed: 'The form was from before you signed in again. Nothing is lost: please send it once more.',
    abort: 'Stop sending',
  },
};

const ar: Words = {
  title: 'الإبلاغ عن مخالفة',
  intro: 'تُرسل إلى الخدمة كما تُدخلها. كل ما لم يُذكر أنه اختياري مطلوب.',
  guide:
    'تُبلّغ هذه اللوحة بنموذج الدليل: لا يُرسل إلا رقم اللوحة ونوعها والمنطقة ونوع المخالفة. يبقى ما عدا ذلك هنا، والصور كذلك.',
  groups: {
    vehicle: 'المركبة',
    place: 'المكان والوقت',
    person: 'المبلِّغ',
    images: 'الصور',
    metadata: 'بيانات إضافية',
  },
  fields: {
    date: 'وقت رؤيتها (بتوقيت الرياض)',
    latitude: 'خط العرض',
    longitude: 'خط الطول',
    location: 'وصف المكان',
    plateNumber: 'رقم اللوحة',
    plateType: 'نوع اللوحة',
    zoneId: 'المنطقة',
    imagesDescription: 'ما تُظهره الصور',
    violationType: 'نوع المخالفة',
    isSaudi: 'اللوحة سعودية؟',
    metadata: 'بيانات إضافية (JSON)',
    fullName: 'الاسم الكامل',
    identityNumber: 'رقم الهوية',
    mobileNumber: 'رقم الجوال',
    supervisorFullName: 'المشرف: الاسم الكامل',
    supervisorIdentityNumber: 'المشرف: رقم الهوية',
    supervisorMobileNumber: 'المشرف: رقم الجوال',
    images: 'اختيار صور',
  },
  hints: {
    plateNumber: 'بأي من الخطين، مثل أ\u00a0ب\u00a0ح\u00a0١٢٣٤ أو \u2066ABJ\u00a01234\u2069.',
    zoneId: 'معرّف المنطقة (UUID)، وتُقترح مناطق آخر البلاغات.',
    metadata: 'كائن JSON خاص بك تعيده الخدمة. إن ذكرت فيه id فيجب أن يكون جديدًا.',
    images: 'صور JPEG أو PNG أو WebP أو HEIC وأمثالها، ومجموعها 10 MiB على الأكثر.',
    camera: 'تُضاف كل صورة إلى الصور.',
  },
  choose: 'اختر …',
  notSaid: 'غير مذكور',
  plateTypes: {
    PRIVATE: 'خصوصي',
    PUBLIC_TRANSPORTATION: 'نقل عام',
    PRIVATE_TRANSPORTATION: 'نقل خاص',
    PUBLIC_MINIBUS: 'حافلة صغيرة عامة',
    PRIVATE_MINIBUS: 'حافلة صغيرة خاصة',
    TAXI: 'أجرة',
    Heavy_Equipment: 'معدات ثقيلة',
    EXPORT: 'تصدير',
    DIPLOMATIC: 'دبلوماسي',
    MOTORCYCLE: 'دراجة نارية',
  },
  camera: 'التقاط صورة',
  chosen: 'الصور المختارة',
  remove: 'إزالة',
  total: 'الصور: {count} · {size} من {most}',
  tooLarge: 'مجموع الصور {size}، والمقبول {most} على الأكثر. أزل بعضها قبل الإرسال.',
  filesLost: 'يُرجى اختيار الصور مرة أخرى: ما اختير من قبل لم يُحفظ.',
  submit: 'أبلغ عن المخالفة',
  upload: {
    label: 'الإرسال',
    progress: '{percent} % · {sent} من {total}',
    sending: 'تُرسل المخالفة الآن.',
    sent: 'أُرسل كل شيء وننتظر الرد.',
    aborted: 'أُوقف الإرسال ولم يُبلَّغ عن شيء. ما أدخلته باقٍ هنا.',
    failed: 'تعذّر الوصول إلى اللوحة. ما أدخلته باقٍ هنا: حاول مرة أخرى.',
    uncertain: 'ليس مؤكدًا أنها استُلمت. أرسلها كما هي مرة أخرى: يُبلَّغ عنها مرة واحدة مهما أُرسلت.',
    signedOut: 'سُجّل خروجك. سجّل الدخول في علامة تبويب أخرى ثم أرسل هذا النموذج مرة أخرى: ما زال هنا.',
    renewed: 'كان النموذج من قبل تسجيل دخولك من جديد. لم يُفقد شيء: أرسله مرة أخرى.',
    abort: 'أوقف الإرسال',
  },
};

export const violationForm = { en, ar };
