import type { ConservationView } from '../../contracts/ops/conservation';
import type { HeartbeatRole } from '../../contracts/ops/metrics';
import type { BudgetName } from '../../contracts/service/operations';
import type { QueueView, SendingView } from '../../contracts/operator';
import { failingChannels } from '../../domain/ops/notices';
import type { AlarmKind, AlarmSeverity, NoticeChannel } from '../../domain/ops/notification-settings';
import type { RedisSetting } from '../../domain/ops/redis-settings';
import { isoTimestamp } from '../../domain/timestamp';
import { GENERAL_CIRCUITS, type EntryKind, type GeneralCircuit, type QueueName } from '../../domain/vocabulary';
import type { TaskType } from '../../domain/ops/tasks';
import { serviceDifference } from '../service/called-service';
import type { ProcessStatus } from './metrics-port';
import type { ChannelState } from './notifications';
import { isReplaced } from './metrics-port';
import { WEBHOOK_ALARMS, type WebhookAlarm } from '../webhook/webhook-health';

/** Alarms derived from the state, the worst first. */

export type Alarm =
  | Readonly<
      | { kind: 'connection'; refusesCredentials: boolean; since: string | null; nextTryAt: string | null }
      | { kind: 'outage'; since: string | null; nextTryAt: string | null }
      | { kind: 'shadow'; since: string | null }
      | { kind: 'paused'; operation: EntryKind; since: string | null; nextTryAt: string | null }
      | { kind: 'throttled'; budget: BudgetName; nextTryAt: string }
      /** `limit`: calls per minute. */
      | { kind: 'budgetBacklog'; budget: BudgetName; waiting: number; limit: number }
      | { kind: 'failing'; failures: number }
      | { kind: 'attemptsFail'; failed: number; made: number }
      | { kind: 'lost'; count: number }
      | { kind: 'recordsMissing'; since: string }
      | { kind: 'redisUnsafe'; setting: RedisSetting }
      | { kind: 'conservationCheckOld'; since: string | null }
      | { kind: 'noProcess'; role: NeededRole }
      | { kind: 'silent'; role: HeartbeatRole; host: string; since: string }
      | { kind: 'workerStalled'; queue: QueueName; host: string }
      | { kind: 'unready'; role: HeartbeatRole; host: string; checks: string }
      | { kind: 'dataKeysMissing'; role: HeartbeatRole; host: string; keys: string }
      | { kind: 'servicesDiffer'; variables: string; hosts: string }
      | { kind: 'queuePaused'; queue: QueueName }
      | { kind: 'backlogOld'; queue: QueueName; ageMs: number }
      | { kind: 'failedJobs'; queue: QueueName; count: number }
      | { kind: 'tasksOpen'; count: number }
      | { kind: 'reportOverdue'; since: string }
      | { kind: 'noticesFail'; channel: NoticeChannel; problem: string; since: string }
      | { kind: SystemTask }
    >
  | ClockAlarm
  | AlarmAboutWebhooks;

/** The clock of a process is ahead of that of Redis, or behind it. */
export interface ClockAlarm {
  readonly kind: 'clockOff';
  readonly role: HeartbeatRole;
  readonly host: string;
  readonly aheadSeconds: number;
}

/** `since` is null where no time is known. */
export type AlarmAboutWebhooks = WebhookAlarm & { readonly since: string | null };

/** The alarms of the circuits that block all calls. */
export function isAboutAllCalls(alarm: Alarm): alarm is Extract<Alarm, { kind: GeneralCircuit }> {
  return GENERAL_CIRCUITS.some((kind) => kind === alarm.kind);
}

export function isAboutWebhooks(alarm: Alarm): alarm is AlarmAboutWebhooks {
  return WEBHOOK_ALARMS.some((kind) => kind === alarm.kind);
}

/** The roles without which an installation does not work. */
const NEEDED_ROLES = ['worker', 'receiver', 'console'] as const;
type NeededRole = (typeof NEEDED_ROLES)[number];

/** Tasks about towhook itself instead of a tow. */
export const SYSTEM_TASKS = ['archive_failing', 'delivery_failing'] as const;
export type SystemTask = (typeof SYSTEM_TASKS)[number];

/** Types of tasks with an alarm of their own. */
export const TASKS_WITH_ALARM: readonly TaskType[] = [
  ...SYSTEM_TASKS,
  'connection',
  'outage',
  'operation_paused',
  'records_lost',
];

