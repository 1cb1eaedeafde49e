import { z } from 'zod';
import { ACTION_ROLES } from '../../domain/outbox/decisions';
import { emptyBody, reasonBody } from '../operator';
import { knownViolationsBody, knownViolationsView } from '../violation/known-violations';
import { page } from '../paging';
import { violationCorrection, violationImagesInput, violationInput } from '../violation/violation-input';
import { violationAcceptBody, violationDetail, violationsQuery, violationView } from '../violation/violations';
import { CHANGE, READ, type Route, VIOLATION_TEXT } from './route';
import { visiblePlateText } from '../../domain/input-schemas';
import { capacityAnswer, ticketAnswer, ticketRequest, violationForm } from '../service/service';

/** Lookups at the service (docs/service-api.md#guide-operations), in its own field names. */

export const zoneId = violationForm.shape.zoneId;
export const capacityView = capacityAnswer.extend({
  /** When the service answered; earlier than the request if the answer was cached. */
  checked_at: z.string(),
});
export const ticketBody = ticketRequest.extend({
  zoneId,
  plateNumber: visiblePlateText(),
});
export const ticketView = ticketAnswer.extend({ checked_at: z.string() });

/** Violations, and the questions to the service before one is reported. */

const VIOLATION = '/api/violations/:violation_id';
const change = { ...CHANGE, answer: violationView, shows: VIOLATION_TEXT } as const;

export const VIOLATION_ROUTES = {
  reportViolation: {
    ...change,
    path: '/api/violations',
    role: 'dispatcher',
    takes: 'form',
    summary:
      'Report a parking violation with its images (at most `IMAGES_TOTAL_BYTES_MAX` bytes in all). Answered at once; a worker sends it to the service.',
    body: violationInput,
    command: 'violation create',
  },
  addKnownViolations: {
    ...CHANGE,
    path: '/api/violations/known',
    role: 'dispatcher',
    summary:
      'Add violations that other software has reported (at most 100), so that their tows find plate and place. They are never sent; one that is here already changes nothing, and is a conflict if its content is another.',
    body: knownViolationsBody,
    answer: knownViolationsView,
  },
  listViolations: {
    ...READ,
    path: '/api/violations',
    summary: 'Violations, newest first; by state, or by the beginning of a reference, an id or a plate.',
    query: violationsQuery,
    answer: page(violationView),
    command: 'violation list',
    shows: 'id state form.plateNumber form.violationType created_at violation_reference_id towing_reference_ids',
  },
  readViolation: {
    ...READ,
    path: VIOLATION,
    summary: 'One violation, by our id or by the id in its metadata.',
    answer: violationDetail,
    command: 'violation show <violation_id>',
    shows: VIOLATION_TEXT,
  },
  readViolationImage: {
    ...READ,
    path: `${VIOLATION}/images/:image_number`,
    gives: 'image',
    summary: 'One image, counted from 1; gone once the service has the violation.',
    answer: z.null(),
    command: 'violation image <violation_id> <image_number>',
  },
  retryViolation: {
    ...change,
    path: `${VIOLATION}/retry`,
    role: ACTION_ROLES.retry,
    summary: 'Send it again now, also despite an active ticket.',
    body: emptyBody,
    command: 'violation retry <violation_id>',
  },
  correctViolation: {
    ...change,
    path: `${VIOLATION}/correct`,
    role: ACTION_ROLES.correct,
    summary:
      'Change fields of its form, and send it; null clears an optional field. The id in its metadata cannot change.',
    body: violationCorrection,
    command: 'violation correct <violation_id>',
  },
  replaceViolationImages: {
    ...change,
    path: `${VIOLATION}/images`,
    role: ACTION_ROLES.correct,
    takes: 'form',
    summary:
      'Correct it with other images (at most `IMAGES_TOTAL_BYTES_MAX` bytes in all), and fields if given, and send it. They replace all its images.',
    body: violationImagesInput,
    command: 'violation images <violation_id>',
  },
  waiveViolation: {
    ...change,
    path: `${VIOLATION}/waive`,
    role: ACTION_ROLES.waive,
    summary: 'Give it up: it is not sent any more.',
    body: reasonBody,
    command: 'violation waive <violation_id>',
  },
  acceptViolation: {
    ...change,
    path: `${VIOLATION}/accept`,
    role: ACTION_ROLES.accept,
    summary: 'Treat it as accepted, because a person has seen it at the service.',
    body: violationAcceptBody,
    command: 'violation accept <violation_id>',
  },
  readCapacity: {
    ...READ,
    path: '/api/zones/:zone_id/capacity',
    summary: 'Free slots of a zone, asked of the service; waits at most 5 s for the budget.',
    answer: capacityView,
    command: 'capacity <zone_id>',
  },
  checkTicket: {
    method: 'post',
    path: '/api/tickets/check',
    role: 'crew',
    summary: 'Whether a vehicle has an active ticket, asked of the service; waits at most 5 s for the budget.',
    body: ticketBody,
    status: 200,
    answer: ticketView,
    command: 'ticket check',
  },
} as const satisfies Record<string, Route>;
