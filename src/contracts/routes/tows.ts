import { FACT_ROLES } from '../../domain/fact-command';
import * as operator from '../operator';
import { page } from '../paging';
import { linkBody } from '../violations';
import type { Route } from './route';

/** Tows: what people see, say and decide. */

const TOW = '/api/tows/:towing_reference_id';
const REPORT = `${TOW}/reports/:report_id`;

const fact = { method: 'post', status: 202, answer: operator.towView } as const;
const decision = { method: 'post', role: 'dispatcher', status: 202, answer: operator.towView } as const;

export const TOW_ROUTES = {
  listTows: {
    method: 'get',
    path: '/api/tows',
    role: 'viewer',
    summary:
      'Tows, newest request first; by state, by what needs a person, is unsent or overdue, by crew (`crew=` for those of nobody), or by the beginning of a reference, plate (either script) or invoice number. All that is given must be true.',
    query: operator.towsQuery,
    status: 200,
    answer: page(operator.towView),
  },
  readTow: {
    method: 'get',
    path: TOW,
    role: 'viewer',
    summary: 'One tow with its facts, reports, invoices, tasks and timeline. 404 until its delivery is processed.',
    status: 200,
    answer: operator.towView,
  },
  started: {
    ...fact,
    path: `${TOW}/started`,
    role: FACT_ROLES.started,
    summary: 'The vehicle is hooked up. What the violation gives may be left out.',
    body: operator.FACT_BODIES.started,
  },
  detained: {
    ...fact,
    path: `${TOW}/detained`,
    role: FACT_ROLES.detained,
    summary: 'The vehicle stands in the yard.',
    body: operator.FACT_BODIES.detained,
  },
  canceled: {
    ...fact,
    path: `${TOW}/canceled`,
    role: FACT_ROLES.canceled,
    summary: 'The tow is called off. From detained, or with an invoice, only by ops.',
    body: operator.FACT_BODIES.canceled,
  },
  released: {
    ...fact,
    path: `${TOW}/released`,
    role: FACT_ROLES.released,
    summary: 'The vehicle is handed back.',
    body: operator.FACT_BODIES.released,
  },
  invoice: {
    ...fact,
    path: `${TOW}/invoice`,
    role: FACT_ROLES.invoice,
    summary: 'Ask the service for the invoice. Days of delay are computed when left out.',
    body: operator.FACT_BODIES.invoice,
  },
  payment: {
    ...fact,
    path: `${TOW}/payment`,
    role: FACT_ROLES.payment,
    summary: 'The invoice was paid.',
    body: operator.FACT_BODIES.payment,
  },
  retryReport: {
    ...decision,
    path: `${REPORT}/retry`,
    summary: 'Send a report again now; also an accepted one, while its task answer_broken is open.',
    body: operator.emptyBody,
  },
  correctReport: {
    ...decision,
    path: `${REPORT}/correct`,
    summary: 'Change what a report says, and send it. Fields depend on the kind of report; references cannot change.',
    body: operator.correctionBody,
  },
  waiveReport: {
    ...decision,
    path: `${REPORT}/waive`,
    summary: 'Give a report up, so that the next may leave. A waived invoice waives its pending payment.',
    body: operator.reasonBody,
  },
  acceptReport: {
    ...decision,
    path: `${REPORT}/accept`,
    summary: 'Take a report as accepted, because a person has seen it at the service.',
    body: operator.reasonBody,
  },
  linkViolation: {
    ...fact,
    path: `${TOW}/violation`,
    role: 'dispatcher',
    summary: 'Say which of our violations a tow comes from, where it was not found by itself.',
    body: linkBody,
  },
} as const satisfies Record<string, Route>;
