import {
  notificationSettings,
  storedNotificationSettings,
  type AlarmPage,
  type NotificationsView,
} from '../contracts/notifications';
import { failedRules } from '../contracts/rules';
import { auditOf, type Actor } from '../domain/audit';
import {
  ADDRESS_LISTS,
  addressesIn,
  afterAttempt,
  shownAlarms,
  type Notice,
  type NoticeOutcome,
  type ObservedAlarm,
} from '../domain/notices';
import { invalid } from '../domain/refusal';
import {
  isAlarmKind,
  NOTICE_CHANNELS,
  quietHoursFaults,
  type NoticeChannel,
  type NoticeLanguage,
  type NotificationSettings,
} from '../domain/notification-settings';
import { isoOrNull } from '../domain/timestamp';
import type { ActionResult } from './action-result';
import type { NoticeSenders, NotificationStore } from './notification-port';
import type { IdempotencyRecord } from './transaction-port';

/** Settings of notifications, their state, and acknowledgements: what people see and do. */

export interface NotificationTools {
  readonly store: NotificationStore;
  readonly senders: NoticeSenders;
  /** The settings of the configuration. */
  readonly defaults: NotificationSettings;
  /** The alarms that hold now, the worst first, described in this language. */
  readonly observe: (language: NoticeLanguage) => Promise<readonly ObservedAlarm[]>;
}

/** The channels that are configured and have a receiver, be it of escalations alone. */
export function usedChannels(settings: NotificationSettings, senders: NoticeSenders): readonly NoticeChannel[] {
  const { webhook_url: url, mail_to: first, escalate_to: second } = settings;
  const hasReceiver = { webhook: url !== null, mail: first.length + second.length > 0 };
  return NOTICE_CHANNELS.filter((channel) => senders[channel].missing.length === 0 && hasReceiver[channel]);
}

/** The settings that count: those that a person set, else those of the configuration; and the state of each channel. */
export async function readNotifications({ store, senders, defaults }: NotificationTools): Promise<NotificationsView> {
  const { settings: own, state } = await store.read();
  const settings = own ?? defaults;
  const used = usedChannels(settings, senders);
  const channelOf = (channel: NoticeChannel) => {
    const health = state.channels[channel];
    return {
      missing: [...senders[channel].missing],
      is_used: used.includes(channel),
      waiting: state.notices.filter((notice) => notice.channel === channel).length,
      delivered_at: isoOrNull(health?.deliveredAtMs ?? null),
      failing_since: isoOrNull(health?.failingSinceMs ?? null),
      problem: health?.problem ?? null,
    };
  };
  return {
    settings: notificationSettings.parse(settings),
    source: own === null ? 'configuration' : 'person',
    channels: { webhook: channelOf('webhook'), mail: channelOf('mail') },
  };
}

/**
 * The alarms that hold now, with what notifications know of them. Their texts are English, like all of the API; those of
 * an alarm that only a later version knows are as it stored them.
 */
export async function listAlarms({ store, observe }: NotificationTools): Promise<AlarmPage> {
  const [observed, { state }] = await Promise.all([observe('en'), store.read()]);
  return {
    items: shownAlarms(observed, state.incidents).map(({ alarm: { kind, severity, title, todo }, incident }) => ({
      id: incident?.id ?? null,
      kind: kind.toString(),
      severity,
      title,
      what_to_do: todo,
      since: isoOrNull(incident?.seenAtMs ?? null),
      announced_at: isoOrNull(incident?.isAnnounced ? incident.startedAtMs : null),
      escalated_at: isoOrNull(incident?.escalatedAtMs ?? null),
      acknowledged_at: isoOrNull(incident?.acknowledged?.atMs ?? null),
      acknowledged_by: incident?.acknowledged?.by ?? null,
    })),
  };
}

interface NotificationRequest {
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** Settings to change; absent ones stay. */
type SettingsChanges = { readonly [Name in keyof NotificationSettings]?: NotificationSettings[Name] | undefined };

/**
 * Changes settings. Refuses if the result breaks the contract, also in a field that is not changed, or if the quiet
 * hours would miss an end. Muted kinds that only a later version knows stay muted. The audit names the changed fields
 * without their values.
 */
export async function changeNotificationSettings(
  { store, defaults }: NotificationTools,
  { changes, actor, idempotency }: NotificationRequest & { readonly changes: SettingsChanges },
): Promise<ActionResult> {
  return store.saveSettings(({ settings }) => {
    const before = settings ?? defaults;
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    const muted_alarms = [
      ...(changes.muted_alarms ?? before.muted_alarms.filter(isAlarmKind)),
      ...before.muted_alarms.filter((kind) => !isAlarmKind(kind)),
    ];
    const checked = storedNotificationSettings.safeParse({ ...before, ...Object.fromEntries(given), muted_alarms });
    if (!checked.success) return invalid(failedRules(checked.error));
    const after = checked.data;
    const faults = quietHoursFaults(after);
    if (faults.length > 0) return invalid(faults);
    const fields = differingFields(before, after);
    return { ok: true, settings: after, audit: auditOf(actor, 'notifications.changed', { on: {}, what: { fields } }) };
  }, idempotency);
}

function differingFields(before: NotificationSettings, after: NotificationSettings): string[] {
  const textOf = (settings: NotificationSettings) =>
    new Map(Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]));
  const was = textOf(before);
  return [...textOf(after)].flatMap(([name, value]) => (was.get(name) === value ? [] : [name]));
}

/** Takes the settings of the configuration again. */
export async function resetNotificationSettings(
  { store }: NotificationTools,
  { actor, idempotency }: NotificationRequest,
): Promise<ActionResult> {
  const audit = auditOf(actor, 'notifications.reset', { on: {} });
  return store.saveSettings(() => ({ ok: true, settings: null, audit }), idempotency);
}

/** Acknowledges an announced alarm, so that it is not escalated. */
export async function acknowledgeAlarm(
  { store }: NotificationTools,
  {
    id,
    reason,
    actor,
    idempotency,
  }: NotificationRequest & { readonly id: string; readonly reason: string | undefined },
): Promise<ActionResult> {
  const audit = auditOf(actor, 'alarm.acknowledged', { on: { alarm_id: id }, why: reason });
  return store.acknowledge(id, actor.name, { audit, idempotency });
}

/**
 * Sends one test notice to a channel now, with the settings in use. It is not repeated. Its outcome counts for the channel,
 * so that a test after a repair ends the alarm about it. A test that was sent is audited.
 */
export async function sendTestNotice(
  { store, senders, defaults }: NotificationTools,
  test: { readonly channel: NoticeChannel; readonly id: string; readonly nowMs: number; readonly actor: Actor },
): Promise<NoticeOutcome> {
  const { channel, id, nowMs, actor } = test;
  const settings = (await store.read()).settings ?? defaults;
  if (!usedChannels(settings, senders).includes(channel)) return { kind: 'failed', problem: 'not_configured' };
  const lists = channel === 'mail' ? ADDRESS_LISTS : [];
  const notice: Notice = {
    id: `${id}.test`,
    type: 'test',
    channel,
    lists,
    to: addressesIn(lists, settings),
    alarms: [],
    createdAtMs: nowMs,
    attempts: 0,
    nextAtMs: nowMs,
  };
  const outcome = await senders[channel].send(notice, settings);
  const audit = auditOf(actor, 'notifications.tested', { on: {}, what: { channel } });
  await store.advance(({ state }, atMs) => afterAttempt(state, notice, { outcome, nowMs: atMs, jitter: 0 }), audit);
  return outcome;
}
