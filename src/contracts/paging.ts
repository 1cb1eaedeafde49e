import { z } from 'zod';

/** Paging of lists. */

export const pageQuery = {
  cursor: z
    .string()
    .refine((text) => readCursor(text) !== null, 'must be a next_cursor of this list')
    .optional(),
  limit: z.coerce.number<string | number | undefined>().int().min(1).max(200).default(50),
};

/** By when an item was received. */
export const SORT_ORDERS = ['newest', 'oldest'] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/** A list without filters. */
export const pagedQuery = z.strictObject(pageQuery);

/** A page of a list; `next_cursor` is null on the last one. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() });

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
