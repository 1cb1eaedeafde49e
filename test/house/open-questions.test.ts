import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSources, ROOT } from './sources';

/** Numbers of the questions whose deciding line is tagged in the code, one per tag. */
function taggedNumbers(texts: readonly string[]): number[] {
  return texts.flatMap((text) => [...text.matchAll(/Open question Q(\d+):/g)].map((match) => Number(match[1])));
}

/** Numbers of the rows of the table under the heading "Open questions". */
function listedNumbers(readme: string): number[] {
  const [, section = ''] = /^#+ Open questions\s*$([\s\S]*?)(?=^#+ |$(?![\s\S]))/m.exec(readme) ?? [];
  return [...section.matchAll(/^\| Q(\d+) +\|/gm)].map((match) => Number(match[1]));
}

function repeated(numbers: readonly number[]): number[] {
  return numbers.filter((number, index) => numbers.indexOf(number) !== index);
}

const ascending = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

describe('open questions', () => {
  const tagged = taggedNumbers(readSources(['src', 'jobs'], ['.ts', '.lua']).map(({ text }) => text));
  const listed = () => listedNumbers(readFileSync(join(ROOT, 'README.md'), 'utf8'));

  test('every open question is tagged at exactly one line of code', () => {
    expect(tagged).not.toEqual([]);
    expect(repeated(tagged)).toEqual([]);
  });

  test('every open question is listed once in the README', () => {
    expect(repeated(listed())).toEqual([]);
  });

  test('the open questions in the code are those in the README', () => {
    expect(ascending(listed())).toEqual(ascending(tagged));
  });
});

describe('the search for open questions', () => {
  test('the search for open questions finds tags in every kind of comment', () => {
    expect(
      taggedNumbers(['// Open question Q7: who?', ' * Open question Q12: when?', '-- Open question Q3: why?']),
    ).toEqual([7, 12, 3]);
  });

  test('the search for open questions reads only its own section of the README', () => {
    const readme =
      '# A\n| Q9 | no |\n## Open questions\n\n| # | x |\n|--|--|\n| Q1 | a |\n| Q2 | b |\n\n## Next\n| Q8 | no |\n';
    expect(listedNumbers(readme)).toEqual([1, 2]);
    expect(listedNumbers('## Open questions\n| Q1 | a |\n')).toEqual([1]);
    expect(listedNumbers('nothing')).toEqual([]);
  });

  test('the search for open questions finds a number that is used twice', () => {
    expect(repeated([1, 2, 1])).toEqual([1]);
  });
});
