import { mkdir, writeFile } from 'node:fs/promises';
import { METHODS } from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import request from 'supertest';
import { archiveFileName, archiveFolder } from '../../src/archive/files';
import { ARCHIVED_TYPES } from '../../src/contracts/ops/archive';
import { HEARTBEAT_ROLES } from '../../src/contracts/ops/metrics';
import { BUDGET_NAMES } from '../../src/contracts/service/operations';
import { REDIS_SETTINGS } from '../../src/domain/ops/redis-settings';
import { NOTICE_CHANNELS } from '../../src/domain/ops/notification-settings';
import { archiveFailingTask, TASK_TYPES } from '../../src/domain/ops/tasks';
import { ENTRY_KINDS, QUEUE_NAMES, SERVICE_MODES, CIRCUIT_NAMES } from '../../src/domain/vocabulary';
import { WEBHOOK_OUTCOMES, WEBHOOK_PATHS } from '../../src/domain/webhook/webhook-answers';
import { systemClock } from '../../src/platform/clock';
import { createMetrics } from '../../src/platform/log/metrics';
import { silentLog } from '../../src/platform/log/log';
import { createLimitWatch } from '../../src/service/limit-watch';
import { createBudgets } from '../../src/store/service/budgets';
import { KEYS } from '../../src/store/keys';
import { createNotificationStore } from '../../src/store/ops/notification-record';
import { openGeneralTask } from '../../src/store/ops/tasks';
import { createTokenCache } from '../../src/store/service/tokens';
import { PROCESS_STATES } from '../../src/workflow/ops/metrics-port';
import { WEBHOOK_ALARMS } from '../../src/workflow/webhook/webhook-health';
import type { DeliveryVerdict } from '../../jobs/process-delivery';
import { PROCESS_SERIES, SERIES } from '../architecture/metrics-page';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { SIGNING_SECRET, startNotice } from '../support/notifications';
import { readMetricsText } from '../support/metrics-text';

/** With a channel in use, because the state of others is dropped. */
const app = useApp({
  role: 'all',
  environment: { NOTIFY_WEBHOOK_URL: 'http://127.0.0.1:1/alarms', NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET },
});

const VERDICTS: readonly DeliveryVerdict[] = [
  ...(['created', 'already_known', 'rival_kept', 'late', 'attached', 'parked', 'set_aside'] as const),
  ...(['differs', 'not_acted_on', 'settled_before', 'gone'] as const),
];
const STATUS = /^[1-5]\d\d$/;
const CONSERVATION_STATES = ['acknowledged', 'finished', 'waiting', 'parked', 'with_a_person', 'lost', 'repaired'];

/** All values that a label may have. A reference, plate, name or secret is in none of them. */
const BOUNDED: Readonly<Record<string, readonly string[] | RegExp>> = {
  kind: [...WEBHOOK_PATHS, ...ENTRY_KINDS, 'none'],
  status: STATUS,
  channel: NOTICE_CHANNELS,
  outcome: [...WEBHOOK_OUTCOMES, 'accepted', 'refused', 'retry', 'unknown', 'hold', 'delivered', 'failed'],
  verdict: VERDICTS,
  budget: BUDGET_NAMES,
  circuit: CIRCUIT_NAMES.map((name) => name.replace('.', '_')),
  queue: QUEUE_NAMES,
  type: [...TASK_TYPES, ...ARCHIVED_TYPES],
  alarm: WEBHOOK_ALARMS,
  state: [...PROCESS_STATES, ...CONSERVATION_STATES],
  role: HEARTBEAT_ROLES,
  mode: SERVICE_MODES,
  method: METHODS,
  reason: ['wrong', 'slowed', 'too_large', 'too_many', 'idle', 'dropped'],
  listener: ['receiver', 'console', 'ops'],
  setting: REDIS_SETTINGS,
  version: /^\d+\.\d+\.\d+$/,
  node_version: /^v\d+\.\d+\.\d+$/,
  le: /^(\d+(\.\d+)?|\+Inf)$/,
};