export interface AttemptCounts {
  readonly made: number;
  readonly failed: number;
}

/** A queue with a known name. */
export type OpsQueue = QueueView & { readonly name: QueueName };

/** The state of the installation, of all its processes. */
export interface OpsState {
  readonly sending: SendingView;
  readonly queues: readonly OpsQueue[];
  readonly conservation: ConservationView;
  readonly processes: readonly ProcessStatus[];
  /** Since when Redis lacks records of images on disk; null if complete. */
  readonly recordsMissingSince: string | null;
  /** Settings of Redis with which acknowledged data can be lost. */
  readonly unsafeRedisSettings: readonly RedisSetting[];
  readonly webhookAlarms: readonly WebhookAlarm[];
  /** How the last attempts of the channels of notifications ended. */
  readonly noticeChannels: ChannelState['channels'];
  /** Open system tasks. */
  readonly systemTasks: readonly SystemTask[];
  readonly openTasks: number;
  /** Those of them that no other alarm is about. */
  readonly tasksWithoutAlarm: number;
  /** Since when the oldest report or check of a vehicle waits that is overdue; null without one. */
  readonly overdueReportSince: string | null;
  /** Attempts of the last minutes, and how many failed. */
  readonly attempts: AttemptCounts & {
    /** Those of the newest of these minutes with an attempt. */
    readonly newest: AttemptCounts;
  };
  readonly nowMs: number;
}

/** What the service sends is processed within a minute; what has been due for longer is late. */
const LATE_AFTER_MS = 60_000;
/** A hundred thousand items are checked in two minutes. */
const SCAN_OLD_AFTER_MS = 15 * 60_000;

const CLOSED_BORNE_MS = 60_000;
/** What waits for a rate limit leaves within this time after a usual rush. It is less than OVERDUE_REPORT_MINUTES. */
const BUDGET_BACKLOG_BORNE_MINUTES = 10;
/** A working service may fail now and then; more failures in a row raise an alarm. */
export const FAILURES_BORNE = 3;
/** With fewer failed attempts half may fail by chance. */
const ATTEMPTS_FAILED_BORNE = 10;

/** The alarms that hold in this state, the worst first. */
export function alarmsOf(known: OpsState): readonly Alarm[] {
  const alarms = [
    ...ofConservation(known),
    ...(known.recordsMissingSince === null
      ? []
      : [{ kind: 'recordsMissing' as const, since: known.recordsMissingSince }]),
    ...known.unsafeRedisSettings.map((setting) => ({ kind: 'redisUnsafe' as const, setting })),
    ...known.webhookAlarms.map(ofWebhooks),
    ...ofSending(known.sending),
    ...ofBudgets(known),
    ...ofAttempts(known),
    ...ofProcesses(known.processes),
    ...known.queues.flatMap(ofQueue),
    ...ofOwedWork(known),
    ...ofNotices(known),
    ...known.systemTasks.map((kind) => ({ kind })),
  ];
  return alarms.toSorted((a, b) => RANK[severityOf(a)] - RANK[severityOf(b)]);
}

const RANK: Readonly<Record<AlarmSeverity, number>> = { bad: 0, wait: 1 };

/** What the severity of an alarm depends on. */
type RatedAlarm =
  | Pick<Extract<Alarm, { kind: 'webhooksRefused' }>, 'kind' | 'path'>
  | Pick<Extract<Alarm, { kind: 'unready' }>, 'kind' | 'checks'>
  | { readonly kind: Exclude<AlarmKind, 'webhooksRefused' | 'unready'> };

/** The fields that an alarm of a kind may have in its key. */
type KeyField<K extends AlarmKind, A = Alarm> = A extends { readonly kind: infer Kinds }
  ? K extends Kinds
    ? Exclude<keyof A, 'kind'>
    : never
  : never;

interface AlarmRule<K extends AlarmKind> {
  readonly severity: AlarmSeverity;
  /** The fields that name the alarm beside its kind. Incidents are stored by this key: it must not change. */
  readonly key: readonly KeyField<K>[];
}

