import type { BeatingRole } from '../../contracts/figures';
import type { Backlog } from '../../domain/figures';
import type { PausableOperation } from '../../domain/vocabulary';
import { counting } from './plural';

/** What is wrong, in one sentence each, and what to do about it. */
interface Sentence {
  readonly title: string;
  readonly todo: string;
}

const enWork: Readonly<Record<Backlog, string>> = {
  deliveries: 'deliveries',
  reports: 'reports',
  violations: 'violations',
  bulk: 'bulk decisions',
};
const enOperations: Readonly<Record<PausableOperation, string>> = {
  started: 'started',
  detained: 'detained',
  canceled: 'canceled',
  released: 'released',
  invoice: 'invoice',
  payment: 'payment',
  violation: 'violation',
};
const enRoles: Readonly<Record<BeatingRole, string>> = {
  receiver: 'receiver',
  worker: 'worker',
  console: 'console',
  all: 'towhook process',
};
const enRecords = counting('en')({ one: '# record is', other: '# records are' });
const enJobs = counting('en')({ one: '# job has', other: '# jobs have' });

const en = {
  well: 'All is well.',
  wellHint: 'Nothing holds sending, nothing is lost, nothing that goes by itself is late.',
  more: counting('en')({ one: 'And one more', other: 'And # more' }),
  todo: 'What to do:',
  since: 'since',
  see: 'See',
  nextTry: 'next try in',
  severities: { bad: 'Wrong', wait: 'Look' },
  work: enWork,
  operations: enOperations,
  connection: {
    title: 'towhook cannot sign in to the service, or something answers in its place: nothing is sent.',
    todo: 'Check SERVICE_BASE_URL, SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET of the workers, and whether a page or a proxy answers in its place. Sending goes on by itself once it works.',
  },
  outage: {
    title: 'The service fails call after call: all sending waits.',
    todo: 'Ask the service whether it is down. One call at a time tries again; sending goes on by itself once it answers.',
  },
  failing: (failures: number): Sentence => ({
    title: `The service fails: ${failures} times in a row.`,
    todo: 'It is tried on by itself. If it does not stop, ask the service; what it says stands with each tow.',
  }),
  attemptsFail: (failed: number, made: number): Sentence => ({
    title: `Most of what is sent fails: ${failed} of ${made} tries within five minutes.`,
    todo: 'Look at the tasks and at what the service says there.',
  }),
  people: counting('en')({ one: '# task waits for a person.', other: '# tasks wait for people.' }),
  paused: (operation: PausableOperation): Sentence => ({
    title: `The service forbids “${enOperations[operation]}”: these reports wait.`,
    todo: 'Ask the service for the permission, then resume the operation below.',
  }),
  lost: (count: number): Sentence => ({
    title: `${enRecords(count)} lost: acknowledged, and in no state at all.`,
    todo: 'Look at the names below, at the log lines “conservation.lost” and at Redis: was it restored, or did it evict?',
  }),
  recordsMissing: {
    title: 'Redis has no records of the images in DATA_DIR: it was emptied or not restored, or it is another Redis.',
    todo: 'Load the backup of Redis or correct REDIS_URL; until then no image is moved. If the records are gone for good: towhook doctor --adopt-disk.',
  },
  walkOld: {
    title: 'Nobody has checked for a while that nothing is lost.',
    todo: 'The workers check it all the time: look whether one lives, and at its log.',
  },
  nobody: (role: 'worker' | 'receiver'): Sentence =>
    role === 'worker'
      ? { title: 'No worker lives: nothing is processed and nothing is sent.', todo: 'Start one: npm start -- worker.' }
      : {
          title: 'No receiver lives: the calls of the service are not answered.',
          todo: 'Start one: npm start -- receiver. The service sends again what it got no answer to.',
        },
  silent: (role: BeatingRole, host: string): Sentence => ({
    title: `The ${enRoles[role]} on ${host} is silent.`,
    todo: 'Look whether its process still runs, and whether it reaches Redis. Start it again if need be; nothing is lost meanwhile.',
  }),
  standsStill: (queue: Backlog, host: string): Sentence => ({
    title: `The worker on ${host} stands still: ${enWork[queue]} wait and it takes none.`,
    todo: 'It starts anew by itself within minutes. If it does not, restart its process.',
  }),
  unready: (role: BeatingRole, host: string, checks: string): Sentence => ({
    title: `The ${enRoles[role]} on ${host} is not ready: ${checks}.`,
    todo: 'Look at /readyz of that process and at its log. “spool” means DATA_DIR: is the disk full, or not the one the others use?',
  }),
  queuePaused: (queue: Backlog): Sentence => ({
    title: `The queue of ${enWork[queue]} is paused by hand.`,
    todo: 'Resume it below when what it was paused for is over. Nothing is lost meanwhile.',
  }),
  backlogOld: (queue: Backlog): Sentence => ({
    title: `Work is late: ${enWork[queue]} have been due for too long.`,
    todo: 'Look at the workers below: is one alive, and are there enough? Start more if the backlog keeps growing.',
  }),
  failedJobs: (queue: Backlog, count: number): Sentence => ({
    title: `${enJobs(count)} failed in the queue of ${enWork[queue]}, which never happens in normal life.`,
    todo: 'Read the error on the pages of the jobs. The record itself is scheduled and comes up again.',
  }),
  archive_failing: {
    title: 'The archive cannot be written: what is finished stays in Redis.',
    todo: 'Look at the disk of DATA_DIR. The task names the error; it closes by itself.',
  },
  delivery_failing: {
    title: 'A delivery fails whenever it is processed.',
    todo: 'Its task names it; the log says why. It is tried on by itself.',
  },
};

