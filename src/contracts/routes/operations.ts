import * as operator from '../operator';
import { z } from 'zod';
import { auditView } from '../ops/audit';
import { changesPage, changesQuery } from '../ops/changes';
import { conservationView } from '../ops/conservation';
import { page } from '../paging';
import { otherCall } from '../outbox/records';
import { serviceView } from '../service/seen-service';
import { refusedCall, refusedCallsQuery } from '../webhook/webhooks';
import { CHANGE, READ, type Route } from './route';
import { alarmPage, notificationsView, testNoticeBody, testNoticeView } from '../ops/notifications';

/** Operations: deliveries, queues, conservation check, API keys, audit log. */

const DELIVERY_COLUMNS = 'id kind state verdict towing_reference_id received_at verified';
const SECRET_NOTE = 'A secret is shown once. For a new secret: towhook key rotate <id>';

export const OPS_ROUTES = {
  listDeliveries: {
    ...READ,
    path: '/api/deliveries',
    summary: 'Webhook deliveries, newest first.',
    query: operator.deliveriesQuery,
    answer: operator.deliveryPage,
    command: 'delivery list',
    shows: DELIVERY_COLUMNS,
  },
  listOtherCalls: {
    ...READ,
    path: '/api/other-calls',
    summary:
      'JSON calls to the receiver on paths of no webhook, newest first. They are answered 200 and not processed.',
    query: operator.otherCallsQuery,
    answer: z.object({ items: z.array(otherCall) }),
    command: 'delivery other',
    shows: 'received_at path verified length',
  },
  listRefusedCalls: {
    ...READ,
    path: '/api/refused-calls',
    role: 'ops',
    summary:
      'Refused calls to the receiver of the last day, newest first, with what shows the cause and without values.',
    query: refusedCallsQuery,
    answer: z.object({ items: z.array(refusedCall) }),
    command: 'delivery refused',
    shows: 'received_at path http_status reason source size body_kind details.field details.rule',
  },
  readDelivery: {
    ...READ,
    path: '/api/deliveries/:delivery_id',
    summary: 'One delivery with its raw body and verdict.',
    answer: operator.deliveryDetail,
    command: 'delivery show <delivery_id>',
  },
  replayDelivery: {
    ...CHANGE,
    path: '/api/deliveries/:delivery_id/replay',
    role: 'ops',
    summary: 'Process a delivery once more. Doing it twice is doing it once.',
    body: operator.emptyBody,
    answer: operator.deliveryDetail,
    command: 'delivery replay <delivery_id>',
    shows: DELIVERY_COLUMNS,
  },
  listQueues: {
    ...READ,
    path: '/api/queues',
    summary: 'The queues: jobs waiting, active and failed within 24 hours, and the records due for work.',
    answer: z.array(operator.queueView),
    command: 'queue stats',
  },
  pauseQueue: {
    ...CHANGE,
    path: '/api/queues/:queue/pause',
    role: 'ops',
    summary: 'Let the workers of a queue rest. What is due waits; nothing is lost.',
    body: operator.resolveBody,
    answer: operator.queueView,
    command: 'queue pause <queue>',
  },
  resumeQueue: {
    ...CHANGE,
    path: '/api/queues/:queue/resume',
    role: 'ops',
    summary: 'Let the workers of a queue work again.',
    body: operator.resolveBody,
    answer: operator.queueView,
    command: 'queue resume <queue>',
  },
  readConservation: {
    ...READ,
    path: '/api/conservation',
    summary:
      'The states of everything that was acknowledged or recorded, from the last complete scan; `lost` must be 0.',
    answer: conservationView,
    command: 'conservation',
    shows: 'acknowledged finished waiting parked with_a_person lost repaired ended_at lost_names',
  },
  readService: {
    ...READ,
    path: '/api/service',
    summary:
      'The service as it was seen beside its document: fields and types of its messages, statuses and latencies of calls, and differences. Never a value.',
    answer: serviceView,
    command: 'service show',
    shows: 'operations.operation operations.calls operations.statuses.status operations.p50_ms operations.p95_ms',
  },
  listApiKeys: {
    ...READ,
    path: '/api/keys',
    role: 'ops',
    summary: 'The API keys; never the keys themselves.',
    answer: z.object({ items: z.array(operator.apiKeyView) }),
    command: 'key list',
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
    command: 'key create',
    note: SECRET_NOTE,
  },
  rotateApiKey: {
    ...CHANGE,
    path: '/api/keys/:key_id/rotate',
    role: 'ops',
    summary: 'Give an API key a new text, shown in this answer and never again. The old one stays valid for a while.',
    body: operator.rotateKeyBody,
    answer: operator.newApiKeyView,
    again: operator.apiKeyView,
    command: 'key rotate <key_id>',
    note: SECRET_NOTE,
  },
  revokeApiKey: {
    method: 'delete',
    path: '/api/keys/:key_id',
    role: 'ops',
    summary: 'End an API key at once.',
    status: 204,
    answer: z.null(),
    command: 'key revoke <key_id>',
  },
  listChanges: {
    ...READ,
    path: '/api/changes',
    summary:
      'What changed, in order, without personal data: every change of a tow, violation or delivery has the next `sequence` of it. 410 `cursor_expired` has the cursor of now as `next_cursor`.',
    query: changesQuery,
    answer: changesPage,
    command: 'change list',
    shows: 'at type subject.kind subject.id sequence cursor',
  },
  listAudit: {
    ...READ,
    path: '/api/audit',
    role: 'ops',
    summary:
      'What people did and is not archived yet, newest first. With a tow, a page may be empty while next_cursor is not null.',
    query: operator.auditQuery,
    answer: page(auditView),
    command: 'audit list',
    shows: 'at by role action on why',
  },
} as const satisfies Record<string, Route>;

/** Alarms and the notifications about them. */

export const NOTIFICATION_ROUTES = {
  listAlarms: {
    ...READ,
    path: '/api/alarms',
    summary: 'The alarms that hold now, the worst first, and when they were sent.',
    answer: alarmPage,
    command: 'alarm list',
    shows: 'severity since announced_at title',
  },
  readNotifications: {
    ...READ,
    path: '/api/notifications',
    role: 'ops',
    summary: 'Whether the channels of notifications are configured and work.',
    answer: notificationsView,
    command: 'notifications show',
  },
  testNotifications: {
    method: 'post',
    path: '/api/notifications/test',
    role: 'ops',
    summary: 'Send a test notice to all receivers of a channel now, and answer with what became of it.',
    body: testNoticeBody,
    status: 200,
    answer: testNoticeView,
    command: 'notifications test <channel>',
    succeeds: 'delivered',
  },
} as const satisfies Record<string, Route>;
