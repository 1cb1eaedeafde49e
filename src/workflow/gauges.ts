import { HEARTBEAT_ROLES } from '../contracts/metrics';
import type { SendingView } from '../contracts/operator';
import { NOTICE_CHANNELS, type NoticeChannel } from '../domain/notification-settings';
import { TASK_TYPES } from '../domain/tasks';
import { QUEUE_NAMES } from '../domain/vocabulary';
import { WEBHOOK_PATHS } from '../domain/webhook-answers';
import type { Clock } from '../platform/clock';
import { readOnce, type MetricSample, type Metrics } from '../platform/metrics';
import { serviceDifference } from './called-service';
import { totalOf, type ConservationStore } from './conservation';
import type { ProcessStore } from './metrics-port';
import type { ChannelState, NotificationStore } from './notification-port';
import type { SendingStore, TaskStore } from './ports';
import { PROCESS_STATES, processStateOf } from './process-health';
import type { Spool } from './spool-port';
import { WEBHOOK_ALARMS, type WebhookAlarm, type WebhookHealth } from './webhook-health';
import type { WebhookAnswerStore } from './webhook-port';

/**
 * Gauges of what all processes share. Each process reads them from the stores when its metrics are read. Each has a row
 * in docs/operations/metrics.md.
 */

/** Gauges of the last complete conservation check. */
export function watchConservation(metrics: Metrics, conservation: Pick<ConservationStore, 'lastScan'>): void {
  metrics.watch({
    name: 'towhook_conservation',
    help: 'Acknowledged deliveries, violations and facts by state, as of the last complete conservation check; state="lost" must be 0.',
    labelNames: ['state'],
    async read() {
      const scan = await conservation.lastScan();
      return scan ? Object.entries(totalOf(scan)).map(([state, value]) => ({ labels: { state }, value })) : [];
    },
  });
  metrics.watch({
    name: 'towhook_newer_records',
    help: 'Records that need a later version of towhook, as of the last complete conservation check.',
    labelNames: [],
    async read() {
      const scan = await conservation.lastScan();
      return scan ? [{ labels: {}, value: scan.newer }] : [];
    },
  });
  metrics.watch({
    name: 'towhook_conservation_walk_age_seconds',
    help: 'Age of the last complete conservation check.',
    labelNames: [],
    async read() {
      const scan = await conservation.lastScan();
      return scan ? [{ labels: {}, value: scan.ageMs / 1000 }] : [];
    },
  });
}

