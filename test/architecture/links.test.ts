import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorsIn, citationsIn, linksIn, readDocuments, type Citation } from './documents';
import { readSources } from './sources';
import { PROJECT } from '../support/project';

const documents = readDocuments();

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
