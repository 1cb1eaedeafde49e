import { z } from 'zod';
import { jsonText } from '../../domain/stored';
import { CHANGE_SUBJECTS, CHANGE_TYPES, changeSubject, isChangeType, readSubject } from '../../domain/ops/changes';

/** The changes of all records as programs read them. */

/** The epoch of the data and a position in the stream of its changes. */
const CURSOR = /^([\da-f]{12})-(\d{1,15}-\d{1,15})$/;

/** The cursor of a position. */
export function cursorOf(epoch: string, position: string): string {
  return `${epoch}-${position}`;
}

/** The parts of a cursor; null for a text that is none. */
export function readChangeCursor(cursor: string): { readonly epoch: string; readonly position: string } | null {
  const [, epoch, position] = CURSOR.exec(cursor) ?? [];
  return epoch === undefined || position === undefined ? null : { epoch, position };
}

/** Whether a position is behind another one. */
export function isPositionAfter(one: string, other: string): boolean {
  const [ms = 0, place = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherPlace = 0] = other.split('-').map(Number);
  return ms > otherMs || (ms === otherMs && place > otherPlace);
}

/** The same for two cursors; true if they are of different epochs. */
export function isCursorAfter(one: string, other: string): boolean {
  const [is, was] = [readChangeCursor(one), readChangeCursor(other)];
  return is?.epoch !== was?.epoch || isPositionAfter(is?.position ?? '', was?.position ?? '');
}

export const changeCursor = z
  .string()
  .regex(CURSOR, 'must be a cursor that an earlier answer has named')
  .describe('only changes after this one; without it none, and `next_cursor` is that of now');

const changeTypes = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine((names) => names.every(isChangeType), `must be one or more of ${Object.keys(CHANGE_TYPES).join(', ')}`)
  .transform((names) => names.filter(isChangeType));

const subjectName = z
  .string()
  .transform(readSubject)
  .refine(
    (subject) => CHANGE_SUBJECTS.some((kind) => kind === subject?.kind),
    'must be tow:, violation: or delivery: and an id',
  )
  .transform((subject) => subject ?? undefined);

export const CHANGES_PER_PAGE = 1000;
const WAIT_MAX_SECONDS = 25;

export const changesQuery = z.strictObject({
  after: changeCursor.optional(),
  types: changeTypes.optional().describe('only these types, separated by commas'),
  subject: subjectName.optional().describe('only changes of one record: `tow:TW-1`, `violation:…`, `delivery:…`'),
  limit: z.coerce.number().int().min(1).max(CHANGES_PER_PAGE).default(100).describe('items per page'),
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(WAIT_MAX_SECONDS)
    .default(0)
    .describe('seconds to wait for a change while there is none'),
});

/** The stream of events takes the header `Last-Event-ID` before this. */
export const eventsQuery = z.strictObject({ after: changeCursor.optional() });

/** A change. Its type, and the kind of its subject, may be those of a later version. */
export const changeView = z.object({
  /** Its place: pass it as `after` to read on behind it. */
  cursor: z.string(),
  at: z.string(),
  type: z.string(),
  /** Null when it is about no record. */
  subject: changeSubject.nullable(),
  /** 1, 2, 3, … of its subject, without a gap; null when it is about no known record. */
  sequence: z.number().nullable(),
  /** The small facts of its type (GET /api/changes). */
  data: z.record(z.string(), z.unknown()),
});
export type ChangeView = z.infer<typeof changeView>;

export const changesPage = z.object({ items: z.array(changeView), next_cursor: z.string() });

/** The field of an entry of the stream; lua/accept.lua writes it too. */
export const CHANGE_FIELD = 'c';

/** Type, kind and id of the subject, sequence, data; a later version may add to it. */
export const storedChange = jsonText(
  z
    .tuple([
      z.string(),
      z.string().nullable(),
      z.string().nullable(),
      z.number().nullable(),
      z.record(z.string(), z.unknown()),
    ])
    .rest(z.unknown()),
);
const streamEntry = z.tuple([z.string(), z.tuple([z.literal(CHANGE_FIELD), z.string()])]);
export type StreamEntry = z.output<typeof streamEntry>;
export const streamEntries = z.array(streamEntry);
/** The reply to a blocking read; null when nothing came. */
export const streamReply = z.tuple([z.tuple([z.string(), streamEntries])]).nullable();

/** What `GET /api/events` sends instead of changes that it cannot repeat. */
export const MISSED = 'events.missed';
/** The data of an event of `GET /api/events`. */
export const eventView = z.union([changeView, z.object({ type: z.literal(MISSED) })]);
