import { afterAttempt, evaluateAlarms, dueNotices, type Notice } from '../../domain/ops/notices';
import { NOTICE_CHANNELS, type NoticeLanguage } from '../../domain/ops/notification-settings';
import type { Clock } from '../../platform/clock';
import type { Log } from '../../platform/log/log';
import type { Metrics } from '../../platform/log/metrics';
import { repeat, within, type Repetition } from '../../platform/timers';
import { alarmsOf, alarmKey, severityOf, type Alarm } from './alarms';
import { usedChannels, type NotificationTools } from './notifications';
import type { ReadOpsState } from './ops-state';
import type { OwnedLock } from '../ports';

export interface AlarmWatchTools extends NotificationTools {
  readonly lock: { acquire(): Promise<OwnedLock | null> };
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'noticeAttempted'>;
}

const EVERY_MS = 5000;
/** Without a channel an alarm is only a change, and one look a minute is enough: it asks Redis 80 times. */
const LOOKS_WITHOUT_CHANNELS = 12;
/** Attempts of one run per channel: a run ends within the lifetime of the lock, and a broken channel delays no other. */
const ATTEMPTS_PER_CHANNEL = 5;
/** How long a stop waits for attempts. A notice whose outcome was not stored is sent again with the same id. */
const STOP_MS = 2000;

/**
 * Looks at the alarms every few seconds and sends the notices that they need. Of all processes with a watch, one works:
 * the owner of the lock. The lock only avoids work: notices are stored with the version of their record before they are
 * sent, so that another process continues where this one ended.
 */
export function watchAlarms(tools: AlarmWatchTools, everyMs = EVERY_MS): Repetition {
  let owned: OwnedLock | null = null;
  let looks = 0;
  const work = async () => {
    looks += 1;
    if (usedChannels(tools).length === 0 && looks % LOOKS_WITHOUT_CHANNELS !== 1) return;
    if (owned !== null && !(await owned.renew())) owned = null;
    owned ??= await tools.lock.acquire();
    if (owned !== null) await runWatch(tools);
  };
  const repetition = repeat({ name: 'notifications', everyMs, work, log: tools.log });
  return {
    async stop() {
      await within(STOP_MS, repetition.stop());
      // Otherwise the lock expires by itself.
      await owned?.release().catch(() => {});
    },
  };
}

/** One look at the alarms, and one attempt of each notice that is due. */
export async function runWatch(tools: Omit<AlarmWatchTools, 'lock'>): Promise<void> {
  const { store, settings, clock } = tools;
  const channels = usedChannels(tools);
  const observed = await tools.observe(channels.length === 0 ? null : settings.language);
  let dueAtMs = 0;
  const state = await store.advance((stored, nowMs) => {
    dueAtMs = nowMs;
    return evaluateAlarms(stored, { observed, settings, channels, nowMs, newId: () => clock.id() });
  });
  const due = dueNotices(state, dueAtMs);
  const chosen = NOTICE_CHANNELS.flatMap((name) =>
    due.filter(({ channel }) => channel === name).slice(0, ATTEMPTS_PER_CHANNEL),
  );
  await Promise.all(chosen.map((notice) => attempt(tools, notice)));
}

const NO_TEXT = { title: '', todo: '' };

/** Reads the alarms of ops for a watch. `textOf` describes one, without personal data. */
export function alarmObserver(tools: {
  readonly opsState: ReadOpsState;
  readonly textOf: (alarm: Alarm, language: NoticeLanguage, nowMs: number) => { title: string; todo: string };
  readonly clock: Clock;
}): NotificationTools['observe'] {
  return async (language) => {
    const nowMs = tools.clock.nowMs();
    return alarmsOf(await tools.opsState(nowMs)).map((alarm) => {
      const { title, todo } = language === null ? NO_TEXT : tools.textOf(alarm, language, nowMs);
      const failingChannel = alarm.kind === 'noticesFail' ? alarm.channel : null;
      return { key: alarmKey(alarm), kind: alarm.kind, severity: severityOf(alarm), title, todo, failingChannel };
    });
  };
}

/** One attempt. If the process ends before its outcome is stored, the notice is sent again with the same id. */
async function attempt(tools: Omit<AlarmWatchTools, 'lock'>, notice: Notice) {
  const { store, senders, settings, clock, log, metrics } = tools;
  const { id, type, channel, attempts } = notice;
  const outcome = await senders[channel].send(notice, settings);
  const about = { notice_id: id, type, channel, attempts: attempts + 1, problem: outcome.problem };
  const after = await store.advance((stored, nowMs) =>
    afterAttempt(stored, notice, { outcome, nowMs, jitter: clock.random() }),
  );
  const isKept = after.notices.some((each) => each.id === id && each.channel === channel);
  metrics.noticeAttempted(channel, outcome.kind);
  if (outcome.kind === 'delivered') log.info('notification.delivered', about);
  else if (isKept) log.warn('notification.failed', about);
  else log.error('notification.given_up', about);
}
