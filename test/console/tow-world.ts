import { towPath } from '../operator/client';
import type { Shown, Visitor } from './visitor';
import { textOf } from './visitor';

/** The page of a tow as people use it. */

export const pagePath = (ref: string, more = '') => `/tows/${encodeURIComponent(ref)}${more}`;
export const apiPath = towPath;

/** The words of one part of a page, by the id of its element; empty when it is not there. */
export function wordsIn(html: string, id: string): string {
  return textOf(markupOf(html, id));
}

/** The markup of an element by its id, with what is in it. */
export function markupOf(html: string, id: string): string {
  const start = html.search(new RegExp(`<(?:section|article|header|div|form|p|details)[^>]* id="${id}"`));
  if (start === -1) return '';
  const name = /^<(\w+)/.exec(html.slice(start))?.[1] ?? '';
  let depth = 0;
  for (const tag of html.slice(start).matchAll(new RegExp(`<(/?)${name}\\b`, 'g'))) {
    depth += tag[1] === '/' ? -1 : 1;
    if (depth === 0) return html.slice(start, start + tag.index);
  }
  return html.slice(start);
}

/** The addresses of the forms that a page offers, below that of its tow. */
export function formsOf(html: string, ref: string): string[] {
  const addresses = [...html.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action = '']) => action);
  return addresses
    .filter((action) => action.startsWith(pagePath(ref, '/')))
    .map((action) => action.slice(pagePath(ref, '/').length));
}

/** Sends a form of the page and follows it to the page that comes then. */
export async function sendForm(
  visitor: Visitor,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  const answered = await visitor.post(path, fields);
  if (answered.location === null) throw new Error(`${path} was answered ${answered.status}: ${textOf(answered.html)}`);
  return visitor.get(answered.location);
}