/** A Latin name within Arabic: its parts keep their order. */
const apart = (name: string) => `\u2068${name}\u2069`;

const arWork: typeof enWork = {
  deliveries: 'التسليمات',
  reports: 'التقارير',
  violations: 'المخالفات',
  bulk: 'القرارات المجمّعة',
};
const arOperations: typeof enOperations = {
  started: 'بدء السحب',
  detained: 'الحجز',
  canceled: 'الإلغاء',
  released: 'الإفراج',
  invoice: 'الفاتورة',
  payment: 'الدفع',
  violation: 'المخالفة',
};
const arRoles: typeof enRoles = {
  receiver: 'المستقبِل',
  worker: 'العامل',
  console: 'لوحة التحكم',
  all: 'towhook',
};

const ar: typeof en = {
  well: 'كل شيء على ما يرام.',
  wellHint: 'لا شيء يوقف الإرسال، ولا شيء مفقود، ولا تأخر فيما يجري تلقائيًا.',
  more: counting('ar')({
    one: 'وأمر آخر',
    two: 'وأمران آخران',
    few: 'و# أمور أخرى',
    many: 'و# أمرًا آخر',
    other: 'و# أمر آخر',
  }),
  todo: 'ما العمل:',
  since: 'منذ',
  see: 'انظر',
  nextTry: 'المحاولة التالية بعد',
  severities: { bad: 'مشكلة', wait: 'للنظر' },
  work: arWork,
  operations: arOperations,
  connection: {
    title: 'لا يستطيع towhook الدخول إلى الخدمة، أو يرد غيرها بدلًا منها، ولا يُرسل شيء.',
    todo: 'راجع SERVICE_BASE_URL و SERVICE_CLIENT_ID و SERVICE_CLIENT_SECRET عند العمال، وتحقق هل ترد صفحة أو وسيط بدل الخدمة. يُستأنف الإرسال تلقائيًا متى نجح.',
  },
  outage: {
    title: 'الخدمة تتعطل مع كل طلب، وكل الإرسال ينتظر.',
    todo: 'اسأل الخدمة هل هي متوقفة. يُجرَّب طلب واحد كل مرة، ويُستأنف الإرسال تلقائيًا عندما ترد.',
  },
  failing: (failures) => ({
    title: `الخدمة تفشل، وعدد مرات الفشل المتتالية: ${failures}.`,
    todo: 'تُعاد المحاولة تلقائيًا. إن استمر الفشل فاسأل الخدمة؛ ما تقوله مذكور مع كل سحب.',
  }),
  attemptsFail: (failed, made) => ({
    title: `معظم ما يُرسَل يفشل: ${failed} من ${made} محاولة خلال خمس دقائق.`,
    todo: 'راجع المهام وما تقوله الخدمة فيها.',
  }),
  people: counting('ar')({
    one: 'مهمة واحدة تنتظر قرار شخص.',
    two: 'مهمتان تنتظران قرار شخص.',
    few: '# مهام تنتظر قرار شخص.',
    many: '# مهمة تنتظر قرار شخص.',
    other: '# مهمة تنتظر قرار شخص.',
  }),
  paused: (operation) => ({
    title: `الخدمة تمنع عملية «${arOperations[operation]}»، وتقاريرها تنتظر.`,
    todo: 'اطلب الصلاحية من الخدمة، ثم استأنف العملية أدناه.',
  }),
  lost: (count) => ({
    title: `سجلات مفقودة: ${count}. أُقرّ باستلامها وليست في أي حالة.`,
    todo: 'راجع الأسماء أدناه، وأسطر السجل conservation.lost، و Redis: هل استُعيد من نسخة قديمة أو حذف بيانات؟',
  }),
  recordsMissing: {
    title: 'لا يحتوي Redis على سجلات الصور الموجودة في DATA_DIR: أُفرغ، أو لم يُستعَد، أو هو Redis آخر.',
    todo: 'استعد النسخة الاحتياطية لـ Redis أو صحح REDIS_URL، ولا تُنقل أي صورة حتى ذلك الحين. إن فُقدت السجلات نهائيًا: towhook doctor --adopt-disk',
  },
  walkOld: {
    title: 'لم يتحقق أحد منذ مدة من أن لا شيء مفقود.',
    todo: 'العمال يتحققون من ذلك باستمرار: راجع هل يعمل أحدهم، وراجع سجله.',
  },
  nobody: (role) =>
    role === 'worker'
      ? { title: 'لا يعمل أي عامل: لا شيء يُعالَج ولا شيء يُرسَل.', todo: 'شغّل واحدًا: npm start -- worker' }
      : {
          title: 'لا يعمل أي مستقبِل: لا أحد يرد على نداءات الخدمة.',
          todo: 'شغّل واحدًا: npm start -- receiver وستعيد الخدمة إرسال ما لم يصلها رد عليه.',
        },
  silent: (role, host) => ({
    title: `${arRoles[role]} على ${apart(host)} صامت.`,
    todo: 'راجع هل ما زال برنامجه يعمل وهل يصل إلى Redis، وأعد تشغيله عند الحاجة. لا يضيع شيء في هذه الأثناء.',
  }),
  standsStill: (queue, host) => ({
    title: `العامل على ${apart(host)} متوقف: ${arWork[queue]} تنتظر ولا يأخذ منها شيئًا.`,
    todo: 'يبدأ من جديد تلقائيًا خلال دقائق. إن لم يفعل فأعد تشغيله.',
  }),
  unready: (role, host, checks) => ({
    title: `${arRoles[role]} على ${apart(host)} غير جاهز: ${apart(checks)}.`,
    todo: 'راجع صفحة readyz لذلك البرنامج وسجله. تعني spool المجلد DATA_DIR: هل امتلأ القرص، أو ليس هو قرص بقية البرامج؟',
  }),
  queuePaused: (queue) => ({
    title: `طابور ${arWork[queue]} موقوف يدويًا.`,
    todo: 'استأنفه أدناه عندما ينتهي سبب إيقافه. لا يضيع شيء في هذه الأثناء.',
  }),
  backlogOld: (queue) => ({
    title: `العمل متأخر: ${arWork[queue]} مستحقة منذ مدة طويلة.`,
    todo: 'راجع العمال أدناه: هل يعمل أحدهم، وهل عددهم كافٍ؟ شغّل المزيد إن ظل التراكم ينمو.',
  }),
  failedJobs: (queue, count) => ({
    title: `أعمال فشلت في طابور ${arWork[queue]}: ${count}، وهذا لا يحدث في الحال المعتاد.`,
    todo: 'اقرأ الخطأ في صفحات الأعمال. السجل نفسه يعود في موعده.',
  }),
  archive_failing: {
    title: 'تتعذر الكتابة في الأرشيف، ويبقى المنتهي في Redis.',
    todo: 'راجع قرص DATA_DIR. المهمة تذكر الخطأ، وتُغلق تلقائيًا.',
  },
  delivery_failing: {
    title: 'تسليم يفشل كلما عولج.',
    todo: 'مهمته تذكر أيّ تسليم هو، والسجل يذكر السبب. تُعاد محاولته تلقائيًا.',
  },
};

export const opsAlarms = { en, ar };
