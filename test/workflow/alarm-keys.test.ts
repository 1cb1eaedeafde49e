import { ALARM_KINDS, type AlarmKind } from '../../src/domain/ops/notification-settings';
import { alarmKey, severityOf, type Alarm } from '../../src/workflow/ops/alarms';

/** One alarm of each kind, by the key under which its incident is stored. */
const ALARMS: Readonly<Record<string, Alarm>> = {
  connection: { kind: 'connection', refusesCredentials: true, since: 'a', nextTryAt: 'b' },
  outage: { kind: 'outage', since: null, nextTryAt: null },
  shadow: { kind: 'shadow', since: 'a' },
  'paused:invoice': { kind: 'paused', operation: 'invoice', since: 'a', nextTryAt: 'b' },
  'throttled:tow': { kind: 'throttled', budget: 'tow', nextTryAt: 'a' },
  'budgetBacklog:violations': { kind: 'budgetBacklog', budget: 'violations', waiting: 201, limit: 20 },
  failing: { kind: 'failing', failures: 4 },
  attemptsFail: { kind: 'attemptsFail', failed: 3, made: 4 },
  lost: { kind: 'lost', count: 2 },
  recordsMissing: { kind: 'recordsMissing', since: 'a' },
  'redisUnsafe:maxmemory-policy': { kind: 'redisUnsafe', setting: 'maxmemory-policy' },
  conservationCheckOld: { kind: 'conservationCheckOld', since: 'a' },
  'noProcess:receiver': { kind: 'noProcess', role: 'receiver' },
  'silent:worker:host-1': { kind: 'silent', role: 'worker', host: 'host-1', since: 'a' },
  'workerStalled:reports:host-1': { kind: 'workerStalled', queue: 'reports', host: 'host-1' },
  'unready:worker:host-1': { kind: 'unready', role: 'worker', host: 'host-1', checks: 'spool' },
  'dataKeysMissing:worker:host-1': { kind: 'dataKeysMissing', role: 'worker', host: 'host-1', keys: '2026' },
  servicesDiffer: { kind: 'servicesDiffer', variables: 'A', hosts: 'host-1' },
  'clockOff:worker:host-1': { kind: 'clockOff', role: 'worker', host: 'host-1', aheadSeconds: 40 },
  'queuePaused:reports': { kind: 'queuePaused', queue: 'reports' },
  'backlogOld:reports': { kind: 'backlogOld', queue: 'reports', ageMs: 7 },
  'failedJobs:reports': { kind: 'failedJobs', queue: 'reports', count: 7 },
  tasksOpen: { kind: 'tasksOpen', count: 2 },
  reportOverdue: { kind: 'reportOverdue', since: 'a' },
  'webhooksRefused:tow_request': {
    kind: 'webhooksRefused',
    path: 'tow_request',
    count: 7,
    sinceMs: 8,
    reason: 'timestamp_off',
    behindSeconds: 9,
    isProxied: true,
    since: 'a',
  },
  webhooksMostlyRefused: {
    kind: 'webhooksMostlyRefused',
    refused: 7,
    made: 8,
    reason: 'body_changed',
    since: null,
  },
  noWebhooks: { kind: 'noWebhooks', sinceMs: 8, usualMs: 7, since: 'a' },
  'webhookSecrets:host-1': { kind: 'webhookSecrets', variables: ['A'], host: 'host-1', sinceMs: 8, since: 'a' },
  'noticesFail:mail': { kind: 'noticesFail', channel: 'mail', problem: 'refused', since: 'a' },
  archive_failing: { kind: 'archive_failing' },
  delivery_failing: { kind: 'delivery_failing' },
};

const BAD: readonly AlarmKind[] = [
  ...(['connection', 'outage', 'paused', 'lost', 'recordsMissing', 'redisUnsafe', 'noProcess'] as const),
  ...(['workerStalled', 'dataKeysMissing', 'servicesDiffer', 'clockOff', 'backlogOld', 'webhooksRefused'] as const),
  'noWebhooks',
];

test('names every kind of alarm as its incident is stored', () => {
  expect(Object.values(ALARMS).map(({ kind }) => kind)).toEqual(ALARM_KINDS);
  expect(Object.values(ALARMS).map(alarmKey)).toEqual(Object.keys(ALARMS));
});

test('rates every kind of alarm', () => {
  const bad = Object.values(ALARMS).filter((alarm) => severityOf(alarm) === 'bad');
  expect(bad.map(({ kind }) => kind).toSorted()).toEqual(BAD.toSorted());
});
