import { z } from 'zod';
import { reasonBody, resolveBody, towView } from '../operator';
import { pagedQuery } from '../paging';
import { shadowView } from '../shadow';
import { violationView } from '../violations';
import type { Route } from './route';

/** Shadow mode: what would have been sent, and the decision to send it after all. */

const TOW = '/api/tows/:towing_reference_id/shadow';
const VIOLATION = '/api/violations/:violation_id/shadow';
const decision = { method: 'post', role: 'ops', status: 202 } as const;

export const SHADOW_ROUTES = {
  readShadow: {
    method: 'get',
    path: '/api/shadow',
    role: 'viewer',
    summary: 'Tows and violations of a shadow time, oldest first, with the calls that would have been made for them.',
    query: pagedQuery,
    status: 200,
    answer: shadowView,
  },
  exportShadow: {
    method: 'get',
    path: '/api/shadow.csv',
    role: 'viewer',
    gives: 'csv',
    summary: 'The same calls as CSV, one line per call.',
    status: 200,
    answer: z.null(),
  },
  sendShadowTow: {
    ...decision,
    path: `${TOW}/send`,
    summary: 'Send a tow of a shadow time after all: its reports leave in order. 409 while shadow mode is on.',
    body: resolveBody,
    answer: towView,
  },
  declineShadowTow: {
    ...decision,
    path: `${TOW}/decline`,
    summary: 'Never send a tow of a shadow time: its reports are waived, also those of later facts.',
    body: reasonBody,
    answer: towView,
  },
  sendShadowViolation: {
    ...decision,
    path: `${VIOLATION}/send`,
    summary: 'Send a violation of a shadow time after all. 409 while shadow mode is on.',
    body: resolveBody,
    answer: violationView,
  },
  declineShadowViolation: {
    ...decision,
    path: `${VIOLATION}/decline`,
    summary: 'Never send a violation of a shadow time: it is waived.',
    body: reasonBody,
    answer: violationView,
  },
} as const satisfies Record<string, Route>;
