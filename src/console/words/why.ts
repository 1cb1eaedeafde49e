import type { PausableOperation, ReportKind, TowState } from '../../domain/vocabulary';
import type { ReleaseBlocker } from '../../domain/release-checklist';
import type { TransitionEvent } from '../../domain/tow';
import { counting } from './plural';

/**
 * Why something waits, in one sentence: `main` begins it, what the service said follows in brackets, then the moment it
 * goes on at (`until`), then a full stop.
 */
interface Why {
  readonly label: string;
  readonly over: Readonly<Record<Extract<TowState, 'released' | 'canceled'> | 'other' | 'violation', string>>;
  readonly people: (facts: readonly TransitionEvent[]) => string;
  /** What others than the reader may say. */
  readonly others: (facts: readonly TransitionEvent[], role: string) => string;
  /** Why the vehicle cannot be released yet. */
  readonly blockers: Readonly<Record<ReleaseBlocker, string>>;
  readonly peopleTasks: (count: number) => string;
  /** What goes on by itself or needs a decision, of a report by its kind, or of a violation. */
  readonly report: (kind: ReportKind) => CallWords;
  readonly violation: CallWords;
  readonly behind: (kind: ReportKind, head: ReportKind) => string;
  readonly held: string;
  readonly ticket: string;
  readonly images: string;
  readonly until: Readonly<Record<'next_try' | 'proof' | 'again', string>>;
  readonly mayHaveWorked: string;
  readonly decideHere: string;
  readonly now: string;
  readonly separator: string;
}

interface CallWords {
  readonly on_its_way: string;
  readonly turn: string;
  readonly first_try: string;
  readonly next_try: (attempts: number) => string;
  readonly proof: string;
  readonly connection: string;
  readonly outage: string;
  readonly budget: string;
  readonly paused: (operation: PausableOperation) => string;
  readonly refused: string;
  readonly given_up: string;
  readonly unknown: string;
}

const enFacts: Readonly<Record<PausableOperation, string>> = {
  started: 'started',
  detained: 'detained',
  canceled: 'canceled',
  released: 'released',
  invoice: 'invoice',
  payment: 'payment',
  violation: 'violation',
};
const enTries = counting('en')({ one: '# try', other: '# tries' });

const enCall = (it: string): CallWords => ({
  on_its_way: `${it} is being sent right now`,
  turn: `${it} is next in line: a worker takes it as soon as one is free`,
  first_try: `${it} has not been sent yet`,
  next_try: (attempts) => `${it} has not got through after ${enTries(attempts)}`,
  proof: `${it} was sent and no answer came: proof that it worked is awaited`,
  connection: `${it} waits because towhook cannot sign in to the service; all sending goes on by itself once it can`,
  outage: `${it} waits because the service fails call after call; all sending goes on by itself once it answers`,
  budget: `${it} waits for a free place among the calls allowed per minute`,
  paused: (operation) => `${it} waits because the service forbids the operation “${enFacts[operation]}”`,
  refused: `The service refused ${small(it)} and a person must decide`,
  given_up: `${it} kept failing for too long and a person must decide`,
  unknown: `${it} was sent, nobody knows whether it worked, and a person must decide`,
});

const small = (it: string) => `${it.charAt(0).toLowerCase()}${it.slice(1)}`;

const en: Why = {
  label: 'Why it waits',
  over: {
    released: 'Nothing waits: the vehicle is released and the service knows everything',
    canceled: 'Nothing waits: the tow is canceled and the service knows everything',
    other: 'Nothing waits',
    violation: 'Nothing waits: this violation is settled',
  },
  people: (facts) =>
    facts.length === 0
      ? 'The service knows everything; what is left is for people'
      : `The service knows everything so far; people say what happens next (${facts.map((fact) => enFacts[fact]).join(' or ')})`,
  others: (facts, role) =>
    `The service knows everything so far; what happens next (${facts.map((fact) => enFacts[fact]).join(' or ')}) is for the role ${role} to say`,
  blockers: {
    no_open_hold: 'on hold: no release before the hold is lifted',
    invoice_requested: 'the invoice is missing before the release',
    payment_recorded: 'payment is missing before the release',
  },
  peopleTasks: (count) => (count === 1 ? 'one task is open' : `${count} tasks are open`),
  report: (kind) => enCall(`The report “${enFacts[kind]}”`),
  violation: enCall('The violation'),
  behind: (kind, head) => `The report “${enFacts[kind]}” waits behind “${enFacts[head]}”: reports leave in their order`,
  held: 'The violation is held back until a person decides whether to send it',
  ticket: 'The violation waits: nobody could say yet whether the vehicle has an active ticket',
  images: 'The violation waits for a worker that can read its images',
  until: { next_try: 'next try in', proof: 'at most another', again: 'asked again in' },
  mayHaveWorked: 'an earlier try got no answer and may have worked',
  decideHere: 'Decide',
  now: 'now',
  separator: '; ',
};