/** The alerts of deploy/prometheus/alerts.yml have the same severity: `bad` is critical, `wait` a warning. */
const RULES: { readonly [K in AlarmKind]: AlarmRule<K> } = {
  connection: { severity: 'bad', key: [] },
  outage: { severity: 'bad', key: [] },
  shadow: { severity: 'wait', key: [] },
  paused: { severity: 'bad', key: ['operation'] },
  throttled: { severity: 'wait', key: ['budget'] },
  budgetBacklog: { severity: 'wait', key: ['budget'] },
  failing: { severity: 'wait', key: [] },
  attemptsFail: { severity: 'wait', key: [] },
  lost: { severity: 'bad', key: [] },
  recordsMissing: { severity: 'bad', key: [] },
  redisUnsafe: { severity: 'bad', key: ['setting'] },
  conservationCheckOld: { severity: 'wait', key: [] },
  noProcess: { severity: 'bad', key: ['role'] },
  silent: { severity: 'wait', key: ['role', 'host'] },
  workerStalled: { severity: 'bad', key: ['queue', 'host'] },
  unready: { severity: 'wait', key: ['role', 'host'] },
  dataKeysMissing: { severity: 'bad', key: ['role', 'host'] },
  // The records show as accepted what another service accepted.
  servicesDiffer: { severity: 'bad', key: [] },
  // Wrong times are sent to the service.
  clockOff: { severity: 'bad', key: ['role', 'host'] },
  queuePaused: { severity: 'wait', key: ['queue'] },
  backlogOld: { severity: 'bad', key: ['queue'] },
  failedJobs: { severity: 'wait', key: ['queue'] },
  tasksOpen: { severity: 'wait', key: [] },
  reportOverdue: { severity: 'wait', key: [] },
  webhooksRefused: { severity: 'bad', key: ['path'] },
  webhooksMostlyRefused: { severity: 'wait', key: [] },
  // Webhooks that do not arrive may be lost: the service may not repeat them for long.
  noWebhooks: { severity: 'bad', key: [] },
  webhookSecrets: { severity: 'wait', key: ['host'] },
  noticesFail: { severity: 'wait', key: ['channel'] },
  archive_failing: { severity: 'wait', key: [] },
  delivery_failing: { severity: 'wait', key: [] },
};

export function severityOf(alarm: RatedAlarm): AlarmSeverity {
  // Strangers look for other addresses, too.
  if (alarm.kind === 'webhooksRefused' && alarm.path === 'other') return 'wait';
  // Without Redis webhooks are answered 503, and nothing is recorded or sent.
  if (alarm.kind === 'unready' && alarm.checks.split(', ').includes('redis')) return 'bad';
  return RULES[alarm.kind].severity;
}

/** Names an alarm: the same one at a later time has the same key, with other counts and times. */
export function alarmKey(alarm: Alarm): string {
  const fields: Readonly<Record<string, unknown>> = { ...alarm };
  return [alarm.kind, ...RULES[alarm.kind].key.map((field) => String(fields[field]))].join(':');
}

/** The alarm if it holds. */
function when(holds: boolean, alarm: Alarm): readonly Alarm[] {
  return holds ? [alarm] : [];
}

function ofSending({ mode, connection, service, operations }: SendingView): Alarm[] {
  const { since, next_try_at: nextTryAt, refuses_credentials: refusesCredentials } = connection;
  return [
    ...when(mode.state === 'shadow', { kind: 'shadow', since: mode.since }),
    ...when(connection.state === 'broken', { kind: 'connection', refusesCredentials, since, nextTryAt }),
    ...when(service.state === 'down', { kind: 'outage', since: service.since, nextTryAt: service.next_try_at }),
    ...operations.flatMap(({ operation, state, since, next_try_at: nextTryAt }) =>
      when(state === 'paused', { kind: 'paused', operation, since, nextTryAt }),
    ),
  ];
}

/** Budgets that the service has closed for longer than a limit per minute does, and those with much waiting work. */
function ofBudgets({ sending: { budgets }, nowMs }: OpsState): Alarm[] {
  return budgets.flatMap(({ name: budget, closed_until: until, waiting, limit }): Alarm[] => {
    const isLate = limit > 0 && waiting > limit * BUDGET_BACKLOG_BORNE_MINUTES;
    const isClosed = (untilMs: number) => untilMs - nowMs > CLOSED_BORNE_MS;
    return [
      ...(until === null ? [] : when(isClosed(Date.parse(until)), { kind: 'throttled', budget, nextTryAt: until })),
      ...when(isLate, { kind: 'budgetBacklog', budget, waiting, limit }),
    ];
  });
}

