import { ACTION_ROLES } from '../../domain/outbox/decisions';
import { perFact } from '../../domain/tow/facts';
import { correctionBody, FACT_CONTRACTS, type FactContract } from '../tow/facts';
import * as operator from '../operator';
import { page } from '../paging';
import { linkBody } from '../violation/violations';
import { CHANGE, READ, type Route, TOW_COLUMNS, TOW_TEXT } from './route';

/** Tows: read them, record facts, decide about reports. */

const TOW = '/api/tows/:towing_reference_id';
const REPORT = `${TOW}/reports/:report_id`;

const change = { ...CHANGE, answer: operator.towView, shows: TOW_TEXT } as const;

/** The route by which a fact is recorded. */
export function factRoute<E extends string, C extends Pick<FactContract, 'role' | 'summary' | 'body'>>(
  event: E,
  { role, summary, body }: C,
): typeof change &
  Pick<C, 'role' | 'summary' | 'body'> & { readonly path: `${typeof TOW}/${E}`; readonly command: string } {
  return { ...change, path: `${TOW}/${event}`, role, summary, body, command: `tow ${event} <towing_reference_id>` };
}

const FACT_ROUTES = perFact((event) => factRoute(event, FACT_CONTRACTS[event]));

export const TOW_ROUTES = {
  listTows: {
    ...READ,
    path: '/api/tows',
    summary:
      'Tows, newest request first; by state, by what needs a person, is unsent or overdue, by crew (`crew=` for tows without one), or by the beginning of a reference, plate (either script) or invoice number. Filters are combined.',
    query: operator.towsQuery,
    answer: page(operator.towNow),
    command: 'tow list',
    shows: TOW_COLUMNS,
  },
  readTow: {
    ...READ,
    path: TOW,
    summary: 'One tow with its facts, reports, invoices, tasks and timeline. 404 until its delivery is processed.',
    answer: operator.towNow,
    command: 'tow show <towing_reference_id>',
    shows: TOW_TEXT,
  },
  countTows: {
    ...READ,
    path: '/api/tow-counts',
    summary: 'The numbers of tows by state and by what needs a person, and the crews that have tows.',
    answer: operator.towCounts,
    command: 'tow count',
  },
  ...FACT_ROUTES,
  retryReport: {
    ...change,
    path: `${REPORT}/retry`,
    role: ACTION_ROLES.retry,
    summary: 'Send a report again now.',
    body: operator.emptyBody,
    command: 'report retry <towing_reference_id> <report_id>',
  },
  correctReport: {
    ...change,
    path: `${REPORT}/correct`,
    role: ACTION_ROLES.correct,
    summary: 'Change fields of a report and send it. Its kind determines the fields; references cannot change.',
    body: correctionBody,
    command: 'report correct <towing_reference_id> <report_id>',
  },
  waiveReport: {
    ...change,
    path: `${REPORT}/waive`,
    role: ACTION_ROLES.waive,
    summary: 'Give a report up, so that the next may leave. A waived invoice waives its pending payment.',
    body: operator.reasonBody,
    command: 'report waive <towing_reference_id> <report_id>',
  },
  acceptReport: {
    ...change,
    path: `${REPORT}/accept`,
    role: ACTION_ROLES.accept,
    summary: 'Treat a report as accepted, because a person has seen it at the service.',
    body: operator.reasonBody,
    command: 'report accept <towing_reference_id> <report_id>',
  },
  linkViolation: {
    ...change,
    path: `${TOW}/violation`,
    role: 'dispatcher',
    summary: 'Link a tow to the violation that led to it, if that was not found automatically.',
    body: linkBody,
    command: 'tow link <towing_reference_id> <violation_id>',
  },
} as const satisfies Record<string, Route>;
