import { z } from 'zod';
import { emptyBody, reasonBody } from '../operator';
import { capacityView, ticketBody, ticketView } from '../lookups';
import { page } from '../paging';
import { violationCorrection, violationInput } from '../violation-input';
import { violationAcceptBody, violationsQuery, violationView } from '../violations';
import type { Route } from './route';

/** Violations, and what can be asked of the service before one is reported. */

const VIOLATION = '/api/violations/:violation_id';
const decision = { method: 'post', role: 'dispatcher', status: 202, answer: violationView } as const;

export const VIOLATION_ROUTES = {
  reportViolation: {
    ...decision,
    path: '/api/violations',
    takes: 'form',
    summary:
      'Report a parking violation with its images (at most 10 MiB in all). Answered at once; a worker sends it to the service.',
    body: violationInput,
  },
  listViolations: {
    method: 'get',
    path: '/api/violations',
    role: 'viewer',
    summary: 'Violations, newest first; by state, or by the beginning of a reference, an id or a plate.',
    query: violationsQuery,
    status: 200,
    answer: page(violationView),
  },
  readViolation: {
    method: 'get',
    path: VIOLATION,
    role: 'viewer',
    summary: 'One violation, by our id or by the id in its metadata.',
    status: 200,
    answer: violationView,
  },
  readViolationImage: {
    method: 'get',
    path: `${VIOLATION}/images/:image_number`,
    role: 'viewer',
    gives: 'image',
    summary: 'One image, counted from 1; gone once the service has the violation.',
    status: 200,
    answer: z.null(),
  },
  retryViolation: {
    ...decision,
    path: `${VIOLATION}/retry`,
    summary:
      'Send it (again) now; of one held for an active ticket: send it all the same; also an accepted one, while its task answer_broken is open.',
    body: emptyBody,
  },
  correctViolation: {
    ...decision,
    path: `${VIOLATION}/correct`,
    summary: 'Change fields of its form, and send it. The id in its metadata cannot change.',
    body: violationCorrection,
  },
  waiveViolation: {
    ...decision,
    path: `${VIOLATION}/waive`,
    summary: 'Give it up: it is not sent any more.',
    body: reasonBody,
  },
  acceptViolation: {
    ...decision,
    path: `${VIOLATION}/accept`,
    summary: 'Take it as accepted, because a person has seen it at the service.',
    body: violationAcceptBody,
  },
  readCapacity: {
    method: 'get',
    path: '/api/zones/:zone_id/capacity',
    role: 'viewer',
    summary: 'Free slots of a zone, asked of the service; waits at most 5 s for the budget.',
    status: 200,
    answer: capacityView,
  },
  checkTicket: {
    method: 'post',
    path: '/api/tickets/check',
    role: 'crew',
    summary: 'Whether a vehicle has an active ticket, asked of the service; waits at most 5 s for the budget.',
    body: ticketBody,
    status: 200,
    answer: ticketView,
  },
} as const satisfies Record<string, Route>;
