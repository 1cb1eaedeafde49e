import { failingChannels } from '../domain/ops/notices';
import { isoTimestamp } from '../domain/timestamp';
import {
  LISTENER_GRACE_MS,
  listen,
  type Health,
  type Listener,
  type ListenerEvents,
  type ReadinessCheck,
} from '../platform/http';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { throttledLog } from '../platform/log/log-throttle';
import type { ListenerName } from '../platform/log/metrics';
import { isSettledWithin } from '../platform/timers';
import { unverifiedPaths } from '../receiver/secrets';
import { writability } from '../store/redis/connect';
import { createNotificationStore } from '../store/ops/notification-record';
import { UNREADABLE_PROBLEM } from '../store/redis/redis-settings';
import type { HeartbeatSender } from '../workflow/ops/heartbeat';
import type { SpoolState } from '../workflow/ops/spool-port';
import type { WebhookAlarm } from '../workflow/webhook/webhook-health';
import type { Foundation } from './foundation';

/** The health of a process: Redis takes writes, and all given checks pass. */
export function healthOf(foundation: Foundation, ...checks: readonly ReadinessCheck[]): Required<Health> {
  const { redisSettings, metrics } = foundation;
  return {
    async ready() {
      const redis = await redisCheck(foundation)();
      if (!redis.ready) return redis;
      const [safety, ...results] = await Promise.all([redisSettings.read(), ...checks.map((check) => check())]);
      const warnings = [
        ...safety.faults.map(({ setting, problem }) => `${setting} ${problem}`),
        ...safety.unreadable.map((setting) => `${setting} ${UNREADABLE_PROBLEM}`),
      ];
      const details = [redis.details, { redis_warnings: warnings }, ...results.map((result) => result.details)];
      return {
        ready: results.every(({ ready }) => ready),
        details: Object.fromEntries(details.flatMap((part) => Object.entries(part))),
      };
    },
    metrics: () => metrics.text(),
  };
}

/** The health that a public listener shows: whether Redis takes writes, without its settings. */
export function publicHealthOf(foundation: Pick<Foundation, 'redis' | 'redisSettings'>): Pick<Health, 'ready'> {
  return { ready: redisCheck(foundation) };
}

/** Whether Redis takes writes, and keeps them: a replica that takes writes loses them. */
export function redisCheck({ redis, redisSettings }: Pick<Foundation, 'redis' | 'redisSettings'>): ReadinessCheck {
  return async () => {
    const state = await writability(redis);
    if (state !== 'writable') return { ready: false, details: { redis: state } };
    if (redisSettings.isReplica()) return { ready: false, details: { redis: 'replica' } };
    return { ready: true, details: { redis: 'reachable' } };
  };
}

/**
 * Whether images can be stored and read here: DATA_DIR is writable and shared with the other processes. The alarm about
 * missing records is named in the details and makes no process unready. Logs the state of the disk when it changes.
 */
export function spoolCheck({ spool, troubleLog }: Pick<Foundation, 'spool' | 'troubleLog'>): ReadinessCheck {
  return spoolStateCheck(spool, () => spool.state(), changesOfSpool(troubleLog));
}

/** Like `spoolCheck`, but logs nothing, and reuses a state that is less than 10 s old instead of writing to the disk. */
export function recentSpoolCheck({ spool }: Pick<Foundation, 'spool'>): ReadinessCheck {
  return spoolStateCheck(spool, () => spool.recentState());
}

/** The limit of a check of the disk. A disk that hangs makes a process unready, and the answer names it. */
const SPOOL_LIMIT_MS = 2000;

function spoolStateCheck(
  spool: Foundation['spool'],
  read: () => Promise<SpoolState>,
  found = (_state: SpoolState, _problem: string | null): void => {},
): ReadinessCheck {
  return async () => {
    const reading = read();
    const answers = await isSettledWithin(SPOOL_LIMIT_MS, reading);
    const state = answers ? await reading : 'unusable';
    const problem = answers ? spool.problem() : SPOOL_HANGS;
    found(state, problem);
    const alarm = await spool.alarm();
    const details = alarm && {
      spool_alarm: 'records_missing',
      spool_alarm_since: isoTimestamp(alarm.sinceMs),
    };
    return {
      ready: state === 'shared',
      details: { spool: state, ...(problem === null ? {} : { spool_problem: problem }), ...details },
    };
  };
}

const SPOOL_HANGS = 'the disk of DATA_DIR/spool does not answer';
const SPOOL_FOREIGN = 'DATA_DIR is another disk than the one in use, or is not mounted: mount the disk of the others';