const isBounded = (label: string, value: string) => {
  const known = BOUNDED[label];
  return known instanceof RegExp ? known.test(value) : known?.includes(value) === true;
};

// The collectors of a process can be added once only.
beforeAll(() => app.foundation.metrics.watchProcess());

/**
 * Lets each series have a sample: some by what a process does, the others by what is stored or counted here. It can be
 * repeated: on a busy machine the process may just be connecting to Redis again.
 */
async function fillSeries(): Promise<void> {
  const { foundation } = app;
  const { metrics, redis, config } = foundation;
  await createTokenCache(redis, 'access').write({ token: 'secret-token', expiresAtMs: Date.now() + 3_600_000 });
  await app.redis.ask('HSET', KEYS.backup, 'taken_at', '1000', 'verified_at', '2000');
  await openGeneralTask(redis, archiveFailingTask('ENOSPC'));
  const announced = { isRefusal: true, askedMs: 60_000, perMinute: 60, remaining: null, resetInMs: null };
  await createBudgets(redis, config.budgetsPerMinute).observe('tow', announced);
  metrics.reportAttempted('started', 'accepted', { durationMs: 10, wasSent: true });
  metrics.reportDelivered('started', 10);
  metrics.callThrottled('tow');
  metrics.limitHeadersIgnored('tow');
  metrics.archived('tow', 1);
  metrics.noticeAttempted('webhook', 'failed');
  await createNotificationStore(redis).advance((state) => ({
    ...state,
    notices: [startNotice({ nextAtMs: Number.MAX_SAFE_INTEGER })],
    channels: {
      ...state.channels,
      webhook: { deliveredAtMs: null, failingSinceMs: systemClock.nowMs() - 60_000, problem: 'http_500' },
    },
  }));
  await request(app.consoleUrl).get('/api/tows').set('authorization', 'Bearer thk_secret-key').expect(401);
  await request(app.receiverUrl)
    .post('/tow-request?plate=secret-plate')
    .send({
      towing_reference_id: 'secret-tow',
      violation_reference_id: 'secret-violation',
      metadata: { id: 'secret-id', plate: 'secret-plate' },
    })
    .expect(200);
}

/** Reads `/metrics` until each of these series has a sample. */
async function textWith(isWanted: (name: string) => boolean): Promise<string> {
  return eventually(async () => {
    const { text } = await request(app.opsUrl).get('/metrics').expect(200);
    const wanted = readMetricsText(text).filter(({ name }) => isWanted(name));
    expect(wanted.filter(({ samples }) => samples.length === 0).map(({ name }) => name)).toEqual([]);
    return text;
  });
}

test('a process is woken to look at its event loop no more often than every 50 ms', async () => {
  const meanSeconds = await eventually(async () => {
    const { text } = await request(app.opsUrl).get('/metrics').expect(200);
    const series = readMetricsText(text).find(({ name }) => name === 'nodejs_eventloop_lag_mean_seconds');
    const value = series?.samples[0]?.value;
    // Not a number without a look since the last scrape.
    expect(value).toBeGreaterThan(0);
    return value;
  });

  expect(meanSeconds).toBeGreaterThan(0.045);
});

test('the metrics of a process are those of docs/operations/metrics.md, with bounded labels and no secret', async () => {
  await eventually(fillSeries);
  const text = await textWith((name) => name.startsWith('towhook_'));
  const found = readMetricsText(text);
  const ours = found.filter(({ name }) => name.startsWith('towhook_'));

  const described = ours.map(({ name, type, help, samples }) => {
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)).filter((label) => label !== 'le'));
    return { name, type, labels: [...labels].toSorted(), meaning: help };
  });
  const documented = SERIES.map((row) => ({ ...row, labels: row.labels.toSorted() }));
  const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name);
  expect(described.toSorted(byName)).toEqual(documented.toSorted(byName));
  expect(PROCESS_SERIES.length).toBeGreaterThan(3);
  expect(PROCESS_SERIES.filter((name) => !found.some((each) => each.name === name))).toEqual([]);

  const unbounded = ours.flatMap(({ name, samples }) =>
    samples.flatMap(({ labels }) =>
      Object.entries(labels).flatMap(([label, value]) =>
        isBounded(label, value) ? [] : [`${name}{${label}="${value}"}`],
      ),
    ),
  );
  expect(unbounded).toEqual([]);
  expect(text).not.toContain('secret');
});

