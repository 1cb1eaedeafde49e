import type { Option } from 'commander';
import { bodyFields, type FactContract } from '../contracts/facts';
import { numberOption, option, optionNamed, timestampOption, type Invocation } from './command';

/** Options for the fields of a body, so that a command has the fields of its route. */

type BodyContract = FactContract['body'];

/** One option per field. `meaningOf` adds to the description of a field. */
export function bodyOptions(body: BodyContract, meaningOf: (field: string) => string = () => ''): Option[] {
  return bodyFields(body).map(({ name, kind, description }) => {
    const meaning = [meaningOf(name), description].filter(Boolean).join(': ');
    switch (kind) {
      case 'number':
        return numberOption(`${optionNamed(name)} <number>`, meaning);
      case 'timestamp':
        return timestampOption(`${optionNamed(name)} <time>`, meaning);
      case 'text':
        return option(`${optionNamed(name)} <text>`, meaning);
    }
  });
}

/** What was entered for the fields of a body; undefined where nothing was. */
export function bodyValues(body: BodyContract, call: Invocation): Record<string, string | number | undefined> {
  return Object.fromEntries(
    bodyFields(body).map(({ name, kind }) => {
      const key = name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
      return [name, kind === 'number' ? call.number(key) : call.text(key)];
    }),
  );
}