/** Gauges of open circuits, of the records they block, of the token, and of the use of the rate limits. */
export function watchSending(metrics: Metrics, sending: SendingStore, clock: Pick<Clock, 'nowMs'>): void {
  const read = readOnce(() => sending.read());
  const watch = (
    name: string,
    help: string,
    labelNames: readonly string[],
    figures: (view: SendingView) => MetricSample[],
  ) => metrics.watch({ name, help, labelNames, read: async () => figures(await read()) });
  watch('towhook_gate_closed', 'Circuits: 1 = open, calls are blocked.', ['gate'], openCircuits);
  watch('towhook_held_tows', 'Tows and violations that an open circuit blocks.', [], ({ held }) => [
    { labels: {}, value: held },
  ]);
  watch('towhook_service_failures', 'Calls in a row that the service has failed.', [], ({ service }) => [
    { labels: {}, value: service.failures },
  ]);
  watch(
    'towhook_token_remaining_seconds',
    'Time until the access token ends; absent while there is none, or its end is unknown.',
    [],
    ({ token: { expires_at: endsAt } }) =>
      endsAt === null ? [] : [{ labels: {}, value: (Date.parse(endsAt) - clock.nowMs()) / 1000 }],
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
  watch('towhook_budget_waiting', 'Tows and violations that wait for a rate limit permit.', [], ({ budgets }) => [
    { labels: {}, value: budgets.reduce((total, { waiting }) => total + waiting, 0) },
  ]);
}

function openCircuits({ mode, connection, service, operations }: SendingView): MetricSample[] {
  return [
    { labels: { gate: 'connection' }, value: connection.state === 'broken' ? 1 : 0 },
    { labels: { gate: 'outage' }, value: service.state === 'down' ? 1 : 0 },
    { labels: { gate: 'shadow' }, value: mode.state === 'shadow' ? 1 : 0 },
    ...operations.map(({ operation, state }) => ({
      labels: { gate: `paused_${operation}` },
      value: state === 'paused' ? 1 : 0,
    })),
  ];
}

/** A gauge of the alarm that Redis lacks the records of a disk that was in use. */
export function watchSpool(metrics: Metrics, spool: Pick<Spool, 'alarm'>): void {
  metrics.watch({
    name: 'towhook_spool_records_missing',
    help: 'Whether Redis lacks the records of a disk that was in use: 1 = they are missing.',
    labelNames: [],
    read: async () => [{ labels: {}, value: (await spool.alarm()) === null ? 0 : 1 }],
  });
}

/** A gauge per alarm about webhooks, and the age of the last accepted one. */
export function watchWebhooks(
  metrics: Metrics,
  { health, answers }: { health: WebhookHealth; answers: Pick<WebhookAnswerStore, 'read'> },
): void {
  metrics.watch({
    name: 'towhook_webhook_alarm',
    help: 'Alarms about webhooks: 1 = it holds; webhooksRefused by kind of webhook (other: another address).',
    labelNames: ['alarm', 'kind'],
    async read() {
      const alarms = await health.alarms();
      const valueOf = (holds: (alarm: WebhookAlarm) => boolean) => (alarms.some(holds) ? 1 : 0);
      return WEBHOOK_ALARMS.flatMap((alarm): MetricSample[] => {
        if (alarm !== 'webhooksRefused') return [{ labels: { alarm }, value: valueOf(({ kind }) => kind === alarm) }];
        return WEBHOOK_PATHS.map((kind) => ({
          labels: { alarm, kind },
          value: valueOf((each) => each.kind === alarm && each.path === kind),
        }));
      });
    },
  });
  metrics.watch({
    name: 'towhook_webhook_silence_seconds',
    help: 'Time since a call was last accepted, by kind of webhook; absent before the first.',
    labelNames: ['kind'],
    async read() {
      const { byPath, readAtMs } = await answers.read();
      return WEBHOOK_PATHS.flatMap((kind) => {
        const { acceptedAtMs } = byPath[kind];
        return acceptedAtMs === null ? [] : [{ labels: { kind }, value: (readAtMs - acceptedAtMs) / 1000 }];
      });
    },
  });
}

/** Gauges of the channels that notices about alarms are delivered to. */
export function watchNotices(
  metrics: Metrics,
  notifications: Pick<NotificationStore, 'readChannels'>,
  clock: Pick<Clock, 'nowMs'>,
): void {
  const state = readOnce(() => notifications.readChannels());
  const watch = (name: string, help: string, sinceMs: (channel: NoticeChannel, known: ChannelState) => number | null) =>
    metrics.watch({
      name,
      help,
      labelNames: ['channel'],
      async read() {
        const known = await state();
        return NOTICE_CHANNELS.flatMap((channel) => {
          const fromMs = sinceMs(channel, known);
          return fromMs === null ? [] : [{ labels: { channel }, value: (clock.nowMs() - fromMs) / 1000 }];
        });
      },
    });
  watch(
    'towhook_notice_failing_seconds',
    'Time for which all attempts of a channel have failed; absent while it works.',
    (channel, { channels }) => channels[channel]?.failingSinceMs ?? null,
  );
  watch(
    'towhook_notice_oldest_seconds',
    'Age of the oldest notice that is not delivered; absent without one.',
    (channel, { notices }) => {
      const own = notices.filter((notice) => notice.channel === channel).map(({ createdAtMs }) => createdAtMs);
      return own.length === 0 ? null : Math.min(...own);
    },
  );
}

/** Gauges of the open tasks of each type, and of the age of the oldest. */
export function watchTasks(
  metrics: Metrics,
  tasks: Pick<TaskStore, 'counts' | 'list'>,
  clock: Pick<Clock, 'nowMs'>,
): void {
  const counts = readOnce(() => tasks.counts());
  metrics.watch({
    name: 'towhook_open_tasks',
    help: 'Open tasks by type.',
    labelNames: ['type'],
    async read() {
      const { types } = await counts();
      // A task of a later version may have a type that this version does not know.
      return TASK_TYPES.map((type) => ({
        labels: { type },
        value: types.find((known) => known.type === type)?.count ?? 0,
      }));
    },
  });
  metrics.watch({
    name: 'towhook_open_tasks_oldest_seconds',
    help: 'Age of the oldest open task of each type; absent without one.',
    labelNames: ['type'],
    async read() {
      const { types } = await counts();
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
  });
}

/** Gauges of the processes by role and state, of those that lack a data key, and of stalled workers by queue. */
export function watchProcesses(metrics: Metrics, processes: Pick<ProcessStore, 'list'>): void {
  const list = readOnce(() => processes.list());
  metrics.watch({
    name: 'towhook_processes',
    help: 'Processes by role and state (ready, not_ready, silent = without heartbeat and not replaced).',
    labelNames: ['role', 'state'],
    async read() {
      const all = await list();
      const states = all.map((each) => ({ role: each.role, state: processStateOf(each, all) }));
      return HEARTBEAT_ROLES.flatMap((role) =>
        PROCESS_STATES.map((state) => ({
          labels: { role, state },
          value: states.filter((each) => each.role === role && each.state === state).length,
        })),
      );
    },
  });
  metrics.watch({
    name: 'towhook_processes_without_data_keys',
    help: 'Processes by role that lack a data key that stored data needs, or cannot use their file of data keys.',
    labelNames: ['role'],
    async read() {
      const lacking = (await list()).filter(({ isSilent, missingDataKeys }) => !isSilent && missingDataKeys.length > 0);
      return HEARTBEAT_ROLES.map((role) => ({
        labels: { role },
        value: lacking.filter((each) => each.role === role).length,
      }));
    },
  });
  metrics.watch({
    name: 'towhook_clock_offset_seconds',
    help: 'Largest difference between the clock of a process and that of Redis, by role; 0 below 30 s.',
    labelNames: ['role'],
    async read() {
      const live = (await list()).filter(({ isSilent }) => !isSilent);
      return HEARTBEAT_ROLES.map((role) => {
        const offsets = live.filter((each) => each.role === role).map((each) => Math.abs(each.clockOffsetSeconds));
        return { labels: { role }, value: Math.max(0, ...offsets) };
      });
    },
  });
  metrics.watch({
    name: 'towhook_services_differ',
    help: 'Whether live processes call different services: 1 = they do.',
    labelNames: [],
    read: async () => [{ labels: {}, value: serviceDifference(await list()) === null ? 0 : 1 }],
  });
  metrics.watch({
    name: 'towhook_stalled_workers',
    help: 'Workers that complete no job of a queue although work waits, by queue.',
    labelNames: ['queue'],
    async read() {
      const queues = (await list()).filter(({ isSilent }) => !isSilent).flatMap((each) => each.queues);
      return QUEUE_NAMES.map((queue) => ({
        labels: { queue },
        value: queues.filter(({ name, isStalled }) => name === queue && isStalled).length,
      }));
    },
  });
}
