import { STOPPED } from '../../domain/vocabulary';
import { HEARTBEAT_ROLES } from '../../contracts/ops/metrics';
import type { SendingView } from '../../contracts/operator';
import { NOTICE_CHANNELS, type NoticeChannel } from '../../domain/ops/notification-settings';
import { TASK_TYPES } from '../../domain/ops/tasks';
import { QUEUE_NAMES } from '../../domain/vocabulary';
import { WEBHOOK_PATHS } from '../../domain/webhook/webhook-answers';
import type { Clock } from '../../platform/clock';
import { sampleOf, secondsOf, watcher, type MetricSample, type Metrics } from '../../platform/log/metrics';
import { serviceDifference } from '../service/called-service';
import { WEBHOOK_ALARMS, type WebhookAlarm } from '../webhook/webhook-health';
import type { OpsQueue } from './alarms';
import { totalOf } from './conservation';
import { PROCESS_STATES, processStateOf } from './metrics-port';
import type { InstallationStores } from './ops-state';

/**
 * Gauges of what all processes share. Each process reads them from the stores when its metrics are read. Each has a row
 * in docs/operations/metrics.md.
 */
export function watchInstallation(
  metrics: Metrics,
  installation: InstallationStores,
  { nowMs }: Pick<Clock, 'nowMs'>,
): void {
  watchConservation(metrics, installation);
  watchSending(metrics, installation, nowMs);
  watchWebhooks(metrics, installation);
  watchNotices(metrics, installation, nowMs);
  watchTasks(metrics, installation, nowMs);
  watchProcesses(metrics, installation);
  watchQueues(metrics, installation);
}

/** One sample for each name; none where the value is not known. */
function samplesBy<N extends string>(
  label: string,
  names: readonly N[],
  valueOf: (name: N) => number | null,
): MetricSample[] {
  return names.flatMap((name) => {
    const value = valueOf(name);
    return value === null ? [] : [{ labels: { [label]: name }, value }];
  });
}

function watchConservation(metrics: Metrics, { conservation, spool }: InstallationStores): void {
  const watch = watcher(metrics, () => conservation.lastScan());
  watch(
    'towhook_conservation',
    'Acknowledged deliveries, violations and facts by state, as of the last complete conservation check; state="lost" must be 0.',
    ['state'],
    (scan) => (scan ? Object.entries(totalOf(scan)).map(([state, value]) => ({ labels: { state }, value })) : []),
  );
  watch('towhook_conservation_check_age_seconds', 'Age of the last complete conservation check.', [], (scan) =>
    secondsOf(scan && scan.ageMs),
  );
  const watchSpool = watcher(metrics, () => spool.alarm());
  watchSpool(
    'towhook_spool_records_missing',
    'Whether Redis lacks the records of a disk that was in use: 1 = they are missing.',
    [],
    (alarm) => sampleOf(alarm === null ? 0 : 1),
  );
}

/** Open circuits, the records they block, the token, and the use of the rate limits. */
function watchSending(metrics: Metrics, { sending }: InstallationStores, nowMs: () => number): void {
  const watch = watcher(metrics, () => sending.read());
  watch('towhook_circuit_open', 'Circuits: 1 = open, calls are blocked.', ['circuit'], openCircuits);
  watch('towhook_held_tows', 'Tows and violations that an open circuit blocks.', [], ({ held }) => sampleOf(held));
  watch(
    'towhook_service_failures',
    'Calls in a row that the service has failed; 0 once the last is 15 minutes old, unless an outage lasts.',
    [],
    ({ service }) => sampleOf(service.failures),
  );
  watch(
    'towhook_token_remaining_seconds',
    'Time until the access token ends; absent while there is none, or its end is unknown.',
    [],
    ({ token: { expires_at: endsAt } }) => secondsOf(endsAt === null ? null : Date.parse(endsAt) - nowMs()),
  );
  type Budget = SendingView['budgets'][number];
  const watchBudget = (name: string, help: string, valueOf: (budget: Budget) => number | null) =>
    watch(name, help, ['budget'], ({ budgets }) =>
      budgets.flatMap((budget) => samplesBy('budget', [budget.name], () => valueOf(budget))),
    );
  const ifLimited = ({ limit }: Budget, value: number) => (limit > 0 ? value : null);
  watchBudget('towhook_budget_used', 'Calls of the last minute that count against a rate limit.', (budget) =>
    ifLimited(budget, budget.used),
  );
  watchBudget('towhook_budget_limit', 'Calls per minute that a budget allows now.', (budget) =>
    ifLimited(budget, budget.limit),
  );
  watchBudget(
    'towhook_budget_closed',
    'Whether the service asked to make no call of a budget for now: 1 = it did.',
    ({ closed_until }) => (closed_until === null ? 0 : 1),
  );
  watchBudget(
    'towhook_budget_announced',
    'Calls per minute that the service announced last, by budget.',
    ({ announced_per_minute }) => announced_per_minute,
  );
  watchBudget(
    'towhook_budget_waiting',
    'Tows and violations that wait for a rate limit permit.',
    ({ waiting }) => waiting,
  );
}

