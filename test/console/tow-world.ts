import { towPath } from '../operator/client';
import { type PageResponse, type Visitor, textOf } from './visitor';

/** Reads the page of a tow and submits its forms. */

export const pagePath = (ref: string, more = '') => `/tows/${encodeURIComponent(ref)}${more}`;
export const apiPath = towPath;

/** The visible text of the element with this id; empty if the page has none. */
export function textIn(html: string, id: string): string {
  return textOf(markupOf(html, id));
}

/** The markup of the element with this id and its children; empty if the page has none. */
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

/** The action paths of the forms on a tow's page, relative to the path of the tow. */
export function formsOf(html: string, ref: string): string[] {
  const addresses = [...html.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action = '']) => action);
  return addresses
    .filter((action) => action.startsWith(pagePath(ref, '/')))
    .map((action) => action.slice(pagePath(ref, '/').length));
}

/** Submits a form of the last page and follows the redirect. */
export async function sendForm(
  visitor: Visitor,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<PageResponse> {
  const response = await visitor.post(path, fields);
  if (response.location === null) throw new Error(`${path} returned ${response.status}: ${textOf(response.html)}`);
  return visitor.get(response.location);
}
