import { archiveBytes } from '../archive/files';
import type { HeartbeatRole } from '../contracts/ops/metrics';
import { isSevere, REDIS_SETTINGS } from '../domain/ops/redis-settings';
import { diskSpace } from '../platform/disk';
import { sampleOf, secondsOf, watcher, type Metrics } from '../platform/log/metrics';
import { describeProcess } from '../platform/process';
import { watchQueues } from '../queue/backlog';
import { createConservationStore } from '../store/ops/conservation';
import { readBackupAgeMs } from '../store/ops/backup-record';
import { overdueReportSince } from '../store/tow/count-overdue';
import { createNotificationStore } from '../store/ops/notification-record';
import { createProcessStore } from '../store/ops/processes';
import { readRedisState } from '../store/redis/redis-state';
import { createSendingStore } from '../store/service/sending';
import { createTaskStore } from '../store/ops/tasks';
import { readTokenAgeMs } from '../store/service/tokens';
import { createWebhookAnswerStore } from '../store/webhook/webhook-answers';
import {
  watchConservation,
  watchNotices,
  watchOverdueReport,
  watchProcesses,
  watchSending,
  watchSpool,
  watchTasks,
  watchWebhooks,
} from '../workflow/ops/gauges';
import type { Foundation } from './foundation';

type Watched = Pick<
  Foundation,
  'backlogOf' | 'clock' | 'config' | 'metrics' | 'queues' | 'redis' | 'redisSettings' | 'spool' | 'webhookHealth'
>;

/** The gauges that every role has. */
export function watchInstallation(parts: Watched): void {
  const { backlogOf, clock, config, metrics, queues, redis, spool, webhookHealth } = parts;
  watchConservation(metrics, createConservationStore(redis));
  watchSending(metrics, createSendingStore(redis, config.budgetsPerMinute), clock);
  watchSpool(metrics, spool);
  watchWebhooks(metrics, { health: webhookHealth, answers: createWebhookAnswerStore(redis) });
  watchQueues(metrics, queues, backlogOf);
  watchTasks(metrics, createTaskStore(redis), clock);
  const { reportMs } = config.rules.overdueAfter;
  watchOverdueReport(metrics, (nowMs) => overdueReportSince(redis, reportMs, nowMs), clock);
  watchProcesses(metrics, createProcessStore(redis));
  watchNotices(metrics, createNotificationStore(redis), clock);
  watchRedis(parts);
  const watchToken = watcher(metrics, () => readTokenAgeMs(redis));
  watchToken('towhook_token_age_seconds', 'Age of the access token; absent while there is none.', [], secondsOf);
  const watchBackup = watcher(metrics, () => readBackupAgeMs(redis));
  watchBackup(
    'towhook_backup_verified_age_seconds',
    'Age of the last backup that was verified; absent while there is none.',
    [],
    secondsOf,
  );
}

function watchRedis({ config, metrics, redis, redisSettings, clock }: Watched): void {
  const watch = watcher(metrics, () => readRedisState(redis, clock));
  watch(
    'towhook_redis_writable',
    'Whether Redis answers this process and takes writes: 1 = it does.',
    [],
    ({ isWritable }) => sampleOf(isWritable ? 1 : 0),
  );
  watch('towhook_redis_latency_seconds', 'Time of one round trip from this process to Redis.', [], ({ latencyMs }) =>
    secondsOf(latencyMs),
  );
  watch('towhook_redis_memory_bytes', 'Memory that Redis uses.', [], ({ memory }) =>
    sampleOf(memory && memory.usedBytes),
  );
  watch('towhook_redis_memory_limit_bytes', 'The setting maxmemory of Redis; 0 = no limit.', [], ({ memory }) =>
    sampleOf(memory && memory.limitBytes),
  );
  const watchSettings = watcher(metrics, () => redisSettings.read());
  watchSettings(
    'towhook_redis_unsafe',
    'Settings of Redis that can lose acknowledged data: 1 = unsafe; absent if it cannot be read.',
    ['setting'],
    ({ faults, unreadable }) => {
      const unsafe = faults.filter((fault) => isSevere(fault, config.redis)).map(({ setting }) => setting);
      return REDIS_SETTINGS.filter((setting) => !unreadable.includes(setting)).map((setting) => ({
        labels: { setting },
        value: unsafe.includes(setting) ? 1 : 0,
      }));
    },
  );
}

/** What a process is: one sample with the value 1. */
export function watchIdentity({ metrics, config }: Pick<Watched, 'metrics' | 'config'>, role: HeartbeatRole): void {
  const { version, nodeVersion } = describeProcess();
  const labels = { role, mode: config.service.mode, version, node_version: nodeVersion };
  metrics.watch({
    name: 'towhook_info',
    help: 'What this process is; always 1.',
    labelNames: Object.keys(labels),
    read: () => Promise.resolve([{ labels, value: 1 }]),
  });
}

/** A scrape waits no longer for the disk; Prometheus waits 10 s for a scrape by default. */
const DISK_LIMIT_MS = 2000;

/** The disk of DATA_DIR and the archive on it; absent while the folder is missing or the disk hangs. */
export function watchDisk(metrics: Metrics, dataDir: string, limitMs = DISK_LIMIT_MS): void {
  const watch = watcher(metrics, () => diskSpace(dataDir), limitMs);
  watch('towhook_disk_free_bytes', 'Space left on the disk of DATA_DIR.', [], ({ freeBytes }) => sampleOf(freeBytes));
  watch('towhook_disk_size_bytes', 'Size of the disk of DATA_DIR.', [], ({ sizeBytes }) => sampleOf(sizeBytes));
  const watchArchive = watcher(metrics, () => archiveBytes(dataDir), limitMs);
  watchArchive('towhook_archive_bytes', 'Size of all files of the archive.', [], sampleOf);
}