function ofWebhooks(alarm: WebhookAlarm): Alarm {
  return { ...alarm, since: 'sinceMs' in alarm ? isoTimestamp(alarm.sinceMs) : null };
}

/** Most attempts fail although sending is not blocked. An outage and refusals have their own alarms. */
function ofAttempts({ sending: { service }, attempts: { made, failed, newest } }: OpsState): Alarm[] {
  if (service.state === 'down') return [];
  if (service.failures > FAILURES_BORNE) return [{ kind: 'failing', failures: service.failures }];
  const isMost = failed > ATTEMPTS_FAILED_BORNE && failed * 2 > made && newest.failed * 2 > newest.made;
  return isMost ? [{ kind: 'attemptsFail', failed, made }] : [];
}

/** What waits for a person, and a report that is not accepted while others may be. An outage is an alarm of its own. */
function ofOwedWork({ sending, tasksWithoutAlarm: count, overdueReportSince: since }: OpsState): Alarm[] {
  const { mode, connection, service } = sending;
  const isSending = mode.state === 'live' && connection.state !== 'broken' && service.state !== 'down';
  return [
    ...when(count > 0, { kind: 'tasksOpen', count }),
    ...(since === null ? [] : when(isSending, { kind: 'reportOverdue', since })),
  ];
}

function ofConservation({ conservation, nowMs }: OpsState): Alarm[] {
  const { lost, ended_at: endedAt } = conservation;
  if (lost > 0) return [{ kind: 'lost', count: lost }];
  // Before the first scan nothing is known; the worker alarms cover missing scans.
  const isOld = endedAt !== null && nowMs - Date.parse(endedAt) > SCAN_OLD_AFTER_MS;
  return isOld ? [{ kind: 'conservationCheckOld', since: endedAt }] : [];
}

function ofProcesses(processes: readonly ProcessStatus[]): Alarm[] {
  const missing = NEEDED_ROLES.filter(
    (needed) => !processes.some(({ role, isSilent }) => !isSilent && (role === needed || role === 'all')),
  );
  const difference = serviceDifference(processes);
  return [
    ...missing.map((role) => ({ kind: 'noProcess' as const, role })),
    ...(difference === null
      ? []
      : [{ kind: 'servicesDiffer' as const, variables: difference.variables.join(', '), hosts: difference.hosts }]),
    ...processes.flatMap((each) => ofProcess(each, processes)),
  ];
}

function ofProcess(status: ProcessStatus, all: readonly ProcessStatus[]): Alarm[] {
  const { role, hostName: host } = status;
  if (status.isSilent) {
    if (isReplaced(status, all)) return [];
    return [{ kind: 'silent', role, host, since: isoTimestamp(status.beatAtMs) }];
  }
  const keys = status.missingDataKeys.join(', ');
  const aheadSeconds = status.clockOffsetSeconds;
  const lacking: Alarm[] = [
    ...when(keys !== '', { kind: 'dataKeysMissing', role, host, keys }),
    ...when(aheadSeconds !== 0, { kind: 'clockOff', role, host, aheadSeconds }),
  ];
  const stalled = status.queues.filter(({ isStalled }) => isStalled);
  const isUnready = stalled.length === 0 && !status.isReady;
  return [
    ...lacking,
    ...stalled.map(({ name }) => ({ kind: 'workerStalled' as const, queue: name, host })),
    ...when(isUnready, { kind: 'unready', role, host, checks: status.problems.join(', ') }),
  ];
}

function ofNotices({ noticeChannels, nowMs }: OpsState): Alarm[] {
  return failingChannels(noticeChannels, nowMs).map(({ sinceMs, ...failing }) => ({
    kind: 'noticesFail' as const,
    since: isoTimestamp(sinceMs),
    ...failing,
  }));
}

function ofQueue({ name, paused, due, oldest_age_ms: ageMs, failed }: OpsQueue): Alarm[] {
  const isLate = due > 0 && ageMs > LATE_AFTER_MS;
  return [
    ...when(paused, { kind: 'queuePaused', queue: name }),
    // A paused queue is expected to be late.
    ...when(isLate && !paused, { kind: 'backlogOld', queue: name, ageMs }),
    ...when(failed > 0, { kind: 'failedJobs', queue: name, count: failed }),
  ];
}