function openCircuits({ mode, connection, service, operations }: SendingView): MetricSample[] {
  return [
    { labels: { circuit: 'connection' }, value: connection.state === 'broken' ? 1 : 0 },
    { labels: { circuit: 'outage' }, value: service.state === 'down' ? 1 : 0 },
    { labels: { circuit: STOPPED }, value: mode.state === 'live' ? 0 : 1 },
    ...operations.map(({ operation, state }) => ({
      labels: { circuit: `paused_${operation}` },
      value: state === 'paused' ? 1 : 0,
    })),
  ];
}

/** The alarms about webhooks, and the age of the last accepted one. */
function watchWebhooks(metrics: Metrics, { webhookHealth, webhookAnswers }: InstallationStores): void {
  const watchAlarms = watcher(metrics, () => webhookHealth.alarms());
  watchAlarms(
    'towhook_webhook_alarm',
    'Alarms about webhooks: 1 = it holds; webhooksRefused by kind of webhook (other: another address).',
    ['alarm', 'kind'],
    (alarms) => {
      const valueOf = (holds: (alarm: WebhookAlarm) => boolean) => (alarms.some(holds) ? 1 : 0);
      return WEBHOOK_ALARMS.flatMap((alarm): MetricSample[] => {
        if (alarm !== 'webhooksRefused') return [{ labels: { alarm }, value: valueOf(({ kind }) => kind === alarm) }];
        return WEBHOOK_PATHS.map((kind) => ({
          labels: { alarm, kind },
          value: valueOf((each) => each.kind === alarm && each.path === kind),
        }));
      });
    },
  );
  const watchAnswers = watcher(metrics, () => webhookAnswers.read());
  watchAnswers(
    'towhook_webhook_silence_seconds',
    'Time since a call was last accepted, by kind of webhook; absent before the first.',
    ['kind'],
    ({ byPath, readAtMs }) =>
      samplesBy('kind', WEBHOOK_PATHS, (kind) => {
        const { acceptedAtMs } = byPath[kind];
        return acceptedAtMs === null ? null : (readAtMs - acceptedAtMs) / 1000;
      }),
  );
}

/** The channels that notices about alarms are delivered to. */
function watchNotices(metrics: Metrics, { notifications }: InstallationStores, nowMs: () => number): void {
  const watch = watcher(metrics, () => notifications.readChannels());
  const ages = (sinceMs: (channel: NoticeChannel) => number | null) =>
    samplesBy('channel', NOTICE_CHANNELS, (channel) => {
      const fromMs = sinceMs(channel);
      return fromMs === null ? null : (nowMs() - fromMs) / 1000;
    });
  watch(
    'towhook_notice_failing_seconds',
    'Time for which all attempts of a channel have failed; absent while it works.',
    ['channel'],
    ({ channels }) => ages((channel) => channels[channel]?.failingSinceMs ?? null),
  );
  watch(
    'towhook_notice_oldest_seconds',
    'Age of the oldest notice that is not delivered; absent without one.',
    ['channel'],
    ({ notices }) =>
      ages((channel) => {
        const own = notices.filter((notice) => notice.channel === channel).map(({ createdAtMs }) => createdAtMs);
        return own.length === 0 ? null : Math.min(...own);
      }),
  );
}

