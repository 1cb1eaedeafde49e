import { HEARTBEAT_ROLES } from '../../contracts/ops/metrics';
import type { SendingView } from '../../contracts/operator';
import { NOTICE_CHANNELS, type NoticeChannel } from '../../domain/ops/notification-settings';
import { TASK_TYPES } from '../../domain/ops/tasks';
import { QUEUE_NAMES } from '../../domain/vocabulary';
import { WEBHOOK_PATHS } from '../../domain/webhook/webhook-answers';
import type { Clock } from '../../platform/clock';
import { sampleOf, secondsOf, watcher, type MetricSample, type Metrics } from '../../platform/log/metrics';
import { serviceDifference } from '../service/called-service';
import { totalOf, type ConservationStore } from './conservation';
import type { ProcessStore } from './metrics-port';
import type { NotificationStore } from './notifications';
import type { SendingStore, TaskStore } from '../ports';
import { PROCESS_STATES, processStateOf } from './metrics-port';
import type { Spool } from './spool-port';
import { WEBHOOK_ALARMS, type WebhookAlarm, type WebhookHealth } from '../webhook/webhook-health';
import type { WebhookAnswerStore } from '../webhook/webhook-port';

/**
 * Gauges of what all processes share. Each process reads them from the stores when its metrics are read. Each has a row
 * in docs/operations/metrics.md.
 */

/** Gauges of the last complete conservation check. */
export function watchConservation(metrics: Metrics, conservation: Pick<ConservationStore, 'lastScan'>): void {
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
}

/** Gauges of open circuits, of the records they block, of the token, and of the use of the rate limits. */
export function watchSending(metrics: Metrics, sending: SendingStore, clock: Pick<Clock, 'nowMs'>): void {
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
    ({ token: { expires_at: endsAt } }) => secondsOf(endsAt === null ? null : Date.parse(endsAt) - clock.nowMs()),
  );
  watch('towhook_budget_used', 'Calls of the last minute that count against a rate limit.', ['budget'], ({ budgets }) =>
    budgets.filter(({ limit }) => limit > 0).map(({ name, used }) => ({ labels: { budget: name }, value: used })),
  );
  watch('towhook_budget_limit', 'Calls per minute that a budget allows now.', ['budget'], ({ budgets }) =>
    budgets.filter(({ limit }) => limit > 0).map(({ name, limit }) => ({ labels: { budget: name }, value: limit })),
  );
  watch(
    'towhook_budget_closed',
    'Whether the service asked to make no call of a budget for now: 1 = it did.',
    ['budget'],
    ({ budgets }) =>
      budgets.map(({ name, closed_until }) => ({ labels: { budget: name }, value: closed_until === null ? 0 : 1 })),
  );
  watch(
    'towhook_budget_announced',
    'Calls per minute that the service announced last, by budget.',
    ['budget'],
    ({ budgets }) =>
      budgets.flatMap(({ name, announced_per_minute: limit }) =>
        limit === null ? [] : [{ labels: { budget: name }, value: limit }],
      ),
  );
  watch('towhook_budget_waiting', 'Tows and violations that wait for a rate limit permit.', ['budget'], ({ budgets }) =>
    budgets.map(({ name, waiting }) => ({ labels: { budget: name }, value: waiting })),
  );
}

function openCircuits({ mode, connection, service, operations }: SendingView): MetricSample[] {
  return [
    { labels: { circuit: 'connection' }, value: connection.state === 'broken' ? 1 : 0 },
    { labels: { circuit: 'outage' }, value: service.state === 'down' ? 1 : 0 },
    { labels: { circuit: 'shadow' }, value: mode.state === 'shadow' ? 1 : 0 },
    ...operations.map(({ operation, state }) => ({
      labels: { circuit: `paused_${operation}` },
      value: state === 'paused' ? 1 : 0,
    })),
  ];
}

/** A gauge of the alarm that Redis lacks the records of a disk that was in use. */
export function watchSpool(metrics: Metrics, spool: Pick<Spool, 'alarm'>): void {
  const watch = watcher(metrics, () => spool.alarm());
  watch(
    'towhook_spool_records_missing',
    'Whether Redis lacks the records of a disk that was in use: 1 = they are missing.',
    [],
    (alarm) => sampleOf(alarm === null ? 0 : 1),
  );
}

/** A gauge per alarm about webhooks, and the age of the last accepted one. */
export function watchWebhooks(
  metrics: Metrics,
  { health, answers }: { health: WebhookHealth; answers: Pick<WebhookAnswerStore, 'read'> },
): void {
  const watchAlarms = watcher(metrics, () => health.alarms());
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
  const watchAnswers = watcher(metrics, () => answers.read());
  watchAnswers(
    'towhook_webhook_silence_seconds',
    'Time since a call was last accepted, by kind of webhook; absent before the first.',
    ['kind'],
    ({ byPath, readAtMs }) =>
      WEBHOOK_PATHS.flatMap((kind) => {
        const { acceptedAtMs } = byPath[kind];
        return acceptedAtMs === null ? [] : [{ labels: { kind }, value: (readAtMs - acceptedAtMs) / 1000 }];
      }),
  );
}

