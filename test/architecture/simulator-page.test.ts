import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  CALL_FAULTS,
  SIMULATED_OPERATIONS,
  STATUS_FAULTS,
  WEBHOOK_FAULTS,
  faultRules,
} from '../../src/simulator/answer/faults';
import { DOCUMENT_PROFILE, ODD_PROFILE, serviceProfile } from '../../src/simulator/profile';
import { PROJECT } from '../support/project';

const page = readFileSync(join(PROJECT, 'docs/simulator.md'), 'utf8');

/** The text below a heading, up to the next heading of any level. */
function section(heading: string): string {
  const [, text = ''] = page.split(new RegExp(`^#+ ${heading}$`, 'm'));
  return text.split(/^#+ /m)[0] ?? '';
}

/** The cells of the rows that begin with a name as code. */
function rowsIn(text: string): string[][] {
  return [...text.matchAll(/^\| `.*\|$/gm)].map(([row]) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** An option as its row shows it: name, value of the document, other values, meaning. */
function optionRow([name, option]: [string, z.ZodDefault]): string[] {
  const { innerType, defaultValue } = option.def;
  const values: readonly unknown[] =
    innerType instanceof z.ZodEnum ? innerType.options : innerType instanceof z.ZodBoolean ? [true, false] : [];
  const others = values.filter((value) => value !== defaultValue).map((value) => `\`${JSON.stringify(value)}\``);
  return [`\`${name}\``, `\`${JSON.stringify(defaultValue)}\``, others.join(', '), option.description ?? ''];
}

test('docs/simulator.md lists every option of a profile with its values and meaning', () => {
  const [, text = ''] = page.split(/^## Profiles$/m);
  const listed = rowsIn(text.split(/^## Faults$/m)[0] ?? '');
  expect(listed.length).toBeGreaterThan(30);
  expect(listed).toEqual(Object.entries(serviceProfile.shape).map(optionRow));
});

test('every option has another value in the profile odd, unless it breaks calls or contracts', () => {
  const names = Object.entries(ODD_PROFILE).filter(
    ([name, value]) =>
      JSON.stringify(value) === JSON.stringify(Object.entries(DOCUMENT_PROFILE).find(([other]) => other === name)?.[1]),
  );
  expect(names.map(([name]) => name)).toEqual([
    'faults',
    'images_total_bytes_max',
    'images_count_max',
    'webhook_fields_missing',
    'webhook_headers',
  ]);
});

test('docs/simulator.md lists every fault with what it does', () => {
  const rows = (faults: Readonly<Record<string, string>>) =>
    Object.entries(faults).map(([name, what]) => [`\`${name}\``, what]);
  expect(rowsIn(section('Faults of calls'))).toEqual(rows(CALL_FAULTS));
  expect(rowsIn(section('Faults of webhooks'))).toEqual(rows(WEBHOOK_FAULTS));
  const [, statuses = ''] = /They are ([^.]*)\./.exec(section('Faults of calls')) ?? [];
  expect(statuses.match(/\d+/g)).toEqual(Object.keys(STATUS_FAULTS));
});

test('docs/simulator.md lists every field of a fault and every operation', () => {
  expect(rowsIn(section('Faults')).map(([name]) => name)).toEqual(
    Object.keys(faultRules.element.shape).map((name) => `\`${name}\``),
  );
  const [, operations = ''] = /^Operations: ([^.]*)\./m.exec(section('Faults')) ?? [];
  expect(operations.match(/\w+/g)).toEqual(SIMULATED_OPERATIONS);
});

test('docs/simulator.md lists every control call', () => {
  const source = readFileSync(join(PROJECT, 'src/simulator/control.ts'), 'utf8');
  const routes = [...source.matchAll(/router\.(get|put|post|delete)\('([^']+)'/g)].map(
    ([, method = '', path = '']) => `${method.toUpperCase()} /simulator${path.replace(/:\w+/, '<reference>')}`,
  );
  const listed = rowsIn(section('Control calls')).map(([call = '']) => call.replaceAll('`', ''));
  expect(listed.toSorted()).toEqual(routes.toSorted());
});
