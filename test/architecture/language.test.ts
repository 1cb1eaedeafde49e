import { readSources, type Source } from './sources';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/project';

/** Words of a private dialect, each with what to write instead; docs/contributing/language.md lists them for people. */
const BANNED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:whoever|whatever|whichever|somebody|nobody|anybody)\b/i, 'the person or thing that is meant'],
  [/\b(?:is|are|was|were|be|been|had|gets?) told\b|\btold\b/i, 'what is sent, shown or returned'],
  [/\bsays? (?:so|why|what|who)\b/i, 'shows, names, describes or returns, with what it shows'],
  [/\bstand(?:s|ing)? (?:for|by|in|at|on|still)\b/i, 'is, means, waits, stalls'],
  [/\b(?:for ever|all the same|anew|beforehand|goes without saying|is all one)\b/i, 'plain words, or nothing'],
];
/** At the start of a line, so that types inside functions count, and names in imports do not. */
const DECLARED_TYPE =
  /^[ \t]*(export )?(?:declare )?(?:abstract )?(?:(?:interface|class|enum) (\w+)|type (\w+)(?=<|\s*=))/gm;
/** Its types are also in the tool that writes it. */
const GENERATED = 'src/console/messages/arguments.ts';
/** The pages that name the banned words. */
const LISTS = ['docs/contributing/language.md', 'test/architecture/language.test.ts'];

const code = readSources(['src', 'jobs', 'test', 'bench', 'tools'], ['.ts', '.tsx', '.lua', '.js', '.cjs', '.css']);
const documents = [...readSources(['docs', 'bench'], ['.md']), fileAt('README.md'), fileAt('CHANGELOG.md')];
const messages = readSources(['src/console/messages'], ['en.json']);

function fileAt(path: string): Source {
  return { path, text: readFileSync(join(PROJECT, path), 'utf8') };
}

function bannedWordsIn({ path, text }: Source): string[] {
  return text.split('\n').flatMap((line, index) =>
    BANNED.flatMap(([pattern, instead]) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [`${path}:${index + 1}: "${found}": write ${instead}`];
    }),
  );
}

/** The names that several declarations have, each with the files. Of tests and tools only exported types count. */
function typesDeclaredTwice(sources: readonly Source[]): string[] {
  const paths = new Map<string, string[]>();
  for (const { path, text } of sources) {
    const isProgram = /^(?:src|jobs)\//.test(path);
    for (const [, exported, name, alias = ''] of text.matchAll(DECLARED_TYPE)) {
      if (!isProgram && exported === undefined) continue;
      paths.set(name ?? alias, [...(paths.get(name ?? alias) ?? []), path]);
    }
  }
  return [...paths].filter(([, all]) => all.length > 1).map(([name, all]) => `${name}: ${all.join(', ')}`);
}

describe('the language', () => {
  test('no source, test, document or English message uses a banned word', () => {
    const all = [...code, ...documents, ...messages].filter(({ path }) => !LISTS.includes(path));
    expect(all.flatMap(bannedWordsIn)).toEqual([]);
  });

  test('each type name is declared once', () => {
    expect(typesDeclaredTwice(code.filter(({ path }) => path !== GENERATED))).toEqual([]);
  });

  test.each(['The attempt of whoever claimed it.', 'It is told so.', 'waits for ever', 'a reader says why'])(
    'the language test finds a banned word in: %s',
    (text) => {
      expect(bannedWordsIn({ path: 'a.ts', text })).toHaveLength(1);
    },
  );

  test('the language test finds every word that docs/contributing/language.md lists', () => {
    const [, section = ''] = fileAt('docs/contributing/language.md').text.split('## Words that are not used');
    const rows = [...(section.split('## ')[0] ?? '').matchAll(/^\| (\w[^|]*?) +\| [^|]+\|$/gm)];
    const words = rows.slice(1).flatMap(([, listed = '']) => listed.split(', '));
    expect(words.length).toBeGreaterThan(15);
    expect(words.filter((text) => bannedWordsIn({ path: 'a.ts', text }).length === 0)).toEqual([]);
  });

  test.each([
    ['that two files export', 'export interface Call {}', 'export type Call = string;'],
    ['that only one of them exports', 'export class Call {}', 'type Call<T> = T;'],
    ['inside functions', 'function a() {\n  type Call = string;\n}', 'const b = () => {\n  class Call {}\n};'],
  ])('the language test finds a type name %s', (_where, first, second) => {
    const sources = [
      { path: 'src/a.ts', text: first },
      { path: 'jobs/b.ts', text: second },
    ];
    expect(typesDeclaredTwice(sources)).toEqual(['Call: src/a.ts, jobs/b.ts']);
  });

  test.each([
    ['an import', 'src/b.ts', "import {\n  type Call,\n} from './a';"],
    ['a local type of a test', 'test/b.ts', 'interface Call {}'],
  ])('the language test counts no declaration for %s', (_what, path, text) => {
    const declared = { path: 'src/a.ts', text: 'export interface Call {}' };
    expect(typesDeclaredTwice([declared, { path, text }])).toEqual([]);
  });
});
