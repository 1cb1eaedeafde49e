import type { AlarmPage, NotificationsView } from '../../contracts/ops/notifications';
import { auditOf, type Actor, type AuditEntry } from '../../domain/ops/audit';
import {
  afterAttempt,
  type Notice,
  type NoticeOutcome,
  type ObservedAlarm,
  type NotificationState,
} from '../../domain/ops/notices';
import {
  NOTICE_CHANNELS,
  type NoticeChannel,
  type NoticeLanguage,
  type NotificationSettings,
} from '../../domain/ops/notification-settings';
import { isoOrNull } from '../../domain/timestamp';

/** What people see of notifications, and test notices. */

export interface NotificationTools {
  readonly store: NotificationStore;
  readonly senders: NoticeSenders;
  readonly settings: NotificationSettings;
  /** The alarms that hold now, the worst first, described in this language; null: without texts, which take memory. */
  readonly observe: (language: NoticeLanguage | null) => Promise<readonly ObservedAlarm[]>;
}

/** The channels that are configured and have a receiver. */
export function usedChannels({
  settings: { webhookUrl, mailTo },
  senders,
}: Pick<NotificationTools, 'settings' | 'senders'>): readonly NoticeChannel[] {
  const hasReceiver = { webhook: webhookUrl !== null, mail: mailTo.length > 0 };
  return NOTICE_CHANNELS.filter((channel) => senders[channel].missing.length === 0 && hasReceiver[channel]);
}

/** The state of each channel. */
export async function readNotifications(tools: NotificationTools): Promise<NotificationsView> {
  const { channels, notices } = await tools.store.readChannels();
  const used = usedChannels(tools);
  const channelOf = (channel: NoticeChannel) => {
    const health = channels[channel];
    return {
      missing: [...tools.senders[channel].missing],
      is_used: used.includes(channel),
      waiting: notices.filter((notice) => notice.channel === channel).length,
      delivered_at: isoOrNull(health?.deliveredAtMs ?? null),
      failing_since: isoOrNull(health?.failingSinceMs ?? null),
      problem: health?.problem ?? null,
    };
  };
  return { channels: { webhook: channelOf('webhook'), mail: channelOf('mail') } };
}

/** The alarms that hold now, with what notifications know of them. Their texts are English, like all of the API. */
export async function listAlarms(tools: NotificationTools): Promise<AlarmPage> {
  const { store, observe } = tools;
  const isAnnounced = usedChannels(tools).length > 0;
  const [observed, { incidents }] = await Promise.all([observe('en'), store.read()]);
  return {
    items: observed.map(({ key, kind, severity, title, todo }) => {
      const incident = incidents.find((known) => known.key === key);
      return {
        kind,
        severity,
        title,
        what_to_do: todo,
        since: isoOrNull(incident?.seenAtMs ?? null),
        announced_at: isoOrNull((isAnnounced ? incident?.startedAtMs : null) ?? null),
      };
    }),
  };
}

/**
 * Sends one test notice to a channel now. It is not repeated. Its outcome counts for the channel, so that a test after a
 * repair ends the alarm about it. A test that was sent is audited.
 */
export async function sendTestNotice(
  tools: NotificationTools,
  test: { readonly channel: NoticeChannel; readonly id: string; readonly nowMs: number; readonly actor: Actor },
): Promise<NoticeOutcome> {
  const { channel, id, nowMs, actor } = test;
  if (!usedChannels(tools).includes(channel)) return { kind: 'failed', problem: 'not_configured' };
  const times = { createdAtMs: nowMs, attempts: 0, nextAtMs: nowMs };
  const notice: Notice = { id: `${id}.test`, type: 'test', channel, alarm: null, ...times };
  const outcome = await tools.senders[channel].send(notice, tools.settings);
  const audit = auditOf(actor, 'notifications.tested', { on: {}, what: { channel } });
  await tools.store.advance((state, atMs) => afterAttempt(state, notice, { outcome, nowMs: atMs, jitter: 0 }), audit);
  return outcome;
}

/** What is known of the channels. */
export interface ChannelState {
  readonly channels: NotificationState['channels'];
  /** The notices that are not delivered yet. */
  readonly notices: readonly Pick<Notice, 'channel' | 'createdAtMs'>[];
}

/** One record: a change that was decided on another version is decided again. */
export interface NotificationStore {
  read(): Promise<NotificationState>;
  readChannels(): Promise<ChannelState>;
  /**
   * Changes the state; `nowMs` is Redis time. Writes nothing if the decision returns the same state, except the audit
   * entry of a person whose act this is.
   */
  advance(
    decide: (state: NotificationState, nowMs: number) => NotificationState,
    audit?: AuditEntry,
  ): Promise<NotificationState>;
}

/** One way to deliver notices. */
export interface NoticeSender {
  /** What the configuration lacks: names of variables. Empty if it can be used. */
  readonly missing: readonly string[];
  /** Makes one attempt, within a time limit. Never rejects. */
  send(notice: Notice, settings: NotificationSettings): Promise<NoticeOutcome>;
}

export type NoticeSenders = Readonly<Record<NoticeChannel, NoticeSender>>;