/** The open tasks of each type, and the oldest work that is late. */
function watchTasks(metrics: Metrics, { tasks, overdueReport }: InstallationStores, nowMs: () => number): void {
  const watch = watcher(metrics, () => tasks.counts());
  watch('towhook_open_tasks', 'Open tasks by type.', ['type'], ({ types }) =>
    // A task of a later version may have a type that this version does not know.
    samplesBy('type', TASK_TYPES, (type) => types.find((known) => known.type === type)?.count ?? 0),
  );
  watch(
    'towhook_open_tasks_oldest_seconds',
    'Age of the oldest open task of each type; absent without one.',
    ['type'],
    async ({ types }) => {
      const open = TASK_TYPES.filter((type) => types.some((known) => known.type === type));
      const ages = open.map(async (type) => {
        const { items } = await tasks.list({ cursor: null, limit: 1, order: 'oldest', filter: { type } });
        const openedAt = items[0]?.opened_at;
        return samplesBy('type', [type], () => (openedAt ? (nowMs() - Date.parse(openedAt)) / 1000 : null));
      });
      return (await Promise.all(ages)).flat();
    },
  );
  const watchOverdue = watcher(metrics, () => overdueReport(nowMs()));
  watchOverdue(
    'towhook_overdue_report_seconds',
    'Age of the oldest report or violation that is not accepted within OVERDUE_REPORT_MINUTES; 0 without one.',
    [],
    (sinceMs) => secondsOf(sinceMs === null ? 0 : nowMs() - sinceMs),
  );
}

/** The processes by role and state, those that lack a data key, and stalled workers by queue. */
function watchProcesses(metrics: Metrics, { processes }: InstallationStores): void {
  const watch = watcher(metrics, async () => {
    const all = await processes.list();
    return { all, live: all.filter(({ isSilent }) => !isSilent) };
  });
  watch(
    'towhook_processes',
    'Processes by role and state (ready, not_ready, silent = without heartbeat and not replaced).',
    ['role', 'state'],
    ({ all }) => {
      const states = all.map((each) => ({ role: each.role, state: processStateOf(each, all) }));
      return HEARTBEAT_ROLES.flatMap((role) =>
        PROCESS_STATES.map((state) => ({
          labels: { role, state },
          value: states.filter((each) => each.role === role && each.state === state).length,
        })),
      );
    },
  );
  watch(
    'towhook_processes_without_data_keys',
    'Processes by role that lack a data key that stored data needs, or cannot use their file of data keys.',
    ['role'],
    ({ live }) =>
      samplesBy(
        'role',
        HEARTBEAT_ROLES,
        (role) => live.filter((each) => each.role === role && each.missingDataKeys.length > 0).length,
      ),
  );
  watch(
    'towhook_clock_offset_seconds',
    'Largest difference between the clock of a process and that of Redis, by role; 0 below 30 s.',
    ['role'],
    ({ live }) =>
      samplesBy('role', HEARTBEAT_ROLES, (role) => {
        const offsets = live.filter((each) => each.role === role).map((each) => Math.abs(each.clockOffsetSeconds));
        return Math.max(0, ...offsets);
      }),
  );
  watch('towhook_services_differ', 'Whether live processes call different services: 1 = they do.', [], ({ all }) =>
    sampleOf(serviceDifference(all) === null ? 0 : 1),
  );
  watch(
    'towhook_stalled_workers',
    'Workers that complete no job of a queue although work waits, by queue.',
    ['queue'],
    ({ live }) => {
      const queues = live.flatMap((each) => each.queues);
      return samplesBy(
        'queue',
        QUEUE_NAMES,
        (queue) => queues.filter(({ name, isStalled }) => name === queue && isStalled).length,
      );
    },
  );
}

function watchQueues(metrics: Metrics, { queues }: InstallationStores): void {
  const watch = watcher(metrics, queues);
  const watchEach = (name: string, help: string, valueOf: (queue: OpsQueue) => number) =>
    watch(name, help, ['queue'], (all) =>
      all.map((queue) => ({ labels: { queue: queue.name }, value: valueOf(queue) })),
    );
  watchEach('towhook_due', 'Records due for work now.', ({ due }) => due);
  watchEach(
    'towhook_due_oldest_seconds',
    'How long the oldest due record has been due.',
    ({ oldest_age_ms: ageMs }) => ageMs / 1000,
  );
  watchEach('towhook_queue_paused', 'Whether a queue is paused: 1 = paused.', ({ paused }) => (paused ? 1 : 0));
  watchEach(
    'towhook_failed_jobs',
    'Jobs that failed within 24 hours, by queue. A job handles failures itself, so this is a fault.',
    ({ failed }) => failed,
  );
}
