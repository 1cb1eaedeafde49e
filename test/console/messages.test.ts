import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { LANGUAGES, messagesIn, type MessageGroup } from '../../src/console/messages';
import ar from '../../src/console/messages/ar.json';
import en from '../../src/console/messages/en.json';
import { argumentsOf } from '../../tools/message-arguments';

const SAME_IN_BOTH = [
  'common.product',
  'common.signedInAs',
  'deliveries.bodyKinds.json',
  'opsCharts.unknown',
  'webhooks.paths.tow_request',
  'webhooks.paths.tow_invoice',
  'tow.openMap',
  'violations.json',
];
const CATALOGUES = { en, ar };

/** Every message with its path, `board.waits.turn`. */
function messages(group: MessageGroup, path = ''): readonly (readonly [path: string, message: string])[] {
  return Object.entries(group).flatMap(([key, value]) =>
    typeof value === 'string' ? [[path + key, value] as const] : messages(value, `${path}${key}.`),
  );
}

/** The categories of every plural in a message. */
function pluralsOf(elements: readonly MessageFormatElement[]): readonly (readonly string[])[] {
  return elements.flatMap((element) => {
    if (element.type === TYPE.plural || element.type === TYPE.select) {
      const inner = Object.values(element.options).flatMap(({ value }) => pluralsOf(value));
      return element.type === TYPE.plural ? [Object.keys(element.options), ...inner] : inner;
    }
    return element.type === TYPE.tag ? pluralsOf(element.children) : [];
  });
}

const described = ([path, message]: readonly [string, string]) =>
  `${path} ${JSON.stringify([...argumentsOf(message)].toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;

test('every language has the same messages with the same arguments', () => {
  expect(messages(ar).map(described)).toEqual(messages(en).map(described));
});

test.each(LANGUAGES)('every plural in the catalogue "%s" has all categories of the language', (language) => {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  const incomplete = messages(CATALOGUES[language]).filter(([, message]) =>
    pluralsOf(parse(message)).some((categories) => pluralCategories.some((each) => !categories.includes(each))),
  );
  expect(incomplete).toEqual([]);
});

test.each(LANGUAGES)('messages without arguments in the catalogue "%s" need no escaping', (language) => {
  const escaped = messages(CATALOGUES[language]).filter(([, message]) => {
    const [first, ...others] = parse(message);
    const isPlain = first?.type === TYPE.literal && others.length === 0;
    return argumentsOf(message).size === 0 && !(isPlain && first.value === message);
  });
  expect(escaped).toEqual([]);
});

test('every message is translated into Arabic, except names, signs and formats', () => {
  const english = new Map(messages(en));
  const same = messages(ar).filter(([path, message]) => english.get(path) === message);
  expect(same.map(([path]) => path)).toEqual(SAME_IN_BOTH);
});

test('formats counts in English', () => {
  const { shown } = messagesIn('en').board;
  expect([0, 1, 1234].map((count) => shown({ count }))).toEqual(['0 tows shown', '1 tow shown', '1,234 tows shown']);
});

test('formats counts in all six Arabic forms, with western digits', () => {
  const { open } = messagesIn('ar').tasks;
  expect([0, 1, 2, 3, 11, 100].map((count) => open({ count }))).toEqual([
    'لا مهام مفتوحة',
    'مهمة مفتوحة واحدة',
    'مهمتان مفتوحتان',
    '3 مهام مفتوحة',
    '11 مهمة مفتوحة',
    '100 مهمة مفتوحة',
  ]);
});

test.each(LANGUAGES)('no step of a crew is named like an event or a state in the catalogue "%s"', (language) => {
  const { towDispatch, towFacts, timeline, terms } = CATALOGUES[language];
  const events = [towFacts.record, timeline.facts, terms.operations].flatMap((group) => Object.values(group));
  const states = messages({ states: terms.reportStates, towStates: terms.towStates }).map(([, text]) => text);
  for (const step of Object.values(towDispatch.stepNames)) {
    const word = step.toLowerCase();
    expect(events.filter((text) => text.toLowerCase().includes(word))).toEqual([]);
    expect(states.filter((text) => text.toLowerCase() === word)).toEqual([]);
  }
});
