import type { FieldRule } from './refusal';
import type { OrUnknown } from './vocabulary';

/** Who is notified of which alarms, and when. */

/** bad: work is stalled or lost. wait: work continues, but a person should look. */
export const ALARM_SEVERITIES = ['bad', 'wait'] as const;
export type AlarmSeverity = (typeof ALARM_SEVERITIES)[number];

/** The kinds of alarms of ops. */
export const ALARM_KINDS = [
  'connection',
  'outage',
  'shadow',
  'paused',
  'throttled',
  'budgetBacklog',
  'failing',
  'attemptsFail',
  'lost',
  'recordsMissing',
  'redisUnsafe',
  'conservationCheckOld',
  'noProcess',
  'silent',
  'workerStalled',
  'unready',
  'dataKeysMissing',
  'servicesDiffer',
  'clockOff',
  'queuePaused',
  'backlogOld',
  'failedJobs',
  'tasksOpen',
  'reportOverdue',
  'webhooksRefused',
  'webhooksMostlyRefused',
  'noWebhooks',
  'webhookSecrets',
  'noticesFail',
  'archive_failing',
  'delivery_failing',
] as const;
export type AlarmKind = (typeof ALARM_KINDS)[number];

/** False for a stored kind of another version, which this version never observes. */
export function isAlarmKind(kind: OrUnknown<AlarmKind>): kind is AlarmKind {
  return ALARM_KINDS.some((known) => known === kind);
}

export const NOTICE_LANGUAGES = ['en', 'ar'] as const;
export type NoticeLanguage = (typeof NOTICE_LANGUAGES)[number];

export const NOTICE_CHANNELS = ['webhook', 'mail'] as const;
export type NoticeChannel = (typeof NOTICE_CHANNELS)[number];

/** The settings as the API has them. Secrets and the mail server are not among them. */
export interface NotificationSettings {
  readonly language: NoticeLanguage;
  readonly webhook_url: string | null;
  readonly mail_to: readonly string[];
  /** Gets the mails about alarms that are not acknowledged in time. */
  readonly escalate_to: readonly string[];
  /** 0 = never. */
  readonly escalate_after_minutes: number;
  readonly muted_alarms: readonly OrUnknown<AlarmKind>[];
  /** `HH:MM` in the time zone. Both or neither are null; null: no quiet hours. */
  readonly quiet_from: string | null;
  readonly quiet_to: string | null;
  readonly time_zone: string;
  /** What quiet hours hold back. */
  readonly quiet_severities: readonly AlarmSeverity[];
}

/** Upper limits of the settings. The variables and the API share them, so that each accepts what the other does. */
export const NOTIFICATION_LIMITS = {
  /** Characters of the address of a webhook. */
  noticeAddressLength: 2000,
  /** Characters of a mail address. */
  mailAddressLength: 254,
  /** Mail addresses of one list. */
  addresses: 20,
  escalateAfterMinutes: 1440,
  mutedAlarms: ALARM_KINDS.length,
  quietSeverities: ALARM_SEVERITIES.length,
} as const;

/** Whether quiet hours hold back notices of a severity at this time. A window may include midnight. */
export function isQuiet(settings: NotificationSettings, severity: AlarmSeverity, nowMs: number): boolean {
  const { quiet_from: from, quiet_to: to, time_zone: timeZone, quiet_severities: severities } = settings;
  if (from === null || to === null || !severities.includes(severity)) return false;
  const now = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(nowMs);
  return from <= to ? now >= from && now < to : now >= from || now < to;
}

/** Quiet hours have two different ends, or none: every end that makes them one-sided or empty, with the rule. */
export function quietHoursFaults({ quiet_from: from, quiet_to: to }: NotificationSettings): readonly FieldRule[] {
  if (from === null && to === null) return [];
  if (from === null) return [{ field: 'quiet_from', rule: QUIET_HOURS_ENDS_RULE }];
  if (to === null) return [{ field: 'quiet_to', rule: QUIET_HOURS_ENDS_RULE }];
  return from === to ? [{ field: 'quiet_to', rule: QUIET_HOURS_DIFFER_RULE }] : [];
}

const QUIET_HOURS_ENDS_RULE = 'is required: quiet hours have a start and an end';
const QUIET_HOURS_DIFFER_RULE = 'must differ from the start of the quiet hours';

/** True if the runtime knows the time zone, such as `Asia/Riyadh`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const NOTICE_ADDRESS_RULE = 'must be an http(s) address without user and fragment';

/** True for an address that notices can be posted to. Its path and query may be its password. */
export function isNoticeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + hash === '';
}

export const MAIL_ADDRESS_RULE = 'must be a mail address';
export const TIME_ZONE_RULE = 'must be a time zone such as Asia/Riyadh';
