import type { BulkAction, BulkOutcome, BulkState } from '../../contracts/bulk';
import { counting } from './plural';

/** Deciding on many tasks at once. */
interface BulkWords {
  readonly title: string;
  readonly runTitle: (action: string, count: number) => string;
  readonly several: string;
  /** `#` is replaced by the number. */
  readonly chosen: string;
  readonly choose: (what: string) => string;
  readonly chooseAll: string;
  readonly which: string;
  readonly scopes: {
    readonly ticked: string;
    readonly page: (count: number) => string;
    readonly filter: (count: number) => string;
  };
  readonly scopeHint: string;
  readonly action: string;
  readonly actions: Readonly<Record<BulkAction, string>>;
  readonly reason: string;
  readonly reasonHint: string;
  readonly preview: string;
  readonly previewHint: string;
  readonly nothingYet: string;
  readonly possible: (count: number) => string;
  readonly impossible: (count: number) => string;
  readonly none: string;
  readonly keptUntil: string;
  readonly start: (count: number) => string;
  readonly backToTasks: string;
  readonly abort: string;
  readonly abortHint: string;
  readonly resume: string;
  readonly look: string;
  readonly onlyWho: (name: string) => string;
  readonly progress: string;
  readonly of: (done: number, total: number) => string;
  readonly by: string;
  readonly runBy: string;
  readonly previewedAt: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly states: Readonly<Record<BulkState, string>>;
  readonly said: Readonly<Record<BulkState, string>>;
  readonly outcomes: Readonly<Record<BulkOutcome, string>>;
  /** While nothing has been decided yet. */
  readonly canBe: string;
  readonly cannotBe: string;
  readonly mayHaveRun: string;
  readonly results: string;
  readonly all: string;
  readonly items: string;
  readonly showAll: (count: number) => string;
  readonly noItems: string;
  readonly recent: string;
  readonly recentHint: string;
  readonly noRuns: { readonly title: string; readonly hint: string };
  readonly missing: { readonly title: string; readonly hint: string };
}

const enTasks = counting('en')({ one: '# task', other: '# tasks' });

const en: BulkWords = {
  title: 'Bulk decisions',
  runTitle: (action, count) => `${action}: ${enTasks(count)}`,
  several: 'Decide on several at once',
  chosen: '# chosen',
  choose: (what) => `Choose: ${what}`,
  chooseAll: 'Choose all on this page',
  which: 'Which tasks',
  scopes: {
    ticked: 'Those ticked in the list',
    page: counting('en')({ one: 'The one on this page', other: 'All # on this page' }),
    filter: counting('en')({ one: 'The one that fits the filter', other: 'All # that fit the filter' }),
  },
  scopeHint: 'Everything that fits can only be chosen with a filter.',
  action: 'Decision',
  actions: { retry: 'Send again', waive: 'Waive', accept: 'Accept by hand', resolve: 'Close' },
  reason: 'Reason',
  reasonHint: 'Needed to waive or accept. It goes into the record of each task.',
  preview: 'Preview',
  previewHint: 'Shows each task first. Nothing is done by it.',
  nothingYet: 'Nothing has been done yet. Exactly these tasks are decided once you start, and no others.',
  possible: counting('en')({ one: '# task can be decided so', other: '# tasks can be decided so' }),
  impossible: counting('en')({ one: '# cannot', other: '# cannot' }),
  none: 'None of these tasks can be decided so.',
  keptUntil: 'This preview is kept until',
  start: counting('en')({ one: 'Start: decide on # task', other: 'Start: decide on # tasks' }),
  backToTasks: 'Back to the tasks',
  abort: 'Abort',
  abortHint: 'Tasks that have not begun are skipped.',
  resume: 'Go on',
  look: 'Look again',
  onlyWho: (name) => `Only ${name}, or a person with the role ops, may start it.`,
  progress: 'Progress',
  of: (done, total) => `${done} of ${enTasks(total)}`,
  by: 'Chosen by',
  runBy: 'Decided by',
  previewedAt: 'Previewed',
  startedAt: 'Started',
  endedAt: 'Ended',
  states: { previewed: 'Preview', running: 'Running', interrupted: 'Interrupted', done: 'Done', aborted: 'Aborted' },
  said: {
    previewed: 'A preview.',
    running: 'It is running.',
    interrupted:
      'It was interrupted: the API key of the person who started it was revoked. Decisions already made remain; the rest waits.',
    done: 'It is done. Every task has its result.',
    aborted: 'It was aborted. What had been decided stays decided; the rest was skipped.',
  },
  outcomes: {
    waiting: 'Waiting',
    done: 'Decided',
    refused: 'Not possible',
    gone: 'No longer asked',
    skipped: 'Skipped',
  },
  canBe: 'Can be decided so',
  cannotBe: 'Not possible',
  mayHaveRun: 'perhaps decided already',
  results: 'Results',
  all: 'All',
  items: 'Tasks of this run',
  showAll: (count) => `Show all ${count}`,
  noItems: 'None with this result.',
  recent: 'Recent bulk decisions',
  recentHint: 'A run is kept for a day, a preview for an hour.',
  noRuns: { title: 'No bulk decisions lately', hint: 'Tick tasks in the list and choose a decision for all of them.' },
  missing: { title: 'There is no such run', hint: 'A preview is kept for an hour, a run for a day.' },
};

