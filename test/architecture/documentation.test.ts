import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as keys from '../../src/store/keys';
import { readDocuments } from './documents';
import { readSources } from './sources';
import { PROJECT } from '../support/project';

const documents = readDocuments();
/** Written by programs: a benchmark, the screenshots, the help of the command line. */
const GENERATED = ['docs/performance.md', 'docs/console.md', 'docs/cli.md'];
/** Tables of files that are wider. */
const UNWRAPPED = [
  'bench/README.md',
  'docs/contributing/how-to-add.md',
  'docs/operations/metrics.md',
  'docs/simulator.md',
  'docs/open-questions.md',
];

test('the README has at most 150 lines', () => {
  expect(readFileSync(join(PROJECT, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(150);
});

test('no line of a written document is longer than 120 characters', () => {
  const long = documents
    .filter(({ path }) => !GENERATED.includes(path) && !UNWRAPPED.includes(path))
    .flatMap(({ path, text }) => text.split('\n').map((line, index) => ({ line, at: `${path}:${index + 1}` })))
    .filter(({ line }) => line.length > 120);
  expect(long.map(({ at }) => at)).toEqual([]);
});

test('every source file that the documentation names exists', () => {
  const files = readSources(['src', 'jobs', 'test', 'tools', 'bench'], ['.ts', '.tsx', '.lua', '.cjs']);
  const named = documents
    .filter(({ path }) => path.startsWith('docs/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/`([\w/.-]+\.(?:tsx?|lua|cjs))`/g)].map(([, file = '']) => ({ path, file })),
    );
  const exists = (file: string) => files.some(({ path }) => path === file || path.endsWith(`/${file}`));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ file }) => !exists(file)).map(({ path, file }) => `${path}: there is no ${file}`)).toEqual([]);
});

test('every function, field and type that the pages for contributors quote exists', () => {
  const folders = ['src', 'jobs', 'test', 'tools', 'bench'];
  const code = readSources(folders, ['.ts', '.tsx', '.lua', '.js', '.cjs', '.json']);
  const known = new Set(code.flatMap(({ text }) => text.match(/\w+/g) ?? []));
  const pages = ['docs/architecture.md', 'docs/failure-policy.md', 'docs/state-machines.md'];
  const quoted = documents
    // A decision names what was considered, too.
    .filter(({ path }) => pages.includes(path) || /^docs\/contributing\/[\w-]+\.md$/.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/`([A-Za-z]*[a-z][A-Z]\w*)`/g)].map(([, name = '']) => ({ path, name })),
    );
  expect(quoted.length).toBeGreaterThan(20);
  expect(quoted.filter(({ name }) => !known.has(name)).map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
});

test('the Redis data model describes every key that the store builds', () => {
  const page = readFileSync(join(PROJECT, 'docs/redis-data-model.md'), 'utf8');
  const described = [...page.matchAll(/`([a-z][\w:<>.,[\] -]*)`/g)].map(([, name = '']) =>
    name.replace(/[:.[]?<.*$/, ''),
  );
  const built = Object.values(keys).flatMap((value) => {
    if (typeof value === 'function') return [value('<name>')];
    return typeof value === 'string' ? [value] : Object.values(value);
  });
  const names = built
    .filter((name) => name.startsWith(`${keys.PARTITION}:`))
    .map((name) => name.slice(keys.PARTITION.length + 1).replace(/[:.]?<name>.*$/, ''));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !described.includes(name))).toEqual([]);
});

test('every metric that the documentation names exists', () => {
  const code = readSources(['src'], ['.ts']).map(({ text }) => text);
  const named = documents.flatMap(({ text }) => [...text.matchAll(/\btowhook_[a-z_]+/g)].map(([name]) => name));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !code.some((text) => text.includes(`'${name}'`)))).toEqual([]);
});
