import { z } from 'zod';
import { ADDRESS_LISTS, NOTICE_TYPES, type NotificationState } from '../domain/notices';
import {
  ALARM_KINDS,
  ALARM_SEVERITIES,
  isNoticeAddress,
  isTimeZone,
  NOTICE_ADDRESS_RULE,
  NOTICE_CHANNELS,
  NOTICE_LANGUAGES,
  NOTIFICATION_LIMITS,
  type NotificationSettings,
  MAIL_ADDRESS_RULE,
  TIME_ZONE_RULE,
} from '../domain/notification-settings';
import { orUnknown } from './stored';

/** Notifications of alarms: the settings of people, what is stored, and what the API shows. */

/** The address of a receiver of notifications. Its path and query may be its password. */
const noticeAddress = z
  .string()
  .trim()
  .max(NOTIFICATION_LIMITS.noticeAddressLength)
  .refine(isNoticeAddress, NOTICE_ADDRESS_RULE);

/** One address, without a name. */
const mailAddress = z.email({ error: MAIL_ADDRESS_RULE }).max(NOTIFICATION_LIMITS.mailAddressLength);

const timeZone = z.string().refine(isTimeZone, TIME_ZONE_RULE);
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00');
const addresses = z.array(mailAddress).max(NOTIFICATION_LIMITS.addresses);

const fields = {
  language: z.enum(NOTICE_LANGUAGES).describe('Language of the notices.'),
  webhook_url: noticeAddress.nullable().describe('Address that notices are posted to, signed; null for none.'),
  mail_to: addresses.describe('Mail addresses that get every notice.'),
  escalate_to: addresses.describe('Mail addresses that get alarms which are not acknowledged in time.'),
  escalate_after_minutes: z
    .number()
    .int()
    .min(0)
    .max(NOTIFICATION_LIMITS.escalateAfterMinutes)
    .describe('That time, in minutes; 0 means never.'),
  muted_alarms: z
    .array(z.enum(ALARM_KINDS))
    .max(NOTIFICATION_LIMITS.mutedAlarms)
    .describe('Kinds of alarms without notices.'),
  quiet_from: timeOfDay.nullable().describe('Start of the quiet hours, HH:MM; null for none.'),
  quiet_to: timeOfDay.nullable().describe('Their end. A window may include midnight.'),
  time_zone: timeZone.describe('Time zone of the quiet hours.'),
  quiet_severities: z
    .array(z.enum(ALARM_SEVERITIES))
    .max(NOTIFICATION_LIMITS.quietSeverities)
    .describe('Alarms that quiet hours hold back.'),
};

/** The settings as stored. Fields and muted kinds of other versions are kept. */
export const storedNotificationSettings: z.ZodType<NotificationSettings> = z.looseObject({
  ...fields,
  muted_alarms: z.array(orUnknown(ALARM_KINDS)),
});

/** The settings as the API shows them. */
export const notificationSettings = z.object({
  ...fields,
  muted_alarms: z
    .array(z.string())
    .describe('Kinds of alarms without notices. A later version of towhook may have muted others of its own.'),
});

/**
 * The fields to change. Absent fields stay as they are. An empty change is refused: the settings of the configuration
 * would no longer count.
 */
export const notificationSettingsBody = z
  .strictObject(z.object(fields).partial().shape)
  .refine((changes) => Object.keys(changes).length > 0, 'must have at least one field');

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
      // Alarms that were stored before channels had alarms are about none.
      failingChannel: z.enum(NOTICE_CHANNELS).nullable().default(null),
      missingSinceMs: z.number().nullable(),
      startedAtMs: z.number().nullable(),
      // Alarms that were stored before these fields existed had receivers, and kept their severity.
      isAnnounced: z.boolean().default(true),
      worseSinceMs: z.number().nullable().default(null),
      isHeldBack: z.boolean(),
      escalatedAtMs: z.number().nullable(),
      acknowledged: z.object({ by: z.string(), atMs: z.number() }).nullable(),
    }),
  ),
  notices: z.array(
    z.looseObject({
      id: z.string(),
      type: z.enum(NOTICE_TYPES),
      channel: z.enum(NOTICE_CHANNELS),
      // Notices that were stored before they had lists go to their addresses.
      lists: z.array(z.enum(ADDRESS_LISTS)).default([]),
      to: z.array(z.string()),
      alarms: z.array(z.looseObject(alarm)),
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
  /** To acknowledge it; null while no watch has seen it. */
  id: z.string().nullable(),
  kind: z.string().describe('A kind that `muted_alarms` can have, or one that only a later version of towhook knows.'),
  severity: z.enum(ALARM_SEVERITIES),
  title: z.string(),
  what_to_do: z.string(),
  /** When a watch first saw it. */
  since: z.string().nullable(),
  /** When its start was announced. Null while it is too new, held back by quiet hours, or without a receiver. */
  announced_at: z.string().nullable(),
  escalated_at: z.string().nullable(),
  acknowledged_at: z.string().nullable(),
  acknowledged_by: z.string().nullable(),
});
export const alarmPage = z.object({ items: z.array(alarmView) });
export type AlarmPage = z.infer<typeof alarmPage>;

export const notificationsView = z.object({
  settings: notificationSettings,
  /** Where the settings come from: the configuration, or a person who changed them. */
  source: z.enum(['configuration', 'person']),
  channels: z.object({ webhook: channelView, mail: channelView }),
});
export type NotificationsView = z.infer<typeof notificationsView>;

export const testNoticeBody = z.strictObject({ channel: z.enum(NOTICE_CHANNELS) });
export const testNoticeView = z.object({
  delivered: z.boolean(),
  /** A code such as `http_500`; null if all went well. */
  problem: z.string().nullable(),
});
