import type { Child } from 'hono/jsx';
import { IntlMessageFormat } from 'intl-messageformat';
import ar from './ar.json';
import type { MessageArguments } from './arguments';
import en from './en.json';

/**
 * All texts of the console: one catalogue per language (`en.json`, `ar.json`), in ICU MessageFormat. A text without
 * arguments is a string, one with arguments a function: `messages.tow.title({ reference })`. `rich` takes elements as
 * arguments, for a sentence with a time or a link in it: `messages.towFacts.notBefore.rich({ time: <Timestamp … /> })`.
 */

export const LANGUAGES = ['en', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

type Catalogue = typeof en;
export type Messages = Bound<Catalogue, ''>;

/** The catalogue with a function in place of each message that has arguments. */
type Bound<Group, Path extends string> = {
  readonly [Key in keyof Group]: Group[Key] extends string
    ? `${Path}${Key & string}` extends keyof MessageArguments
      ? Message<MessageArguments[`${Path}${Key & string}`]>
      : string
    : Bound<Group[Key], `${Path}${Key & string}.`>;
};

/** A message with arguments. */
interface Message<V> {
  (values: Readonly<V>): string;
  /** The message with elements in place of some arguments. The translator chooses their places. */
  rich(values: { readonly [Name in keyof V]: V[Name] | Child }): Child;
}

/** The values of the arguments of a message, by name. */
type MessageValues = Readonly<Record<string, string | number>>;

/** The catalogue as it is stored. The type check fails when a language lacks a message of English. */
const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, ar };

/** Digits are western in both languages, so that they match references and plates. */
const LOCALES: Readonly<Record<Language, string>> = { en: 'en', ar: 'ar-SA-u-nu-latn' };

export function messagesIn(language: Language): Messages {
  return MESSAGES[language];
}

/** Formats one of several messages of which some have no arguments. */
export function formatted<V extends MessageValues>(message: string | ((values: V) => string), values: V): string {
  return typeof message === 'string' ? message : message(values);
}

/** The value of a group under a key from outside, such as the message of a code; null when there is none. */
export function valueUnder<T>(group: Readonly<Record<string, T>>, key: string): T | null {
  return Object.hasOwn(group, key) ? (group[key] ?? null) : null;
}

const MESSAGES: Readonly<Record<Language, Messages>> = { en: messagesOf('en'), ar: messagesOf('ar') };

/** Parses a message at its first use and keeps it, since most processes never show most messages. */
function messagesOf(language: Language): Messages {
  const locale = LOCALES[language];
  const numbers = new Intl.NumberFormat(locale);
  const plurals = new Intl.PluralRules(locale);
  // By default each message makes these on its own, which takes longer than the formatting itself.
  const formatters = {
    getNumberFormat: () => numbers,
    getPluralRules: () => plurals,
    getDateTimeFormat: (...args: ConstructorParameters<typeof Intl.DateTimeFormat>) => new Intl.DateTimeFormat(...args),
  };
  const message = (text: string) => {
    let parsed: IntlMessageFormat | undefined;
    const parse = () => (parsed ??= new IntlMessageFormat(text, locale, undefined, { formatters }));
    return Object.assign((values: MessageValues) => [parse().format<string>(values)].flat().join(''), {
      rich: (values: Readonly<Record<string, string | number | Child>>) => parse().format<Child>({ ...values }),
    });
  };
  const bound = (group: MessageGroup): unknown =>
    Object.fromEntries(
      Object.entries(group).map(([key, each]) => {
        if (typeof each !== 'string') return [key, bound(each)];
        return [key, each.includes('{') ? message(each) : each];
      }),
    );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The arguments are generated from the catalogue.
  return bound(CATALOGUES[language]) as Messages;
}

/** Messages by key; a group of messages is an object. */
export interface MessageGroup {
  readonly [key: string]: string | MessageGroup;
}

/**
 * Rules of fields, by their English text in the API. The catalogue has each of them under a name of its own, in English
 * as the API writes it.
 */

type RuleName = keyof Messages['rules'];

/** Rules of the API that the console words for people. */
const REWORDED: readonly (readonly [pattern: RegExp, name: RuleName])[] = [
  [/^must be of type number$/, 'number'],
  [/^must be of type string$/, 'text'],
  [/^must be of type boolean$/, 'yes_or_no'],
  [/^is required \(.+\)$/, 'required'],
  [/^must be at most (?<limit>\d+ bytes) in all$/, 'at_most_bytes'],
  [/^is cut off or damaged: /, 'image_damaged'],
];

/** The longest first, since `must be at most {limit}` also matches a text with `characters` behind the limit. */
const PATTERNS: readonly (readonly [pattern: RegExp, name: RuleName])[] = Object.keys(en.rules)
  .filter(isRuleName)
  .toSorted((a, b) => en.rules[b].length - en.rules[a].length)
  .map((name) => [patternOf(en.rules[name]), name]);

/**
 * A rule as the API writes it, in the language of the messages; null for one that the catalogue lacks. `shown` formats
 * its limit or values, `fieldsShown` the API names of fields in it.
 */
export function ruleText(
  { rules }: Messages,
  rule: string,
  shown: (limit: string) => string = (limit) => limit,
  fieldsShown: (names: readonly string[]) => string = (names) => names.join(', '),
): string | null {
  for (const [pattern, name] of [...REWORDED, ...PATTERNS]) {
    const match = pattern.exec(rule);
    if (!match) continue;
    const { limit = '', values = '', fields = '' } = match.groups ?? {};
    return formatted(rules[name], {
      limit: shown(limit),
      values: shown(values),
      fields: fieldsShown(fields.split(', ')),
    });
  }
  return null;
}

function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(en.rules, name);
}

/** What matches a message: `{limit}` matches any text, under that name. */
function patternOf(message: string): RegExp {
  const parts = message.split(/\{(\w+)\}/);
  const source = parts.map((part, index) =>
    index % 2 === 0 ? part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&') : `(?<${part}>.+)`,
  );
  return new RegExp(`^${source.join('')}$`);
}
