import { z } from 'zod';
import type { Role } from '../../domain/vocabulary';
import { WHEREABOUTS_FIELDS } from '../../domain/tow/tow';

/** One route of the operator API. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** Variable parts are written `:name`. */
  readonly path: string;
  /** The weakest role that may call it. */
  readonly role: Role;
  readonly summary: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** `form`: multipart/form-data with the fields of `body`, and files named `images`. Default: JSON. */
  readonly takes?: 'form';
  /** `image`: the answer is an image; `csv`: text/csv, streamed. Default: JSON. */
  readonly gives?: 'image' | 'csv';
  readonly status: 200 | 201 | 202 | 204;
  readonly answer: z.ZodType;
  /** The answer to a repeated request under its Idempotency-Key, if the first answer has a secret. */
  readonly again?: z.ZodType;
  /**
   * The command of the route as it is typed: words, then arguments, named as the parts of the path or as fields of the
   * body: `tow note <towing_reference_id> <text>`. All other fields are options. Absent only for a route that a
   * command written by hand calls.
   */
  readonly command?: string;
  /**
   * The fields that its command prints as text, separated by spaces: `state`, `dispatch.yard.slot`, `reports.state`.
   * Default: all.
   */
  readonly shows?: string;
  /** A line that the command prints below the text; `<id>` is that field of the answer. */
  readonly note?: string;
  /** The field of the answer that is false when it failed: then the command exits with 1. */
  readonly succeeds?: string;
}

/** What most routes that read have in common. */
export const READ = { method: 'get', role: 'viewer', status: 200 } as const;
/** What most routes that change something have in common. */
export const CHANGE = { method: 'post', status: 202 } as const;

/** The contract of every JSON answer of a route: of the first one, and of one to a repeated request. */
export function answerContract(route: Route): z.ZodType {
  return route.again ? z.union([route.answer, route.again]) : route.answer;
}

const PLACE = WHEREABOUTS_FIELDS.map(({ name }) => name).join(' ');

/** The fields of a tow and a violation that their commands print as text. */

export const TOW_COLUMNS = 'towing_reference_id state plate_number requested_at reports.kind reports.state tasks.type';

export const TOW_TEXT = `
  towing_reference_id violation_reference_id violation_id state requested_at ${PLACE}
  zone_id violation_type shadow cancellation_reason dispatch.assignment.crew dispatch.assignment.truck
  dispatch.yard.yard dispatch.yard.slot
  facts.event facts.occurred_at facts.by
  reports.id reports.state reports.attempts reports.next_attempt_at reports.waits_for reports.place_in_queue.place
  reports.last_error.message reports.reason
  invoices.source invoices.received_at invoices.towing_invoice.total_amount invoices.delay_invoice.total_amount
  dispatch.steps.step dispatch.steps.occurred_at dispatch.steps.by
  dispatch.holds.id dispatch.holds.reason dispatch.holds.lifted.at
  dispatch.notes.text dispatch.notes.at dispatch.notes.by
  dispatch.photos.id dispatch.photos.name dispatch.photos.size_bytes
  tasks.id tasks.actions tasks.message
`;

export const VIOLATION_TEXT = `
  id state violation_reference_id service_status can_tow metadata_id towing_reference_ids form.plateNumber
  form.plateType form.violationType form.location form.latitude form.longitude form.zoneId form.date created_at by
  ticket.has_active_ticket attempts next_attempt_at waits_for place_in_queue.place accepted_how last_error.message
  hint reason
  images.name images.size_bytes
  warnings.field warnings.rule
`;
