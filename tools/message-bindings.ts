import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';

/** Messages by key; a group of messages is an object. */
export interface MessageGroup {
  readonly [key: string]: string | MessageGroup;
}

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

/** The TypeScript file, not yet formatted, that gives each message with arguments a typed function. */
export function messageBindings(english: MessageGroup): string {
  return `// Written by \`npm run generate\` from en.json. Do not edit.
    import type { Child } from 'hono/jsx';
    import type en from './en.json';

    export type Catalogue = typeof en;

    /** A message with arguments. */
    export interface Message<V> {
      (values: V): string;
      /** The message with elements in place of some arguments. The translator chooses their places. */
      rich(values: { readonly [Name in keyof V]: V[Name] | Child }): Child;
    }

    /** Makes the function that formats a message with the values of its arguments. */
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- V names the arguments of the message.
    type Bind = <V extends Readonly<Record<string, string | number>>>(text: string) => Message<V>;

    /** The catalogue with a function in place of each message that has arguments. */
    export function bindMessages(catalogue: Catalogue, bind: Bind) {
      return ${bound(english, 'catalogue')};
    }
`;
}

/** The expression for a group; a group without arguments is taken as it is. */
function bound(group: MessageGroup, path: string): string {
  const changed = Object.entries(group).flatMap(([key, value]) => {
    const child = /^[a-z_]\w*$/i.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    const expression = typeof value === 'string' ? boundMessage(value, child) : bound(value, child);
    return expression === child ? [] : [`${JSON.stringify(key)}: ${expression},`];
  });
  return changed.length === 0 ? path : `{ ...${path}, ${changed.join('\n')} }`;
}

function boundMessage(message: string, path: string): string {
  const fields = [...argumentsOf(message)].map(([name, type]) => `readonly ${name}: ${type}`);
  return fields.length === 0 ? path : `bind<{ ${fields.join('; ')} }>(${path})`;
}
