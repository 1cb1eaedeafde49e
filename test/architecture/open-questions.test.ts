import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '../../src/platform/config/variables';
import { anchorsIn } from './documents';
import { readSources, type Source } from './sources';
import { PROJECT } from '../support/project';

const interfacePage = readFileSync(join(PROJECT, 'docs/service-api.md'), 'utf8');
const questionsPage = readFileSync(join(PROJECT, 'docs/open-questions.md'), 'utf8');

/** Where a question is decided. */
interface QuestionDecision {
  readonly number: number;
  readonly path: string;
}

/** A row of docs/open-questions.md, with the section of docs/service-api.md that it links to. */
interface QuestionRow extends QuestionDecision {
  readonly anchor: string;
  readonly notShown: string;
  readonly settings: readonly string[];
}

/** Every comment in the code that decides an open question. */
function decisionsInCode(sources: readonly Source[]): QuestionDecision[] {
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(/Open question Q(\d+):/g)].map(([, number]) => ({ number: Number(number), path })),
  );
}

/** The text of each section of a page, without those below it, by its heading. */
function sectionsOf(page: string): { heading: string; text: string }[] {
  return page
    .split(/^#+ /m)
    .slice(1)
    .map((text) => ({ heading: text.split('\n')[0] ?? '', text: text.split('\n').slice(1).join('\n') }));
}

/** The statements in the lists "Not shown" of docs/service-api.md. */
function notShownIn(page: string): { anchor: string; notShown: string }[] {
  return sectionsOf(page).flatMap(({ heading, text }) => {
    const [, list = ''] = /^Not shown:\n\n((?:- .+\n(?: {2}.+\n)*)+)/m.exec(text) ?? [];
    const items = list.split(/^- /m).slice(1);
    const anchor = anchorsIn(`# ${heading}`)[0] ?? '';
    return items.map((item) => ({ anchor, notShown: item.trim().replaceAll(/\s+/g, ' ') }));
  });
}

function rowsIn(page: string): QuestionRow[] {
  return [...page.matchAll(/^\| Q(\d+) .*$/gm)].map(([row, number]) => {
    const [, , section = '', notShown = '', , setting = '', decided = ''] = row.split('|').map((cell) => cell.trim());
    const [, anchor = ''] = /\(service-api\.md#([\w-]+)\)/.exec(section) ?? [];
    const settings = [...setting.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
    return { number: Number(number), anchor, notShown, settings, path: decided.replaceAll('`', '') };
  });
}

const ascending = (decisions: readonly QuestionDecision[]) =>
  decisions.map(({ number, path }) => ({ number, path })).toSorted((a, b) => a.number - b.number);

const rows = rowsIn(questionsPage);

test('docs/open-questions.md lists every open question that the code decides, once, with its file', () => {
  const decided = decisionsInCode(readSources(['src', 'jobs'], ['.ts', '.lua']));
  expect(decided.length).toBeGreaterThan(25);
  expect(ascending(rows)).toEqual(ascending(decided));
});

test('docs/open-questions.md has exactly what docs/service-api.md does not show, section by section', () => {
  const notShown = notShownIn(interfacePage);
  expect(notShown.length).toBeGreaterThan(25);
  expect(rows.map(({ anchor, notShown: statement }) => ({ anchor, notShown: statement }))).toEqual(notShown);
});

test('docs/service-api.md says "not shown" in the lists of its sections alone', () => {
  const lists = interfacePage.match(/^Not shown:$/gm) ?? [];
  const mentions = interfacePage.match(/not shown/gi) ?? [];
  // The introduction explains the lists.
  expect(mentions.length).toBe(lists.length + 1);
  expect(new Set(notShownIn(interfacePage).map(({ anchor }) => anchor)).size).toBe(lists.length);
});

test('every setting of docs/open-questions.md is a variable', () => {
  const names = rows.flatMap(({ settings }) => settings);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !Object.hasOwn(VARIABLES.shape, name))).toEqual([]);
});

test('the search for open questions finds tags in every kind of comment', () => {
  const text = '// Open question Q7: which?\n * Open question Q12: when?\n-- Open question Q3: why?';
  expect(decisionsInCode([{ path: 'a.ts', text }]).map(({ number }) => number)).toEqual([7, 12, 3]);
});

test('the search for what is not shown reads the items of a list over several lines', () => {
  const page = '# A\n\n## B b\n\nText.\n\nNot shown:\n\n- one\n- two\n  lines\n\n- other\n\n## C\n';
  expect(notShownIn(page)).toEqual([
    { anchor: 'b-b', notShown: 'one' },
    { anchor: 'b-b', notShown: 'two lines' },
  ]);
});
