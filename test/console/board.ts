import { type Visitor, textOf } from './visitor';

/** Reads the tow board from its markup. */

/** The towing references of the rows, in display order. */
export function rowsIn(html: string): string[] {
  return rowHtml(html).map(({ ref }) => ref);
}

/** The visible text of a row. */
export function rowIn(html: string, ref: string): string {
  const row = rowHtml(html).find((each) => each.ref === ref);
  return textOf(row?.html ?? '').replaceAll(' :', ':');
}

/** The references of the rows that are still displayed but no longer match the list. */
export function leftIn(html: string): string[] {
  return rowHtml(html)
    .filter((row) => /^[^>]*class="tow-row left"/.test(row.html))
    .map(({ ref }) => ref);
}

function rowHtml(html: string): { ref: string; html: string }[] {
  return [...html.matchAll(/<tr role="row" id="tow-([^"]*)"[^]*?<\/tr>/g)].map(([row, ref = '']) => ({
    ref: decodeURIComponent(ref),
    html: row,
  }));
}

/** Every filter chip with a count, by its label. */
export function chipsIn(html: string): Map<string, { count: number; href: string; isOn: boolean }> {
  const chips = [...html.matchAll(/<a class="chip[^"]*" href="([^"]*)"([^>]*)>([^]*?)<\/a>/g)];
  return new Map(
    chips.map(([, href = '', attributes = '', content = '']) => {
      const [, count = ''] = /class="count">([^<]*)</.exec(content) ?? [];
      const label = textOf(content.replace(/<span class="count">[^<]*<\/span>/, ''));
      const isOn = attributes.includes('aria-current="true"');
      return [label, { count: Number(count.replaceAll(',', '')), href: href.replaceAll('&amp;', '&'), isOn }];
    }),
  );
}

/** The fields that the board's script posts to refresh the board. */
export function askedBy(html: string): [string, string][] {
  const [, values = ''] = /hx-vals="([^"]*)"/.exec(html) ?? [];
  const asked: unknown = JSON.parse(values.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'));
  return Object.entries(asked ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
  );
}

/** Target of the first link whose tag contains `attribute`; empty if there is none. */
export function linkIn(html: string, attribute: string): string {
  const link = [...html.matchAll(/<a\b[^>]*>/g)].map(([tag]) => tag).find((tag) => tag.includes(attribute)) ?? '';
  return (/href="([^"]*)"/.exec(link)?.[1] ?? '').replaceAll('&amp;', '&');
}

/** Refreshes a displayed board as its script does; returns the new markup. */
export async function refreshed(visitor: Visitor, html: string): Promise<string> {
  const asked = askedBy(html).filter(([name]) => name !== 'form_token');
  const response = await visitor.post('/board/live', new URLSearchParams(asked));
  if (response.status !== 200) throw new Error(`the refresh returned ${response.status}`);
  return response.html;
}

/** The question that the crew form of a row answers, as its hidden field; empty without the form. */
export function questionIn(html: string, ref: string): string {
  const row = rowHtml(html).find((each) => each.ref === ref);
  return /name="question" value="([^"]*)"/.exec(row?.html ?? '')?.[1] ?? '';
}

/** The text of the status line above the list. */
export function statusIn(html: string): string {
  return textOf(/<div role="status">([^]*?)<\/div>/.exec(html)?.[1] ?? '');
}
