/** Questions to the service: free slots of a zone, an active ticket. */
const en = {
  title: 'Look up',
  intro:
    'These questions go to the service right now; an answer may be a moment old when somebody just asked the same.',
  notConfigured: 'This console has no access to the service',
  notConfiguredHint: 'Nothing can be asked before it has its address and its credentials:',
  capacity: {
    title: 'Free slots of a zone',
    submit: 'Ask for free slots',
    slots: 'Free slots',
  },
  ticket: {
    title: 'Active ticket',
    submit: 'Ask for a ticket',
    active: 'The vehicle has an active ticket',
    none: 'The vehicle has no active ticket',
    mayNot: (role: string) => `To ask for a ticket needs the role ${role}.`,
  },
  zone: 'Zone',
  zoneHint: 'Its UUID.',
  answer: 'Answer',
  checkedAt: 'As of',
  refused: 'The service takes exception to the question',
  itsWords: 'In its words:',
  notAnswered: 'There is no answer now',
  problems: {
    budget_spent: 'The calls that may be made to the service this minute are used up.',
    service_connection_lost: 'The service gives no access token, or its address is wrong.',
    service_forbids: 'The service does not allow this operator to ask that.',
    service_unavailable: 'The service could not be reached, or failed.',
    answer_broken: 'The service answered something that cannot be understood.',
    service_not_configured: 'This console has no access to the service.',
  },
  again: 'Worth asking again in',
};

const ar: typeof en = {
  title: 'استعلام',
  intro: 'تذهب هذه الأسئلة إلى الخدمة في الحال، وقد يكون الجواب قديمًا بلحظات إن سأل أحد السؤال نفسه للتو.',
  notConfigured: 'لا تستطيع هذه اللوحة الوصول إلى الخدمة',
  notConfiguredHint: 'لا يمكن السؤال عن شيء قبل أن يكون لها عنوان الخدمة وبيانات الدخول:',
  capacity: {
    title: 'المواقف الشاغرة في منطقة',
    submit: 'اسأل عن الشاغر',
    slots: 'المواقف الشاغرة',
  },
  ticket: {
    title: 'تذكرة سارية',
    submit: 'اسأل عن تذكرة',
    active: 'للمركبة تذكرة سارية',
    none: 'ليس للمركبة تذكرة سارية',
    mayNot: (role) => `السؤال عن تذكرة يتطلب دور ${role}.`,
  },
  zone: 'المنطقة',
  zoneHint: 'معرّفها (UUID).',
  answer: 'الجواب',
  checkedAt: 'كما في',
  refused: 'تعترض الخدمة على السؤال',
  itsWords: 'بكلماتها:',
  notAnswered: 'لا يوجد جواب الآن',
  problems: {
    budget_spent: 'استُنفدت طلبات هذه الدقيقة إلى الخدمة.',
    service_connection_lost: 'لا تعطي الخدمة رمز دخول، أو أن عنوانها خاطئ.',
    service_forbids: 'لا تسمح الخدمة لهذا المشغّل بهذا السؤال.',
    service_unavailable: 'تعذّر الوصول إلى الخدمة، أو أنها تعطلت.',
    answer_broken: 'ردت الخدمة بما لا يُفهم.',
    service_not_configured: 'لا تستطيع هذه اللوحة الوصول إلى الخدمة.',
  },
  again: 'يجدر السؤال مرة أخرى بعد',
};

export const lookups = { en, ar };
