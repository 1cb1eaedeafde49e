import { readSources } from './sources';

/** The first argument of a log call, and the name of work that repeats, whose failure is logged as `<name>.failed`. */
const NAMES = /\b(?:log\w*\.(?:debug|info|warn|error)\(|repeat\(\{\s*name: )['`]([^'`]+)['`]/gi;
const names = readSources(['src', 'jobs'], ['.ts', '.tsx']).flatMap(({ text }) =>
  [...text.matchAll(NAMES)].map(([, name = '']) => name),
);

test('the names of log lines are single words with dots, so that a search finds them', () => {
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !/^(?:[a-z_]+|\$\{[\w.]+\})(?:\.(?:[a-z_]+|\$\{[\w.]+\}))*$/.test(name))).toEqual([]);
});
