import { z } from 'zod';
import { WHOLE_NUMBER } from '../domain/numerals';

/** Paging of lists. */

const wholeNumber = z.int({ error: ({ code }) => (code === 'invalid_type' ? 'must be a whole number' : undefined) });

export const pageQuery = {
  cursor: z
    .string()
    .refine((text) => readCursor(text) !== null, 'must be a next_cursor of this list with the same filters')
    .optional()
    .describe('the next page, by the cursor of the page before'),
  // The default is inside, because the JSON schema of a converted value has none.
  limit: z.preprocess(limitIn, wholeNumber.min(1).max(200).default(50)).describe('items per page'),
};

/** The number of a query's digits; any other text as it is, for the schema to refuse. */
function limitIn(given: string | number | undefined): string | number | undefined {
  return typeof given === 'string' && WHOLE_NUMBER.test(given) ? Number(given) : given;
}

/** By when an item was received. */
export const SORT_ORDERS = ['newest', 'oldest'] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/** A list without filters. */
export const pagedQuery = z.strictObject(pageQuery);

/** A page of a list; `next_cursor` is null on the last one. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() });

/** A page of any list. */
export const anyPage = z.looseObject({ items: z.array(z.unknown()), next_cursor: z.string().nullable() });

/** The end of a page: its last row, so that new rows shift nothing. Opaque to callers. */
export interface Cursor {
  /** An integer: ms since the epoch, or a sequence number. */
  readonly score: number;
  readonly member: string;
}

export function writeCursor({ score, member }: Cursor): string {
  return Buffer.from(`${score} ${member}`).toString('base64url');
}

/** Null when the text is not one of our cursors. */
export function readCursor(text: string): Cursor | null {
  const decoded = Buffer.from(text, 'base64url').toString();
  const space = decoded.indexOf(' ');
  const score = Number(decoded.slice(0, space));
  return space > 0 && Number.isSafeInteger(score) ? { score, member: decoded.slice(space + 1) } : null;
}
