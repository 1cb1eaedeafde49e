import { ENTRY_KINDS } from '../domain/vocabulary';
import type { RedisFault } from '../domain/redis-settings';
import { isoTimestamp, MINUTE_MS } from '../domain/timestamp';
import { SYSTEM_TASKS, type OpsQueue, type OpsState } from './alarms';
import { conservationViewOf, type ConservationStore } from './conservation';
import type { TaskList } from './list-port';
import { sumsUntil } from './metric-series';
import type { MetricsStore, ProcessStore } from './metrics-port';
import type { NotificationStore } from './notification-port';
import type { SendingStore } from './ports';
import type { Spool } from './spool-port';
import type { WebhookHealth } from './webhook-health';

/** Where the state of the installation is read. */
export interface OpsStateTools {
  readonly sending: SendingStore;
  readonly queues: () => Promise<readonly OpsQueue[]>;
  readonly conservation: Pick<ConservationStore, 'lastScan'>;
  readonly processes: Pick<ProcessStore, 'list'>;
  readonly figures: MetricsStore;
  readonly tasks: Pick<TaskList, 'ids' | 'count'>;
  readonly spool: Pick<Spool, 'alarm'>;
  readonly webhookHealth: WebhookHealth;
  readonly notifications: Pick<NotificationStore, 'readChannels'>;
  readonly redisFaults: () => Promise<readonly RedisFault[]>;
}

/** Reads the state that alarms are derived from. `nowMs`: ms since the epoch. */
export type ReadOpsState = (nowMs: number) => Promise<OpsState>;

/** Reads it from the stores that all processes share. Rejects when Redis does. */
export function opsStateReader(tools: OpsStateTools): ReadOpsState {
  const { sending, queues, conservation, processes, figures, tasks, spool, webhookHealth, notifications } = tools;
  return async (nowMs) => {
    const [
      view,
      queueViews,
      scan,
      statuses,
      openTasks,
      attempts,
      alarm,
      webhookAlarms,
      { channels },
      systemTasks,
      redisFaults,
    ] = await Promise.all([
      sending.read(),
      queues(),
      conservation.lastScan(),
      processes.list(),
      tasks.count(),
      readAttempts(figures, nowMs),
      spool.alarm(),
      webhookHealth.alarms(),
      notifications.readChannels(),
      Promise.all(SYSTEM_TASKS.map(async (type) => ((await tasks.ids({ type }, 1)).length > 0 ? [type] : []))),
      tools.redisFaults(),
    ]);
    return {
      sending: view,
      queues: queueViews,
      conservation: conservationViewOf(scan),
      processes: statuses,
      recordsMissingSince: alarm && isoTimestamp(alarm.sinceMs),
      unsafeRedisSettings: redisFaults.map(({ setting }) => setting),
      webhookAlarms,
      noticeChannels: channels,
      systemTasks: systemTasks.flat(),
      openTasks,
      attempts,
      nowMs,
    };
  };
}

/** Attempts of the last five complete minutes, and how many failed. */
async function readAttempts(metrics: MetricsStore, nowMs: number): Promise<OpsState['attempts']> {
  const sum = await sumsUntil(metrics, Math.floor(nowMs / MINUTE_MS) * MINUTE_MS);
  const failed = sum('attempts.failed', 'attempts.refused', 'attempts.unknown');
  return { made: failed + sum(...ENTRY_KINDS.map((kind) => `delivered.${kind}` as const)), failed };
}
