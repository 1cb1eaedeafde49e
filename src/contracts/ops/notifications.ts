import { z } from 'zod';
import { NOTICE_TYPES, type NotificationState } from '../../domain/ops/notices';
import { ALARM_KINDS, ALARM_SEVERITIES, NOTICE_CHANNELS } from '../../domain/ops/notification-settings';
import { orUnknown } from '../../domain/stored';

/** Notifications of alarms: what is stored, and what the API shows. */

const alarm = {
  id: z.string(),
  kind: orUnknown(ALARM_KINDS),
  severity: z.enum(ALARM_SEVERITIES),
  title: z.string(),
  todo: z.string(),
  seenAtMs: z.number(),
};

const channelHealth = z.looseObject({
  deliveredAtMs: z.number().nullable(),
  failingSinceMs: z.number().nullable(),
  problem: z.string().nullable(),
});

const channels = z.object({ webhook: channelHealth.nullable(), mail: channelHealth.nullable() });

/** As stored in Redis. Times are Unix ms, Redis time. */
export const storedNotificationState: z.ZodType<NotificationState> = z.looseObject({
  incidents: z.array(
    z.looseObject({
      ...alarm,
      key: z.string(),
      failingChannel: z.enum(NOTICE_CHANNELS).nullable(),
      missingSinceMs: z.number().nullable(),
      startedAtMs: z.number().nullable(),
      remindedAtMs: z.number().nullable(),
    }),
  ),
  notices: z.array(
    z.looseObject({
      id: z.string(),
      type: z.enum(NOTICE_TYPES),
      channel: z.enum(NOTICE_CHANNELS),
      alarm: z.looseObject(alarm).nullable(),
      createdAtMs: z.number(),
      attempts: z.number(),
      nextAtMs: z.number(),
    }),
  ),
  channels,
});

/** The part of it that describes the channels. A version that cannot read an alarm can read it, too. */
export const storedChannelState = z.looseObject({
  channels,
  notices: z.array(z.looseObject({ channel: z.enum(NOTICE_CHANNELS), createdAtMs: z.number() })),
});

const channelView = z.object({
  /** What configuration lacks for this channel: names of variables. Empty if it can be used. */
  missing: z.array(z.string()),
  is_used: z.boolean(),
  /** Notices that are not delivered yet. */
  waiting: z.number(),
  delivered_at: z.string().nullable(),
  failing_since: z.string().nullable(),
  /** A code of the last attempt, such as `http_500`. */
  problem: z.string().nullable(),
});

/** An alarm that holds now. */
export const alarmView = z.object({
  kind: z.enum(ALARM_KINDS),
  severity: z.enum(ALARM_SEVERITIES),
  title: z.string(),
  what_to_do: z.string(),
  /** When a watch first saw it. */
  since: z.string().nullable(),
  /** When its start was sent. Null while it is too new, or is not sent. */
  announced_at: z.string().nullable(),
});
export const alarmPage = z.object({ items: z.array(alarmView) });
export type AlarmPage = z.infer<typeof alarmPage>;

export const notificationsView = z.object({ channels: z.object({ webhook: channelView, mail: channelView }) });
export type NotificationsView = z.infer<typeof notificationsView>;

export const testNoticeBody = z.strictObject({ channel: z.enum(NOTICE_CHANNELS) });
export const testNoticeView = z.object({
  delivered: z.boolean(),
  /** A code such as `http_500`; null if all went well. */
  problem: z.string().nullable(),
});
