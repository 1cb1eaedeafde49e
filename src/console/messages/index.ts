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
