import { ENTRY_KINDS } from '../../src/domain/vocabulary';
import { alarmsOf, severityOf, type OpsState } from '../../src/workflow/ops/alarms';
import type { ProcessStatus } from '../../src/workflow/ops/metrics-port';

const NOW = Date.parse('2026-11-21T03:00:00.000Z');
const SINCE = '2026-11-21T02:50:00.000Z';
const NEXT = '2026-11-21T03:01:00.000Z';

const NONE = { acknowledged: 0, finished: 0, waiting: 0, parked: 0, with_a_person: 0, lost: 0, repaired: 0 };
const WORKING = { state: 'working', since: null, next_try_at: null } as const;

function runningProcess(changes: Partial<ProcessStatus> = {}): ProcessStatus {
  return {
    id: 'p-1',
    mode: 'live',
    role: 'all',
    hostName: 'host-1',
    processId: 7,
    version: '0.1.0',
    schema: 1,
    nodeVersion: 'v20.0.0',
    startedAtMs: NOW - 3_600_000,
    beatAtMs: NOW - 1000,
    beatAgeMs: 1000,
    isSilent: false,
    isReady: true,
    problems: [],
    missingDataKeys: [],
    service: null,
    clockOffsetSeconds: 0,
    queues: [{ name: 'reports', lastTookAtMs: NOW - 2000, isStalled: false }],
    ...changes,
  };
}

/** A state without alarms, with these changes. */
function known(changes: Partial<OpsState> = {}): OpsState {
  return {
    sending: {
      mode: { state: 'live', since: null, switch: 'live' },
      connection: { ...WORKING, refuses_credentials: false },
      service: { ...WORKING, failures: 0 },
      operations: ENTRY_KINDS.map((operation) => ({
        operation,
        state: 'open',
        since: null,
        next_try_at: null,
      })),
      token: { state: 'valid', expires_at: NEXT },
      held: 0,
      budgets: [],
    },
    queues: [queue()],
    conservation: {
      ...NONE,
      lost_names: [],
      by_kind: { deliveries: NONE, reports: NONE, violations: NONE },
      started_at: SINCE,
      ended_at: SINCE,
      check_ms: 3,
    },
    processes: [runningProcess()],
    recordsMissingSince: null,
    unsafeRedisSettings: [],
    webhookAlarms: [],
    noticeChannels: { webhook: null, mail: null },
    systemTasks: [],
    openTasks: 0,
    tasksWithoutAlarm: 0,
    overdueReportSince: null,
    attempts: { made: 0, failed: 0, newest: { made: 0, failed: 0 } },
    nowMs: NOW,
    ...changes,
  };
}

function queue(changes: Partial<OpsState['queues'][number]> = {}): OpsState['queues'][number] {
  return { name: 'reports', waiting: 0, active: 0, failed: 0, due: 0, oldest_age_ms: 0, paused: false, ...changes };
}

const kindsOf = (changes: Partial<OpsState>) => alarmsOf(known(changes)).map(({ kind }) => kind);

test('raises no alarm in normal operation or before the first conservation check', () => {
  expect(alarmsOf(known())).toEqual([]);
  expect(kindsOf({ conservation: { ...known().conservation, started_at: null, ended_at: null } })).toEqual([]);
});

test('warns when the service keeps failing or most attempts fail', () => {
  const { sending } = known();
  const failing = (failures: number) => ({ sending: { ...sending, service: { ...sending.service, failures } } });
  expect(alarmsOf(known(failing(3)))).toEqual([]);
  expect(alarmsOf(known(failing(64)))).toEqual([{ kind: 'failing', failures: 64 }]);
  expect(severityOf({ kind: 'failing' })).toBe('wait');

  const newest = { made: 3, failed: 3 };
  expect(kindsOf({ attempts: { made: 8, failed: 8, newest } })).toEqual([]);
  expect(kindsOf({ attempts: { made: 500, failed: 120, newest } })).toEqual([]);
  expect(kindsOf({ attempts: { made: 130, failed: 120, newest } })).toEqual(['attemptsFail']);
});

