import type { CrewStep } from '../../domain/dispatch';
import { counting } from './plural';

/** What the operator keeps of a tow for itself. */
interface TowDispatch {
  readonly local: string;
  readonly crew: Readonly<
    Record<'title' | 'crew' | 'truck' | 'assign' | 'reassign' | 'takeBack' | 'takenBackHint' | 'nobody', string>
  >;
  readonly steps: Readonly<Record<'title' | 'none' | 'record', string>>;
  readonly stepNames: Readonly<Record<CrewStep, string>>;
  readonly yard: Readonly<Record<'title' | 'yard' | 'slot' | 'set' | 'move' | 'none', string>>;
  readonly holds: Readonly<
    Record<'title' | 'none' | 'place' | 'reason' | 'hint' | 'lift' | 'liftReason' | 'open' | 'lifted', string>
  >;
  readonly notes: Readonly<Record<'title' | 'none' | 'add' | 'text', string>>;
  readonly photos: Readonly<Record<'title' | 'none' | 'add' | 'choose' | 'hint' | 'send', string>> & {
    readonly count: (count: number) => string;
    readonly alt: (name: string) => string;
  };
  readonly link: Readonly<Record<'title' | 'id' | 'hint' | 'link', string>>;
}

const en: TowDispatch = {
  local: 'Kept here; nothing of it is told to the service.',
  crew: {
    title: 'Crew and truck',
    crew: 'Crew',
    truck: 'Truck',
    assign: 'Assign',
    reassign: 'Assign to another crew',
    takeBack: 'Take back',
    takenBackHint: 'Nobody is assigned then.',
    nobody: 'Nobody is assigned.',
  },
  steps: { title: 'On the way', none: 'No step yet.', record: 'Tell the next step' },
  stepNames: { accepted: 'Accepted', en_route: 'On the way', on_scene: 'On the scene', hooked: 'Hooked up' },
  yard: {
    title: 'Yard',
    yard: 'Yard',
    slot: 'Slot',
    set: 'Note the place',
    move: 'Note another place',
    none: 'Not in a yard.',
  },
  holds: {
    title: 'Holds',
    none: 'No hold.',
    place: 'Place a hold',
    reason: 'Reason',
    hint: 'Blocks payment and release until it is lifted.',
    lift: 'Lift this hold',
    liftReason: 'Why it is lifted',
    open: 'open',
    lifted: 'lifted',
  },
  notes: { title: 'Notes', none: 'No notes.', add: 'Add a note', text: 'Note' },
  photos: {
    title: 'Photos',
    none: 'No photos yet.',
    add: 'Add photos',
    choose: 'Photos',
    hint: 'At most 10 MiB together. They stay here.',
    send: 'Upload',
    count: counting('en')({ one: '# photo', other: '# photos' }),
    alt: (name) => `Photo ${name}`,
  },
  link: {
    title: 'Our violation',
    id: 'Id of the violation',
    hint: 'Our id, or the id in its metadata. Plate and place then come from it.',
    link: 'Link by hand',
  },
};

const ar: TowDispatch = {
  local: 'يُحفظ هنا ولا تُبلَّغ الخدمة بشيء منه.',
  crew: {
    title: 'الطاقم والسطحة',
    crew: 'الطاقم',
    truck: 'السطحة',
    assign: 'تعيين',
    reassign: 'تعيين طاقم آخر',
    takeBack: 'سحب التعيين',
    takenBackHint: 'عندها لا يكون أحد معيّنًا.',
    nobody: 'لا أحد معيّن.',
  },
  steps: { title: 'في الطريق', none: 'لا خطوات بعد.', record: 'سجّل الخطوة التالية' },
  stepNames: { accepted: 'قُبلت المهمة', en_route: 'في الطريق', on_scene: 'في الموقع', hooked: 'رُفعت المركبة' },
  yard: {
    title: 'الساحة',
    yard: 'الساحة',
    slot: 'الموقف',
    set: 'تسجيل المكان',
    move: 'تسجيل مكان آخر',
    none: 'ليست في ساحة.',
  },
  holds: {
    title: 'الإيقافات',
    none: 'لا إيقاف.',
    place: 'إيقاف السحب',
    reason: 'السبب',
    hint: 'يمنع الدفع والإفراج حتى يُرفع.',
    lift: 'رفع هذا الإيقاف',
    liftReason: 'سبب الرفع',
    open: 'مفتوح',
    lifted: 'مرفوع',
  },
  notes: { title: 'الملاحظات', none: 'لا ملاحظات.', add: 'إضافة ملاحظة', text: 'الملاحظة' },
  photos: {
    title: 'الصور',
    none: 'لا صور بعد.',
    add: 'إضافة صور',
    choose: 'الصور',
    hint: 'بحد أقصى 10 ميغابايت معًا، وتبقى هنا.',
    send: 'رفع',
    count: counting('ar')({
      one: 'صورة واحدة',
      two: 'صورتان',
      few: '# صور',
      many: '# صورة',
      other: '# صورة',
    }),
    alt: (name) => `صورة ${name}`,
  },
  link: {
    title: 'مخالفتنا',
    id: 'معرّف المخالفة',
    hint: 'معرّفنا، أو المعرّف في بياناتها الوصفية. ومنها تؤخذ اللوحة والموقع.',
    link: 'ربط يدوي',
  },
};

export const towDispatch = { en, ar };
