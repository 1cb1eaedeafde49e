import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSources, type Source } from './sources';
import { PROJECT } from '../support/project';

/** A link to a heading or a file, as it is written. */
export interface Citation {
  /** Where it is written. */
  readonly from: string;
  /** Path of the file it leads to, relative to the root of the project. */
  readonly path: string;
  /** The anchor of a heading; null when it leads to the whole file. */
  readonly anchor: string | null;
}

/** Every Markdown file of the project. */
export function readDocuments(): Source[] {
  const named = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'bench/README.md']
    .filter((path) => existsSync(join(PROJECT, path)))
    .map((path) => ({ path, text: readFileSync(join(PROJECT, path), 'utf8') }));
  return [...named, ...readSources(['docs'], ['.md'])];
}

/** The anchors of the headings of a document, as GitHub makes them. */
export function anchorsIn(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(text).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** The links of a document to other files and headings of the project; paths are relative to the document. */
export function linksIn({ path, text }: Source): Citation[] {
  const targets = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].map(
    ([, link, image]) => link ?? image ?? '',
  );
  return targets
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => {
      const [file = '', anchor = null] = target.split('#');
      return { from: path, path: file === '' ? path : joined(path, file), anchor };
    });
}

/** Headings that comments cite as `docs/page.md#heading`, or with a second one as `docs/page.md#one and #two`. */
export function citationsIn({ path, text }: Source): Citation[] {
  return [...text.matchAll(/\b(docs\/[\w/-]+\.md)(?:#([\w-]+)(?: and #([\w-]+))?)?/g)].flatMap(
    ([, file = '', first = null, second = null]) =>
      [first, ...(second === null ? [] : [second])].map((anchor) => ({ from: path, path: file, anchor })),
  );
}

/** The commands in the `sh` blocks of a document, one per command line; comments are dropped, continued lines joined. */
export function commandsIn({ text }: Source): string[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => line.replace(/(^|\s)#\s.*$/, '').trim())
      .filter((line) => line !== ''),
  );
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

function joined(from: string, target: string): string {
  const parts = from.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