test('ends the warning about attempts as soon as the newest ones pass', () => {
  expect(kindsOf({ attempts: { made: 45, failed: 39, newest: { made: 6, failed: 1 } } })).toEqual([]);
});

test('warns of open tasks, and of a report that is overdue while the service works', () => {
  const { sending } = known();
  expect(alarmsOf(known({ tasksWithoutAlarm: 2 }))).toEqual([{ kind: 'tasksOpen', count: 2 }]);
  expect(alarmsOf(known({ overdueReportSince: SINCE }))).toEqual([{ kind: 'reportOverdue', since: SINCE }]);
  const down = { ...sending, service: { ...sending.service, state: 'down' as const } };
  expect(kindsOf({ sending: down, overdueReportSince: SINCE })).toEqual(['outage']);
});

test('warns while the service has closed a budget for more than a minute', () => {
  const { sending } = known();
  const closedFor = (ms: number) => {
    const closed_until = new Date(NOW + ms).toISOString();
    const limits = { per_minute: 0, announced_per_minute: null, announced_at: null, limit: 0, used: 0, waiting: 3 };
    return { sending: { ...sending, budgets: [{ name: 'tow' as const, ...limits, closed_until }] } };
  };
  expect(alarmsOf(known(closedFor(5000)))).toEqual([]);
  const nextTryAt = new Date(NOW + 300_000).toISOString();
  expect(alarmsOf(known(closedFor(300_000)))).toEqual([{ kind: 'throttled', budget: 'tow', nextTryAt }]);
  expect(severityOf({ kind: 'throttled' })).toBe('wait');
});

test('warns when more work waits for a rate limit than leaves in ten minutes', () => {
  const { sending } = known();
  const waiting = (count: number, limit: number) => {
    const limits = { per_minute: limit, announced_per_minute: null, announced_at: null, used: limit };
    const budget = { name: 'violations' as const, ...limits, limit, waiting: count, closed_until: null };
    return { sending: { ...sending, budgets: [budget] } };
  };
  expect(alarmsOf(known(waiting(200, 20)))).toEqual([]);
  expect(alarmsOf(known(waiting(1, 0)))).toEqual([]);
  const alarm = { kind: 'budgetBacklog', budget: 'violations', waiting: 201, limit: 20 } as const;
  expect(alarmsOf(known(waiting(201, 20)))).toEqual([alarm]);
  expect(severityOf(alarm)).toBe('wait');
});

test('raises alarms for a broken connection, an outage and a paused operation with start and next attempt', () => {
  const broken = { since: SINCE, next_try_at: NEXT };
  const { sending } = known();
  const alarms = alarmsOf(
    known({
      sending: {
        ...sending,
        connection: { state: 'broken', refuses_credentials: false, ...broken },
        service: { state: 'down', failures: 9, ...broken },
        operations: [{ operation: 'invoice', state: 'paused', ...broken }],
      },
    }),
  );
  expect(alarms).toEqual([
    { kind: 'connection', refusesCredentials: false, since: SINCE, nextTryAt: NEXT },
    { kind: 'outage', since: SINCE, nextTryAt: NEXT },
    { kind: 'paused', operation: 'invoice', since: SINCE, nextTryAt: NEXT },
  ]);
});

test('lists lost work before other alarms and warns about an outdated conservation check', () => {
  const { conservation, sending } = known();
  const down = { ...sending, service: { ...sending.service, state: 'down' as const } };
  expect(kindsOf({ conservation: { ...conservation, lost: 2 }, sending: down })).toEqual(['lost', 'outage']);
  expect(kindsOf({ conservation: { ...conservation, ended_at: '2026-11-21T02:30:00.000Z' } })).toEqual([
    'conservationCheckOld',
  ]);
});

test('raises an alarm when Redis has no records of the disk of images', () => {
  const alarms = alarmsOf(known({ recordsMissingSince: SINCE }));
  expect(alarms).toEqual([{ kind: 'recordsMissing', since: SINCE }]);
  expect(alarms.map(severityOf)).toEqual(['bad']);
});

