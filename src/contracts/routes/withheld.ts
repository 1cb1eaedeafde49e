import { z } from 'zod';
import { SERVICE_MODES } from '../../domain/vocabulary';
import { reasonBody, resolveBody, statusView, towView } from '../operator';
import { pagedQuery } from '../paging';
import { withheldView } from '../outbox/withheld';
import { violationView } from '../violation/violations';
import { CHANGE, READ, type Route, TOW_TEXT, VIOLATION_TEXT } from './route';

/** Shadow mode: what would have been sent, and the decision to send it after all. */

const TOW = '/api/tows/:towing_reference_id/shadow';
const VIOLATION = '/api/violations/:violation_id/shadow';
const decision = { ...CHANGE, role: 'ops' } as const;

export const WITHHELD_ROUTES = {
  readStatus: {
    ...READ,
    path: '/api/status',
    summary: 'Whether anything is sent, what waits for a decision since a shadow time, and the number of open tasks.',
    command: 'status',
    answer: statusView,
  },
  changeMode: {
    ...decision,
    path: '/api/mode',
    summary:
      'Go live, or stop all sending but the token call (shadow mode). 409 for `live` while a process runs with SERVICE_MODE=shadow.',
    body: reasonBody.extend({ mode: z.enum(SERVICE_MODES) }),
    answer: statusView,
    command: 'mode <mode>',
  },
  readWithheld: {
    ...READ,
    path: '/api/shadow',
    summary: 'Tows and violations of a shadow time, oldest first, with the calls that would have been made for them.',
    query: pagedQuery,
    answer: withheldView,
    command: 'shadow list',
    shows: 'kind id violation_reference_id state since calls.operation',
  },
  exportWithheld: {
    ...READ,
    path: '/api/shadow.csv',
    gives: 'csv',
    summary: 'The same calls as CSV, one line per call.',
    answer: z.null(),
    command: 'shadow export',
  },
  sendWithheldTow: {
    ...decision,
    path: `${TOW}/send`,
    summary: 'Send a tow of a shadow time after all: its reports leave in order. 409 while shadow mode is on.',
    body: resolveBody,
    answer: towView,
    command: 'shadow send <towing_reference_id>',
    shows: TOW_TEXT,
  },
  declineWithheldTow: {
    ...decision,
    path: `${TOW}/decline`,
    summary: 'Never send a tow of a shadow time: its reports are waived, also those of later facts.',
    body: reasonBody,
    answer: towView,
    command: 'shadow decline <towing_reference_id>',
    shows: TOW_TEXT,
  },
  sendWithheldViolation: {
    ...decision,
    path: `${VIOLATION}/send`,
    summary: 'Send a violation of a shadow time after all. 409 while shadow mode is on.',
    body: resolveBody,
    answer: violationView,
    command: 'shadow send-violation <violation_id>',
    shows: VIOLATION_TEXT,
  },
  declineWithheldViolation: {
    ...decision,
    path: `${VIOLATION}/decline`,
    summary: 'Never send a violation of a shadow time: it is waived.',
    body: reasonBody,
    answer: violationView,
    command: 'shadow decline-violation <violation_id>',
    shows: VIOLATION_TEXT,
  },
} as const satisfies Record<string, Route>;
