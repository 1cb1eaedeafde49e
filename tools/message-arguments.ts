import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import type { MessageGroup } from '../src/console/messages';

/** The arguments of a message in ICU MessageFormat with their TypeScript types. */
export function argumentsOf(message: string): ReadonlyMap<string, 'string' | 'number'> {
  const found = new Map<string, 'string' | 'number'>();
  collect(parse(message), found);
  return found;
}

function collect(elements: readonly MessageFormatElement[], found: Map<string, 'string' | 'number'>): void {
  for (const element of elements) {
    switch (element.type) {
      case TYPE.literal:
      case TYPE.pound:
        break;
      case TYPE.argument:
        if (!found.has(element.value)) found.set(element.value, 'string');
        break;
      case TYPE.number:
        if (element.style) throw new Error(`A number with a style is not supported: ${element.value}`);
        found.set(element.value, 'number');
        break;
      case TYPE.plural:
        if (element.pluralType !== 'cardinal') throw new Error(`Ordinals are not supported: ${element.value}`);
        found.set(element.value, 'number');
        for (const { value } of Object.values(element.options)) collect(value, found);
        break;
      case TYPE.select:
        if (!found.has(element.value)) found.set(element.value, 'string');
        for (const { value } of Object.values(element.options)) collect(value, found);
        break;
      case TYPE.date:
      case TYPE.time:
      case TYPE.tag:
        throw new Error('Dates, times and tags are not supported: format them in TypeScript and pass the text');
    }
  }
}

/** The TypeScript file, not yet formatted, with the arguments of each message that has any. */
export function messageArguments(english: MessageGroup): string {
  return `// Written by \`npm run generate\` from en.json. Do not edit.

    /** The arguments of each message that has any, by its path in the catalogue. */
    export interface MessageArguments {
      ${argumentLines(english, '').join('\n')}
    }
`;
}

function argumentLines(group: MessageGroup, path: string): string[] {
  return Object.entries(group).flatMap(([key, value]) => {
    if (typeof value !== 'string') return argumentLines(value, `${path}${key}.`);
    const fields = [...argumentsOf(value)].map(([name, type]) => `${name}: ${type}`);
    return fields.length === 0 ? [] : [`'${path}${key}': { ${fields.join('; ')} };`];
  });
}
