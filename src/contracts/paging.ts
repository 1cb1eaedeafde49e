import { z } from 'zod';
import { readCursor } from './cursor';

/** How lists are asked for and answered, page by page. */

export const pageQuery = {
  cursor: z
    .string()
    .refine((text) => readCursor(text) !== null, 'must be a next_cursor of this list')
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
};

/** Of what a list shows, by when it came. */
export const ORDERS = ['newest', 'oldest'] as const;
export type Order = (typeof ORDERS)[number];

/** A list without filters. */
export const pagedQuery = z.strictObject(pageQuery);

/** A page of a list; `next_cursor` is null on the last one. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() });