const arFacts: Readonly<Record<PausableOperation, string>> = {
  started: 'بدء السحب',
  detained: 'الحجز',
  canceled: 'الإلغاء',
  released: 'الإفراج',
  invoice: 'الفاتورة',
  payment: 'الدفع',
  violation: 'المخالفة',
};
const arTries = counting('ar')({
  zero: 'أي محاولة',
  one: 'محاولة واحدة',
  two: 'محاولتين',
  few: '# محاولات',
  many: '# محاولة',
  other: '# محاولة',
});

/** A report is masculine in Arabic, a violation feminine. */
const arCall = (it: string, isFeminine: boolean): CallWords => {
  const f = <T extends string>(masculine: T, feminine: T) => (isFeminine ? feminine : masculine);
  const waits = f('ينتظر', 'تنتظر');
  return {
    on_its_way: `${it} قيد الإرسال الآن`,
    turn: `${it} ${f('هو التالي', 'هي التالية')} في الدور، ${f('يأخذه', 'يأخذها')} أول عامل متفرغ`,
    first_try: `${it} ${f('لم يُرسل', 'لم تُرسل')} بعد`,
    next_try: (attempts) => `${it} ${f('لم يصل', 'لم تصل')} بعد ${arTries(attempts)}`,
    proof: `${it} ${f('أُرسل', 'أُرسلت')} ولم يصل رد، وننتظر ما يثبت ${f('نجاحه', 'نجاحها')}`,
    connection: `${it} ${waits} لأن towhook لا يستطيع الدخول إلى الخدمة، ويُستأنف الإرسال تلقائيًا عند نجاح الدخول`,
    outage: `${it} ${waits} لأن الخدمة تتعطل مع كل طلب، ويُستأنف الإرسال تلقائيًا عندما ترد`,
    budget: `${it} ${waits} دورًا ضمن عدد الطلبات المسموح به في الدقيقة`,
    paused: (operation) => `${it} ${waits} لأن الخدمة تمنع عملية «${arFacts[operation]}»`,
    refused: `رفضت الخدمة ${it}، ويجب أن يقرر شخص`,
    given_up: `${it} ${f('تعثّر', 'تعثّرت')} مدة أطول من المسموح، ويجب أن يقرر شخص`,
    unknown: `${it} ${f('أُرسل', 'أُرسلت')} ولا أحد يعلم هل ${f('نجح', 'نجحت')}، ويجب أن يقرر شخص`,
  };
};

const ar: Why = {
  label: 'سبب الانتظار',
  over: {
    released: 'لا شيء ينتظر: أُفرج عن المركبة والخدمة على علم بكل شيء',
    canceled: 'لا شيء ينتظر: أُلغي السحب والخدمة على علم بكل شيء',
    other: 'لا شيء ينتظر',
    violation: 'لا شيء ينتظر: حُسم أمر هذه المخالفة',
  },
  people: (facts) =>
    facts.length === 0
      ? 'الخدمة على علم بكل شيء، وما بقي قرار الفريق'
      : `الخدمة على علم بكل شيء حتى الآن، وننتظر من الفريق الخطوة التالية (${facts.map((fact) => arFacts[fact]).join(' أو ')})`,
  others: (facts, role) =>
    `الخدمة على علم بكل شيء حتى الآن، والخطوة التالية (${facts.map((fact) => arFacts[fact]).join(' أو ')}) يسجّلها دور ${role}`,
  blockers: {
    no_open_hold: 'والسحب موقوف: لا إفراج قبل رفع الإيقاف',
    invoice_requested: 'والفاتورة ناقصة قبل الإفراج',
    payment_recorded: 'والدفع ناقص قبل الإفراج',
  },
  peopleTasks: counting('ar')({
    one: 'وهناك مهمة مفتوحة',
    two: 'وهناك مهمتان مفتوحتان',
    few: 'وهناك # مهام مفتوحة',
    many: 'وهناك # مهمة مفتوحة',
    other: 'وهناك # مهمة مفتوحة',
  }),
  report: (kind) => arCall(`تقرير «${arFacts[kind]}»`, false),
  violation: arCall('المخالفة', true),
  behind: (kind, head) => `تقرير «${arFacts[kind]}» ينتظر خلف «${arFacts[head]}»: التقارير تخرج بترتيبها`,
  held: 'المخالفة محجوزة عن الإرسال حتى يقرر شخص',
  ticket: 'المخالفة تنتظر: لم يُعرف بعد هل للمركبة تذكرة سارية',
  images: 'المخالفة تنتظر عاملًا يستطيع قراءة صورها',
  until: { next_try: 'المحاولة التالية بعد', proof: 'مدة أقصاها', again: 'يُسأل مرة أخرى بعد' },
  mayHaveWorked: 'محاولة سابقة لم يصل ردها وربما نجحت',
  decideHere: 'اتخاذ القرار',
  now: 'الآن',
  separator: '؛ ',
};

export const why = { en, ar };
