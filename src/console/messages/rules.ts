import en from './en.json';
import { formatted, type Messages } from './index';

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