/** Gauges of the channels that notices about alarms are delivered to. */
export function watchNotices(
  metrics: Metrics,
  notifications: Pick<NotificationStore, 'readChannels'>,
  clock: Pick<Clock, 'nowMs'>,
): void {
  const watch = watcher(metrics, () => notifications.readChannels());
  const ageSamples = (sinceMs: (channel: NoticeChannel) => number | null) =>
    NOTICE_CHANNELS.flatMap((channel) => {
      const fromMs = sinceMs(channel);
      return fromMs === null ? [] : [{ labels: { channel }, value: (clock.nowMs() - fromMs) / 1000 }];
    });
  watch(
    'towhook_notice_failing_seconds',
    'Time for which all attempts of a channel have failed; absent while it works.',
    ['channel'],
    ({ channels }) => ageSamples((channel) => channels[channel]?.failingSinceMs ?? null),
  );
  watch(
    'towhook_notice_oldest_seconds',
    'Age of the oldest notice that is not delivered; absent without one.',
    ['channel'],
    ({ notices }) =>
      ageSamples((channel) => {
        const own = notices.filter((notice) => notice.channel === channel).map(({ createdAtMs }) => createdAtMs);
        return own.length === 0 ? null : Math.min(...own);
      }),
  );
}

/** Gauges of the open tasks of each type, and of the age of the oldest. */
export function watchTasks(
  metrics: Metrics,
  tasks: Pick<TaskStore, 'counts' | 'list'>,
  clock: Pick<Clock, 'nowMs'>,
): void {
  const watch = watcher(metrics, () => tasks.counts());
  watch('towhook_open_tasks', 'Open tasks by type.', ['type'], ({ types }) =>
    // A task of a later version may have a type that this version does not know.
    TASK_TYPES.map((type) => ({ labels: { type }, value: types.find((known) => known.type === type)?.count ?? 0 })),
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
        return openedAt === undefined
          ? []
          : [{ labels: { type }, value: (clock.nowMs() - Date.parse(openedAt)) / 1000 }];
      });
      return (await Promise.all(ages)).flat();
    },
  );
}

/** Gauge of the oldest report or check that is not accepted in time. */
export function watchOverdueReport(
  metrics: Metrics,
  overdueReport: (nowMs: number) => Promise<number | null>,
  { nowMs }: Pick<Clock, 'nowMs'>,
): void {
  const watch = watcher(metrics, () => overdueReport(nowMs()));
  watch(
    'towhook_overdue_report_seconds',
    'Age of the oldest report or violation that is not accepted within OVERDUE_REPORT_MINUTES; 0 without one.',
    [],
    (sinceMs) => secondsOf(sinceMs === null ? 0 : nowMs() - sinceMs),
  );
}

/** Gauges of the processes by role and state, of those that lack a data key, and of stalled workers by queue. */
export function watchProcesses(metrics: Metrics, processes: Pick<ProcessStore, 'list'>): void {
  const watch = watcher(metrics, () => processes.list());
  watch(
    'towhook_processes',
    'Processes by role and state (ready, not_ready, silent = without heartbeat and not replaced).',
    ['role', 'state'],
    (all) => {
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
    (all) => {
      const lacking = all.filter(({ isSilent, missingDataKeys }) => !isSilent && missingDataKeys.length > 0);
      return HEARTBEAT_ROLES.map((role) => ({
        labels: { role },
        value: lacking.filter((each) => each.role === role).length,
      }));
    },
  );
  watch(
    'towhook_clock_offset_seconds',
    'Largest difference between the clock of a process and that of Redis, by role; 0 below 30 s.',
    ['role'],
    (all) => {
      const live = all.filter(({ isSilent }) => !isSilent);
      return HEARTBEAT_ROLES.map((role) => {
        const offsets = live.filter((each) => each.role === role).map((each) => Math.abs(each.clockOffsetSeconds));
        return { labels: { role }, value: Math.max(0, ...offsets) };
      });
    },
  );
  watch('towhook_services_differ', 'Whether live processes call different services: 1 = they do.', [], (all) =>
    sampleOf(serviceDifference(all) === null ? 0 : 1),
  );
  watch(
    'towhook_stalled_workers',
    'Workers that complete no job of a queue although work waits, by queue.',
    ['queue'],
    (all) => {
      const queues = all.filter(({ isSilent }) => !isSilent).flatMap((each) => each.queues);
      return QUEUE_NAMES.map((queue) => ({
        labels: { queue },
        value: queues.filter(({ name, isStalled }) => name === queue && isStalled).length,
      }));
    },
  );
}
