import { WHEREABOUTS_FIELDS } from '../../domain/tow/tow';

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