/** Logs the state of the disk at the first check that fails, and then when it changes. */
function changesOfSpool(log: Log): (state: SpoolState, problem: string | null) => void {
  let known: SpoolState = 'shared';
  return (state, problem) => {
    if (state === known) return;
    known = state;
    if (state === 'unusable') log.error('spool.unusable', { problem });
    else if (state === 'foreign') log.error('spool.foreign', { problem: SPOOL_FOREIGN });
    else log.info('spool.shared');
  };
}

/** Names on a private `/readyz` how far the clock is ahead of that of Redis if that is too far; always ready. */
export function clockCheck(heartbeat: Pick<HeartbeatSender, 'clockOffsetSeconds'>): ReadinessCheck {
  return () => {
    const seconds = heartbeat.clockOffsetSeconds();
    return Promise.resolve({ ready: true, details: seconds === 0 ? {} : { clock_offset_seconds: seconds } });
  };
}

/** Names on a private `/readyz` the channels of notifications that fail; always ready: the other channel and `/ops` work. */
export function noticesCheck({ redis, clock }: Pick<Foundation, 'redis' | 'clock'>): ReadinessCheck {
  const notifications = createNotificationStore(redis);
  return async () => {
    const known = await notifications.readChannels().catch(() => null);
    const failing = known === null ? [] : failingChannels(known.channels, clock.nowMs());
    const alarms = failing.map(({ sinceMs, ...each }) => ({ ...each, since: isoTimestamp(sinceMs) }));
    return { ready: true, details: alarms.length === 0 ? {} : { notification_alarms: alarms } };
  };
}

/** Names the unverified webhook paths and the alarms about webhooks on a private `/readyz`; always ready. */
export function webhookCheck({ config, webhookHealth }: Pick<Foundation, 'config' | 'webhookHealth'>): ReadinessCheck {
  const paths = unverifiedPaths(config);
  return async () => {
    const alarms = (await webhookHealth.alarms().catch(() => [])).map(alarmDetails);
    return {
      ready: true,
      details: {
        ...(paths.length > 0 ? { unverified_webhooks: paths } : {}),
        ...(alarms.length > 0 ? { webhook_alarms: alarms } : {}),
      },
    };
  };
}

function alarmDetails(alarm: WebhookAlarm): Readonly<Record<string, unknown>> {
  switch (alarm.kind) {
    case 'webhooksRefused': {
      const { path, count, reason } = alarm;
      return { alarm: 'refused', path, refused: count, reason, since: isoTimestamp(alarm.sinceMs) };
    }
    case 'webhooksMostlyRefused':
      return { alarm: 'mostly_refused', refused: alarm.refused, made: alarm.made, reason: alarm.reason };
    case 'webhookSecrets':
      return { alarm: 'secrets', variables: alarm.variables, host: alarm.host, since: isoTimestamp(alarm.sinceMs) };
    case 'noWebhooks':
      return { alarm: 'none_arrive', usual_interval_ms: Math.round(alarm.usualMs), since: isoTimestamp(alarm.sinceMs) };
  }
}

/** Starts the private listener of a receiver or worker: health and metrics only. */
export async function startOps(foundation: Foundation, health: Required<Health>): Promise<Listener> {
  const { config, log } = foundation;
  const listener = await listen(null, health, config.ops, {}, listenerEvents(foundation, 'ops'));
  addListener(foundation, 'ops', listener);
  log.info('ops.listening', { host: listener.host, port: listener.port });
  return listener;
}

/** Logs connections that a listener could not accept, and those that it closed because there were too many. */
export function listenerEvents(
  { clock, log, metrics, troubleLog }: Pick<Foundation, 'clock' | 'log' | 'metrics' | 'troubleLog'>,
  listener: ListenerName,
): ListenerEvents {
  const crowdedLog = throttledLog(log, { clock, by: ['reason', 'source'] });
  return {
    crowded({ reason, source }) {
      metrics.connectionClosed(listener, reason);
      crowdedLog.warn('listener.crowded', { listener, reason, source });
    },
    acceptFailed: (error) => troubleLog.error('listener.accept_failed', { ...errorFacts(error), stack: undefined }),
  };
}

/** Closes a listener with the process, after `beforeEnd`. Before that, it announces the end. */
export function addListener(
  { config, resources }: Pick<Foundation, 'config' | 'resources'>,
  name: string,
  listener: Listener,
  beforeEnd: () => void = () => {},
): void {
  const close = async () => {
    beforeEnd();
    await listener.stop(Math.min(config.stopGraceMs, LISTENER_GRACE_MS));
  };
  resources.add(name, listener, close, () => listener.announceEnd());
}
