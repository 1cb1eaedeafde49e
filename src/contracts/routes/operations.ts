import { z } from 'zod';
import { auditView } from '../audit';
import { conservationView } from '../conservation';
import * as operator from '../operator';
import { page } from '../paging';
import { otherCall } from '../records';
import { serviceView } from '../seen-service';
import { refusedCall, refusedCallsQuery } from '../refused-calls';
import type { Route } from './route';

/** Operations: deliveries, queues, conservation check, API keys, audit log. */

export const OPS_ROUTES = {
  listDeliveries: {
    method: 'get',
    path: '/api/deliveries',
    role: 'viewer',
    summary: 'Webhook deliveries, newest first.',
    query: operator.deliveriesQuery,
    status: 200,
    answer: operator.deliveryPage,
  },
  listOtherCalls: {
    method: 'get',
    path: '/api/other-calls',
    role: 'viewer',
    summary:
      'JSON calls to the receiver on paths of no webhook, newest first. They are answered 200 and not processed.',
    query: operator.otherCallsQuery,
    status: 200,
    answer: z.object({ items: z.array(otherCall) }),
  },
  listRefusedCalls: {
    method: 'get',
    path: '/api/refused-calls',
    role: 'ops',
    summary:
      'Refused calls to the receiver of the last day, newest first, with what shows the cause and without values.',
    query: refusedCallsQuery,
    status: 200,
    answer: z.object({ items: z.array(refusedCall) }),
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
    summary: 'The queues: jobs waiting, active and failed within 24 hours, and the records due for work.',
    status: 200,
    answer: z.array(operator.queueView),
  },
  pauseQueue: {
    method: 'post',
    path: '/api/queues/:queue/pause',
    role: 'ops',
    summary: 'Let the workers of a queue rest. What is due waits; nothing is lost.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.queueView,
  },
  resumeQueue: {
    method: 'post',
    path: '/api/queues/:queue/resume',
    role: 'ops',
    summary: 'Let the workers of a queue work again.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.queueView,
  },
  readConservation: {
    method: 'get',
    path: '/api/conservation',
    role: 'viewer',
    summary:
      'The states of everything that was acknowledged or recorded, from the last complete scan; `lost` must be 0.',
    status: 200,
    answer: conservationView,
  },
  readService: {
    method: 'get',
    path: '/api/service',
    role: 'viewer',
    summary:
      'The service as it was seen beside its document: fields and types of its messages, statuses and latencies of calls, and differences. Never a value.',
    status: 200,
    answer: serviceView,
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
    again: operator.apiKeyView,
  },
  rotateApiKey: {
    method: 'post',
    path: '/api/keys/:key_id/rotate',
    role: 'ops',
    summary: 'Give an API key a new text, shown in this answer and never again. The old one stays valid for a while.',
    body: operator.rotateKeyBody,
    status: 202,
    answer: operator.newApiKeyView,
    again: operator.apiKeyView,
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
    answer: page(auditView),
  },
} as const satisfies Record<string, Route>;
