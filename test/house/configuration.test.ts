import { readFileSync } from 'node:fs';
import { loadConfig } from '../../src/platform/config';
import { COMMAND_LINE_VARIABLES, VARIABLES } from '../../src/platform/variables';

const ALL = { ...COMMAND_LINE_VARIABLES.shape, ...VARIABLES.shape };

/** The rows of the README's configuration table: variables and what it says of their defaults. */
const ROWS = [...readFileSync('README.md', 'utf8').matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) +\| ([^|]*)\|/gm)].map(
  ([, variables = '', defaults = '']) => ({ variables: quoted(variables), defaults: quoted(defaults) }),
);

function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

test('the README lists exactly the variables of the configuration', () => {
  expect(ROWS.flatMap(({ variables }) => variables).toSorted()).toEqual(Object.keys(ALL).toSorted());
});

test('the README shows the defaults of the configuration', () => {
  const defaults = VARIABLES.parse({});
  const shown: Record<string, unknown> = defaults;
  const compared = ROWS.flatMap(({ variables, defaults: words }) =>
    words.length === variables.length ? variables.map((variable, index) => [variable, words[index]] as const) : [],
  ).filter(([, word]) => word !== undefined && !/^[A-Z_]+$/.test(word));

  for (const [variable, word] of compared) expect(`${variable} ${String(shown[variable])}`).toBe(`${variable} ${word}`);
  expect(compared.length).toBeGreaterThan(20);
});

test('an empty environment is a valid configuration', () => {
  expect(() => loadConfig({})).not.toThrow();
});
