import { z } from 'zod';
import type { Role } from '../domain/vocabulary';
import { conservationView } from './conservation';
import { auditView } from './audit';
import * as operator from './operator';
import { quarantined } from './records';

/** Every address of the operator API, as data: the server is wired by it and the OpenAPI document written from it. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** With `:name` where a part varies. */
  readonly path: string;
  /** The weakest role that may call it. */
  readonly role: Role;
  readonly summary: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly status: 200 | 201 | 202 | 204;
  readonly answer: z.ZodType;
}

const TOW = '/api/tows/:towing_reference_id';
const REPORT = `${TOW}/reports/:report_id`;

const fact = { method: 'post', role: 'dispatcher', status: 202, answer: operator.towView } as const;
const decision = { method: 'post', role: 'dispatcher', status: 202, answer: operator.towView } as const;

export const ROUTES = {
  listTows: {
    method: 'get',
    path: '/api/tows',
    role: 'viewer',
    summary:
      'Tows, newest request first; by state, by what needs a person, or by the beginning of a reference, plate or invoice number.',
    query: operator.towsQuery,
    status: 200,
    answer: operator.page(operator.towView),
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
    role: 'crew',
    summary: 'The vehicle is hooked up. What the violation gives may be left out.',
    body: operator.FACT_BODIES.started,
  },
  detained: {
    ...fact,
    path: `${TOW}/detained`,
    role: 'crew',
    summary: 'The vehicle stands in the yard.',
    body: operator.FACT_BODIES.detained,
  },
  canceled: {
    ...fact,
    path: `${TOW}/canceled`,
    summary: 'The tow is called off. From detained, or with an invoice, only by ops.',
    body: operator.FACT_BODIES.canceled,
  },
  released: {
    ...fact,
    path: `${TOW}/released`,
    summary: 'The vehicle is handed back.',
    body: operator.FACT_BODIES.released,
  },
  invoice: {
    ...fact,
    path: `${TOW}/invoice`,
    summary: 'Ask the service for the invoice. Days of delay are computed when left out.',
    body: operator.FACT_BODIES.invoice,
  },
  payment: {
    ...fact,
    path: `${TOW}/payment`,
    summary: 'The invoice was paid.',
    body: operator.FACT_BODIES.payment,
  },
  retryReport: {
    ...decision,
    path: `${REPORT}/retry`,
    summary: 'Send a report again now.',
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
  listTasks: {
    method: 'get',
    path: '/api/tasks',
    role: 'viewer',
    summary: "What a person must decide, with the report it is about: the service's words and what was sent.",
    query: operator.pagedQuery,
    status: 200,
    answer: operator.page(operator.taskView),
  },
  resolveTask: {
    method: 'post',
    path: '/api/tasks/:task_id/resolve',
    role: 'dispatcher',
    summary: 'Close a task that only informs. A task about a report is closed by deciding on the report.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.taskView,
  },
  readSending: {
    method: 'get',
    path: '/api/operations',
    role: 'viewer',
    summary: 'What holds sending now: the connection, an outage of the service, paused operations; and the budgets.',
    status: 200,
    answer: operator.sendingView,
  },
  resumeOperation: {
    method: 'post',
    path: '/api/operations/:operation/resume',
    role: 'ops',
    summary: 'Send the reports of an operation again that was paused because the service forbade it.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.sendingView,
  },
  listDeliveries: {
    method: 'get',
    path: '/api/deliveries',
    role: 'viewer',
    summary: 'Webhook deliveries, newest first; `quarantined=true` shows calls that broke the contract instead.',
    query: operator.deliveriesQuery,
    status: 200,
    answer: operator.page(z.union([operator.deliveryView, quarantined])),
  },
  readDelivery: {
    method: 'get',
    path: '/api/deliveries/:delivery_id',
    role: 'viewer',
    summary: 'One delivery with its raw body and verdict.',
    status: 200,
    answer: operator.deliveryDetail,
  },
  replayDelivery: {
    method: 'post',
    path: '/api/deliveries/:delivery_id/replay',
    role: 'ops',
    summary: 'Process a delivery once more. Doing it twice is doing it once.',
    body: operator.emptyBody,
    status: 202,
    answer: operator.deliveryDetail,
  },
  listQueues: {
    method: 'get',
    path: '/api/queues',
    role: 'viewer',
    summary: 'The queues: jobs waiting, active and failed, and the records due for work.',
    status: 200,
    answer: z.array(operator.queueView),
  },
  readConservation: {
    method: 'get',
    path: '/api/conservation',
    role: 'viewer',
    summary:
      'Where everything stands that was acknowledged or recorded, by the last complete walk over all of it; `lost` must be 0.',
    status: 200,
    answer: conservationView,
  },
  listApiKeys: {
    method: 'get',
    path: '/api/keys',
    role: 'ops',
    summary: 'The API keys; never the keys themselves.',
    status: 200,
    answer: z.object({ items: z.array(operator.apiKeyView) }),
  },
  createApiKey: {
    method: 'post',
    path: '/api/keys',
    role: 'ops',
    summary: 'Make an API key. It is shown in this answer and never again.',
    body: operator.newApiKeyBody,
    status: 201,
    answer: operator.newApiKeyView,
  },
  revokeApiKey: {
    method: 'delete',
    path: '/api/keys/:key_id',
    role: 'ops',
    summary: 'End an API key at once.',
    status: 204,
    answer: z.null(),
  },
  listAudit: {
    method: 'get',
    path: '/api/audit',
    role: 'ops',
    summary:
      'What people did and is not archived yet, newest first. With a tow, a page may be empty while next_cursor is not null.',
    query: operator.auditQuery,
    status: 200,
    answer: operator.page(auditView),
  },
} as const satisfies Record<string, Route>;
