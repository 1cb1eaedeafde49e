import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import * as keys from '../../src/store/keys';
import { readDocuments, anchorsIn, citationsIn, linksIn, type Citation } from './documents';
import { readSources } from './sources';
import { PROJECT } from '../support/project';
import { loadConfig } from '../../src/platform/config/config';
import { COMMAND_LINE_VARIABLES, VARIABLE_GROUPS, VARIABLES } from '../../src/platform/config/variables';
import { RUN_STATES } from '../../src/contracts/ops/runs';
import { TRANSITIONS } from '../../src/domain/tow/tow';
import { DELIVERY_STATES, REPORT_STATES, TOW_STATES, VIOLATION_STATES } from '../../src/domain/vocabulary';
import { diagramUnder } from './diagrams';
import { reportTransitions, violationTransitions } from './entry-walk';
import { circuitTransitions, deliveryTransitions } from './record-walks';

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

const grouped = Object.values(VARIABLE_GROUPS).flatMap((group) => Object.keys(group));

test('every environment variable is in exactly one section of the documentation', () => {
  const all = new Set([...Object.keys(VARIABLES.shape), ...Object.keys(COMMAND_LINE_VARIABLES.shape)]);
  expect(grouped.toSorted()).toEqual([...all].toSorted());
});

test('every environment variable has a description that ends with a full stop', () => {
  const described = Object.values(VARIABLE_GROUPS).flatMap((group) => Object.entries(group));
  expect(described.filter(([, { description = '' }]) => !/^[A-Z0-9`].*\.$/.test(description))).toEqual([]);
});

test('an empty environment is a valid configuration', () => {
  expect(() => loadConfig({})).not.toThrow();
});

/** Null when the link leads to an existing file and heading, else a sentence about what is missing. */
function fault({ from, path, anchor }: Citation): string | null {
  const file = join(PROJECT, path);
  if (!existsSync(file)) return `${from}: there is no ${path}`;
  if (anchor === null || !path.endsWith('.md')) return null;
  const anchors = anchorsIn(readFileSync(file, 'utf8'));
  return anchors.includes(anchor) ? null : `${from}: ${path} has no #${anchor}, but ${anchors.join(', ')}`;
}

test('every link in the documentation leads to an existing file and heading', () => {
  const links = documents.flatMap(linksIn);
  expect(links.length).toBeGreaterThan(50);
  expect(links.map(fault).filter((found) => found !== null)).toEqual([]);
});

test('every document that code cites exists and has the cited heading', () => {
  const sources = readSources(['src', 'jobs', 'bench', 'tools', 'test'], ['.ts', '.tsx', '.lua', '.js', '.cjs']);
  const citations = sources.filter(({ path }) => !path.startsWith('test/architecture/')).flatMap(citationsIn);
  expect(citations.length).toBeGreaterThan(50);
  expect(citations.map(fault).filter((found) => found !== null)).toEqual([]);
});

test('anchors are those that GitHub makes of headings', () => {
  const text = '# A `code` & more\n## [Link](x.md)\n```sh\n# no heading\n```\n### A_b: c, d\n### A_b: c, d\n';
  expect(anchorsIn(text)).toEqual(['a-code--more', 'link', 'a_b-c-d', 'a_b-c-d-1']);
});

test('citations are found with one heading, with two, and with none', () => {
  const text = '/** docs/a.md#one-two and #three. */ // see docs/b/c.md, "D"';
  expect(citationsIn({ path: 'x.ts', text })).toEqual([
    { from: 'x.ts', path: 'docs/a.md', anchor: 'one-two' },
    { from: 'x.ts', path: 'docs/a.md', anchor: 'three' },
    { from: 'x.ts', path: 'docs/b/c.md', anchor: null },
  ]);
});

/** The first argument of a log call, and the name of work that repeats, whose failure is logged as `<name>.failed`. */
const NAMES = /\b(?:log\w*\.(?:debug|info|warn|error)\(|repeat\(\{\s*name: )['`]([^'`]+)['`]/gi;
const names = readSources(['src', 'jobs'], ['.ts', '.tsx']).flatMap(({ text }) =>
  [...text.matchAll(NAMES)].map(([, name = '']) => name),
);

test('the names of log lines are single words with dots, so that a search finds them', () => {
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !/^(?:[a-z_]+|\$\{[\w.]+\})(?:\.(?:[a-z_]+|\$\{[\w.]+\}))*$/.test(name))).toEqual([]);
});

/** Enough that every transition is met many times. */
const RUNS = 4000;

/** Transitions of a diagram without those from and to `[*]`. */
const between = (heading: string) => diagramUnder(heading).filter((transition) => !transition.includes('[*]'));
/** The states of a diagram. */
const statesIn = (heading: string) =>
  diagramUnder(heading)
    .flatMap((transition) => transition.split(' > '))
    .filter((name) => name !== '[*]');

test('the diagram of a tow has the transitions of the table in the code', () => {
  const table = Object.entries(TRANSITIONS).flatMap(([from, events]) => events.map((to) => `${from} > ${to}`));
  expect(between('Tow')).toEqual(table.toSorted());
});

test.each([
  ['Report', () => reportTransitions(RUNS)],
  ['Violation', () => violationTransitions(RUNS)],
  ['Delivery', deliveryTransitions],
  ['Circuit', circuitTransitions],
])('the diagram "%s" has exactly the transitions that the rules make in random runs', (heading, transitions) => {
  expect(between(heading)).toEqual(transitions());
});

test.each([
  ['Tow', TOW_STATES],
  ['Report', REPORT_STATES],
  ['Violation', VIOLATION_STATES],
  ['Delivery', DELIVERY_STATES],
  ['Run', RUN_STATES],
])('the diagram "%s" has exactly the states of the code', (heading, states) => {
  expect(new Set(statesIn(heading))).toEqual(new Set(states));
});
