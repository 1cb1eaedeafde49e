import { archiveBytes } from '../archive/files';
import type { HeartbeatRole } from '../contracts/ops/metrics';
import { isSevere, REDIS_SETTINGS } from '../domain/ops/redis-settings';
import { diskSpace } from '../platform/folders';
import { sampleOf, secondsOf, watcher, type Metrics } from '../platform/log/metrics';
import { describeProcess } from '../platform/process';
import { readBackupAgeMs } from '../store/ops/backup-record';
import { readRedisState } from '../store/redis/redis-settings';
import { createChangeReader } from '../store/ops/changes';
import { createSubscriptionStore } from '../store/ops/subscriptions';
import { readTokenAgeMs } from '../store/service/tokens';
import { lagMs } from '../workflow/ops/subscriptions';
import type { Foundation } from './foundation';

type Watched = Pick<Foundation, 'clock' | 'config' | 'metrics' | 'redis' | 'redisSettings'>;

/** Gauges of Redis, and of what lies in it for this machine alone. */
export function watchStore({ config, metrics, redis, redisSettings, clock }: Watched): void {
  const watchToken = watcher(metrics, () => readTokenAgeMs(redis));
  watchToken('towhook_token_age_seconds', 'Age of the access token; absent while there is none.', [], secondsOf);
  const watchBackup = watcher(metrics, () => readBackupAgeMs(redis));
  watchBackup(
    'towhook_backup_verified_age_seconds',
    'Age of the last backup that was verified; absent while there is none.',
    [],
    secondsOf,
  );
  const subscriptions = createSubscriptionStore(redis);
  const changes = createChangeReader(redis);
  const watchSubscriptions = watcher(metrics, async () => {
    const all = await subscriptions.list();
    return Promise.all(all.map(({ progress }) => lagMs({ changes }, progress, clock.nowMs())));
  });
  watchSubscriptions(
    'towhook_subscription_lag_seconds',
    'How long the oldest change has waited that a receiver of a subscription has not accepted; 0 when all were.',
    [],
    (lags) => secondsOf(Math.max(0, ...lags)),
  );
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