test.each([
  ['spool', 'wait'],
  ['redis', 'bad'],
  ['spool, redis', 'bad'],
])('rates a process that is not ready for %s as %s', (checks, severity) => {
  const unready = runningProcess({ isReady: false, problems: checks.split(', ') });
  expect(alarmsOf(known({ processes: [unready] })).map(severityOf)).toEqual([severity]);
});

test('raises a bad alarm for each setting with which Redis can lose acknowledged data', () => {
  const alarms = alarmsOf(known({ unsafeRedisSettings: ['appendonly', 'maxmemory-policy'] }));
  expect(alarms).toEqual([
    { kind: 'redisUnsafe', setting: 'appendonly' },
    { kind: 'redisUnsafe', setting: 'maxmemory-policy' },
  ]);
  expect(alarms.map(severityOf)).toEqual(['bad', 'bad']);
});

test('raises an alarm for a role without a running process', () => {
  expect(kindsOf({ processes: [] })).toEqual(['noProcess', 'noProcess', 'noProcess']);
  const roles = ['worker', 'receiver', 'console'] as const;
  for (const missing of roles) {
    const processes = roles.filter((role) => role !== missing).map((role) => runningProcess({ role }));
    expect(alarmsOf(known({ processes }))).toEqual([{ kind: 'noProcess', role: missing }]);
  }
});

test('raises an alarm for a silent process unless a process of its role started later', () => {
  const dead = runningProcess({ id: 'p-0', beatAtMs: NOW - 60_000, beatAgeMs: 60_000, isSilent: true });
  expect(kindsOf({ processes: [dead, runningProcess()] })).toEqual(['silent']);
  expect(kindsOf({ processes: [dead, runningProcess({ startedAtMs: NOW - 50_000 })] })).toEqual([]);
  const other = runningProcess({ id: 'p-2', role: 'console', startedAtMs: NOW - 50_000 });
  expect(kindsOf({ processes: [dead, runningProcess(), other] })).toEqual(['silent']);
});

test('raises an alarm for each live process that lacks a data key', () => {
  const lacking = { role: 'worker', missingDataKeys: ['2026-11', 'search'] } as const;
  const alarm = { kind: 'dataKeysMissing', role: 'worker', host: 'host-1', keys: '2026-11, search' } as const;
  expect(alarmsOf(known({ processes: [runningProcess(), runningProcess(lacking)] }))).toEqual([alarm]);
  expect(severityOf(alarm)).toBe('bad');
  const silent = runningProcess({ ...lacking, isSilent: true, beatAtMs: NOW - 60_000 });
  expect(kindsOf({ processes: [runningProcess(), silent] })).toEqual(['silent']);
});

test('ranks a stalled worker as more severe than a process that is not ready', () => {
  const stalled = runningProcess({
    queues: [{ name: 'violations', lastTookAtMs: null, isStalled: true }],
    isReady: false,
  });
  const unready = runningProcess({ isReady: false, problems: ['spool'] });
  const alarms = alarmsOf(known({ processes: [unready, stalled] }));
  expect(alarms).toEqual([
    { kind: 'workerStalled', queue: 'violations', host: 'host-1' },
    { kind: 'unready', role: 'all', host: 'host-1', checks: 'spool' },
  ]);
  expect(alarms.map(severityOf)).toEqual(['bad', 'wait']);
});

test('raises a backlog alarm for work due for more than a minute unless its queue is paused', () => {
  const late = queue({ due: 3, oldest_age_ms: 61_000 });
  expect(kindsOf({ queues: [late] })).toEqual(['backlogOld']);
  expect(kindsOf({ queues: [{ ...late, oldest_age_ms: 60_000 }] })).toEqual([]);
  expect(kindsOf({ queues: [{ ...late, paused: true }] })).toEqual(['queuePaused']);
});

test('raises alarms for permanently failed jobs and for open system tasks', () => {
  expect(kindsOf({ queues: [queue({ failed: 1 })], systemTasks: ['archive_failing'] })).toEqual([
    'failedJobs',
    'archive_failing',
  ]);
});
