import type { SeriesName } from '../../contracts/ops/metrics';
import { ENTRY_KINDS } from '../../domain/vocabulary';
import type { RedisFault } from '../../domain/ops/redis-settings';
import { isoOrNull, isoTimestamp, MINUTE_MS } from '../../domain/timestamp';
import { SYSTEM_TASKS, TASKS_WITH_ALARM, type AttemptCounts, type OpsQueue, type OpsState } from './alarms';
import { conservationViewOf, type ConservationStore } from './conservation';
import type { MetricsStore, ProcessStore } from './metrics-port';
import type { NotificationStore } from './notifications';
import type { SendingStore, TaskStore } from '../ports';
import type { Spool } from './spool-port';
import type { WebhookHealth } from '../webhook/webhook-health';
import type { WebhookAnswerStore } from '../webhook/webhook-port';

/** Where the state of the installation is read: the stores that all processes share. */
export interface InstallationStores {
  readonly sending: SendingStore;
  readonly queues: () => Promise<readonly OpsQueue[]>;
  readonly conservation: Pick<ConservationStore, 'lastScan'>;
  readonly processes: Pick<ProcessStore, 'list'>;
  readonly figures: MetricsStore;
  readonly tasks: Pick<TaskStore, 'counts' | 'list'>;
  /** When the oldest report or check that is overdue was recorded, ms since the epoch; null without one. */
  readonly overdueReport: (nowMs: number) => Promise<number | null>;
  readonly spool: Pick<Spool, 'alarm'>;
  readonly webhookAnswers: Pick<WebhookAnswerStore, 'read'>;
  readonly webhookHealth: WebhookHealth;
  readonly notifications: Pick<NotificationStore, 'readChannels'>;
  readonly redisFaults: () => Promise<readonly RedisFault[]>;
}

/** Reads the state that alarms are derived from. `nowMs`: ms since the epoch. */
export type ReadOpsState = (nowMs: number) => Promise<OpsState>;

/** Rejects when Redis does. */
export function opsStateReader(installation: InstallationStores): ReadOpsState {
  const { sending, queues, conservation, processes, figures, tasks, spool, webhookHealth, notifications } =
    installation;
  return async (nowMs) => {
    const [
      view,
      queueViews,
      scan,
      statuses,
      tasksByType,
      overdueSinceMs,
      attempts,
      alarm,
      webhookAlarms,
      { channels },
      redisFaults,
    ] = await Promise.all([
      sending.read(),
      queues(),
      conservation.lastScan(),
      processes.list(),
      tasks.counts(),
      installation.overdueReport(nowMs),
      readAttempts(figures, nowMs),
      spool.alarm(),
      webhookHealth.alarms(),
      notifications.readChannels(),
      installation.redisFaults(),
    ]);
    const ownAlarm = tasksByType.types.filter(({ type }) => TASKS_WITH_ALARM.some((known) => known === type));
    return {
      sending: view,
      queues: queueViews,
      conservation: conservationViewOf(scan),
      processes: statuses,
      recordsMissingSince: alarm && isoTimestamp(alarm.sinceMs),
      unsafeRedisSettings: redisFaults.map(({ setting }) => setting),
      webhookAlarms,
      noticeChannels: channels,
      systemTasks: SYSTEM_TASKS.filter((type) => tasksByType.types.some((open) => open.type === type)),
      openTasks: tasksByType.total,
      tasksWithoutAlarm: tasksByType.total - ownAlarm.reduce((sum, { count }) => sum + count, 0),
      overdueReportSince: isoOrNull(overdueSinceMs),
      attempts,
      nowMs,
    };
  };
}

const ATTEMPTS_MINUTES = 5;

/** Attempts of the last five complete minutes and of this one. */
async function readAttempts(metrics: MetricsStore, nowMs: number): Promise<OpsState['attempts']> {
  const toMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
  const fromMs = toMs - (ATTEMPTS_MINUTES + 1) * MINUTE_MS;
  const { lines, atMs } = await metrics.series({ fromMs, toMs, stepMs: MINUTE_MS });
  const sum = (at: number, ...names: readonly SeriesName[]) =>
    names.reduce((total, name) => total + (lines[name][at] ?? 0), 0);
  const minutes = atMs.map((_, at) => {
    const failed = sum(at, 'attempts.failed', 'attempts.refused', 'attempts.unknown');
    return { made: failed + sum(at, ...ENTRY_KINDS.map((kind) => `delivered.${kind}` as const)), failed };
  });
  const total = (name: keyof AttemptCounts) => minutes.reduce((counted, minute) => counted + minute[name], 0);
  const newest = minutes.findLast(({ made }) => made > 0) ?? { made: 0, failed: 0 };
  return { made: total('made'), failed: total('failed'), newest };
}