const arTasks = counting('ar')({
  zero: 'لا مهام',
  one: 'مهمة واحدة',
  two: 'مهمتان',
  few: '# مهام',
  many: '# مهمة',
  other: '# مهمة',
});

const ar: BulkWords = {
  title: 'القرارات المجمّعة',
  runTitle: (action, count) => `${action}: ${arTasks(count)}`,
  several: 'قرار واحد لعدة مهام',
  chosen: 'المختار: #',
  choose: (what) => `اختيار: ${what}`,
  chooseAll: 'اختيار كل ما في هذه الصفحة',
  which: 'أي المهام',
  scopes: {
    ticked: 'المؤشَّر عليها في القائمة',
    page: counting('ar')({
      one: 'المهمة التي في هذه الصفحة',
      two: 'المهمتان في هذه الصفحة',
      few: 'كل ما في هذه الصفحة (#)',
      many: 'كل ما في هذه الصفحة (#)',
      other: 'كل ما في هذه الصفحة (#)',
    }),
    filter: counting('ar')({
      one: 'المهمة المطابقة للتصفية',
      two: 'المهمتان المطابقتان للتصفية',
      few: 'كل ما يطابق التصفية (#)',
      many: 'كل ما يطابق التصفية (#)',
      other: 'كل ما يطابق التصفية (#)',
    }),
  },
  scopeHint: 'لا يمكن اختيار كل المطابق إلا مع تصفية.',
  action: 'القرار',
  actions: { retry: 'إعادة الإرسال', waive: 'تنازل', accept: 'قبول يدوي', resolve: 'إغلاق' },
  reason: 'السبب',
  reasonHint: 'مطلوب للتنازل أو القبول، ويُحفظ في سجل كل مهمة.',
  preview: 'معاينة',
  previewHint: 'تعرض كل مهمة أولًا ولا تنفّذ شيئًا.',
  nothingYet: 'لم يُنفّذ شيء بعد. عند البدء يُقرَّر في هذه المهام بعينها دون غيرها.',
  possible: counting('ar')({
    zero: 'لا مهمة يمكن فيها هذا القرار',
    one: 'مهمة واحدة يمكن فيها هذا القرار',
    two: 'مهمتان يمكن فيهما هذا القرار',
    few: '# مهام يمكن فيها هذا القرار',
    many: '# مهمة يمكن فيها هذا القرار',
    other: '# مهمة يمكن فيها هذا القرار',
  }),
  impossible: counting('ar')({ one: 'واحدة لا يمكن', two: 'اثنتان لا يمكن', other: '# لا يمكن' }),
  none: 'لا يمكن هذا القرار في أي من هذه المهام.',
  keptUntil: 'تُحفظ هذه المعاينة حتى',
  start: counting('ar')({
    one: 'ابدأ: مهمة واحدة',
    two: 'ابدأ: مهمتان',
    few: 'ابدأ: # مهام',
    many: 'ابدأ: # مهمة',
    other: 'ابدأ: # مهمة',
  }),
  backToTasks: 'العودة إلى المهام',
  abort: 'إيقاف نهائي',
  abortHint: 'المهام التي لم يبدأ تنفيذها تُتخطى.',
  resume: 'متابعة',
  look: 'انظر مرة أخرى',
  onlyWho: (name) => `لا يشغّلها إلا ${name} أو من له دور مشغّل.`,
  progress: 'التقدم',
  of: (done, total) => `${done} من ${arTasks(total)}`,
  by: 'اختارها',
  runBy: 'قرّر فيها',
  previewedAt: 'وقت المعاينة',
  startedAt: 'بدأت',
  endedAt: 'انتهت',
  states: { previewed: 'معاينة', running: 'قيد التنفيذ', interrupted: 'انقطعت', done: 'اكتملت', aborted: 'أُوقفت' },
  said: {
    previewed: 'هذه معاينة.',
    running: 'التنفيذ جارٍ.',
    interrupted: 'انقطع التنفيذ: أُلغي مفتاح API لمن شغّلها. ما قُرّر فيه باقٍ، وما بقي ينتظر.',
    done: 'اكتمل التنفيذ. لكل مهمة نتيجتها.',
    aborted: 'أُوقف التنفيذ. ما قُرّر فيه باقٍ، وتُخطّي ما عداه.',
  },
  outcomes: { waiting: 'في الانتظار', done: 'قُرّر فيها', refused: 'غير ممكن', gone: 'لم تعد مطروحة', skipped: 'تُخطّيت' },
  canBe: 'ممكن',
  cannotBe: 'غير ممكن',
  mayHaveRun: 'ربما قُرّر فيها',
  results: 'النتائج',
  all: 'الكل',
  items: 'مهام هذا التنفيذ',
  showAll: (count) => `عرض الكل (${count})`,
  noItems: 'لا شيء بهذه النتيجة.',
  recent: 'أحدث القرارات المجمّعة',
  recentHint: 'يُحفظ التنفيذ يومًا والمعاينة ساعة.',
  noRuns: { title: 'لا قرارات مجمّعة مؤخرًا', hint: 'أشّر على مهام في القائمة واختر قرارًا واحدًا لها جميعًا.' },
  missing: { title: 'لا يوجد تنفيذ كهذا', hint: 'تُحفظ المعاينة ساعة والتنفيذ يومًا.' },
};

export const bulk = { en, ar };