test('the metrics show tasks, processes, token, backup, rate limits, Redis and archive as they are', async () => {
  const archive = archiveFolder(app.foundation.config.dataDir);
  await mkdir(archive, { recursive: true });
  await writeFile(join(archive, archiveFileName('2026-11-22', 1)), 'x'.repeat(17));
  await eventually(() => app.sendHeartbeat());
  await eventually(fillSeries);

  const text = await textWith((name) => name === 'towhook_webhook_silence_seconds');
  const samples = readMetricsText(text).flatMap((series) => series.samples);
  const valueOf = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    samples.find((sample) => sample.name === name && isDeepStrictEqual(sample.labels, labels))?.value;

  expect(valueOf('towhook_open_tasks', { type: 'archive_failing' })).toBe(1);
  expect(valueOf('towhook_open_tasks', { type: 'report_refused' })).toBe(0);
  expect(valueOf('towhook_open_tasks_oldest_seconds', { type: 'archive_failing' })).toBeLessThan(3600);
  expect(valueOf('towhook_open_tasks_oldest_seconds', { type: 'report_refused' })).toBeUndefined();
  expect(valueOf('towhook_processes', { role: 'all', state: 'ready' })).toBe(1);
  expect(valueOf('towhook_processes', { role: 'worker', state: 'ready' })).toBe(0);
  expect(valueOf('towhook_stalled_workers', { queue: 'reports' })).toBe(0);
  expect(valueOf('towhook_token_age_seconds')).toBeLessThan(3600);
  expect(valueOf('towhook_token_remaining_seconds')).toBeLessThanOrEqual(3600);
  expect(valueOf('towhook_backup_verified_age_seconds')).toBeGreaterThan(1e9);
  expect(valueOf('towhook_budget_limit', { budget: 'tow' })).toBe(60);
  expect(valueOf('towhook_budget_closed', { budget: 'tow' })).toBe(1);
  expect(valueOf('towhook_budget_waiting', { budget: 'tow' })).toBe(0);
  expect(valueOf('towhook_webhook_silence_seconds', { kind: 'tow_request' })).toBeLessThan(3600);
  expect(valueOf('towhook_redis_writable')).toBe(1);
  expect(valueOf('towhook_redis_memory_bytes')).toBeGreaterThan(100_000);
  expect(valueOf('towhook_archive_bytes')).toBe(17);
});

it('begins each counter of refused keys, notices, throttled calls and attempts at 0, so that the first burst counts', async () => {
  const fresh = createMetrics();
  createLimitWatch({
    budgets: createBudgets(app.foundation.redis, app.foundation.config.budgetsPerMinute),
    clock: systemClock,
    log: silentLog,
    metrics: fresh,
    followsHeaders: true,
  });
  const series = readMetricsText((await fresh.text()).text);
  const labelsOf = (wanted: string, label: string) =>
    new Set(
      series
        .flatMap(({ samples }) => samples)
        .filter(({ name }) => name === wanted)
        .map(({ labels }) => labels[label]),
    );
  expect(labelsOf('towhook_api_keys_refused_total', 'reason')).toEqual(new Set(['wrong', 'slowed']));
  expect(labelsOf('towhook_notice_attempts_total', 'channel')).toEqual(new Set(NOTICE_CHANNELS));
  expect(labelsOf('towhook_calls_throttled_total', 'budget')).toEqual(new Set(BUDGET_NAMES));
  expect(labelsOf('towhook_report_attempt_seconds_count', 'kind')).toEqual(new Set(ENTRY_KINDS));
});
