import { GENERAL_CIRCUITS } from '../vocabulary';

/** The kinds of alarms, and who is notified of them. */

/** bad: work is stalled or lost. wait: work continues, but a person should look. */
export const ALARM_SEVERITIES = ['bad', 'wait'] as const;
export type AlarmSeverity = (typeof ALARM_SEVERITIES)[number];

/** The kinds of alarms of ops. */
export const ALARM_KINDS = [
  ...GENERAL_CIRCUITS,
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

export const NOTICE_LANGUAGES = ['en', 'ar'] as const;
export type NoticeLanguage = (typeof NOTICE_LANGUAGES)[number];

/** What the receiver of the webhook takes: the body of towhook, signed, or a message of a chat. */
export const NOTICE_FORMATS = ['standard', 'slack', 'teams', 'google-chat', 'discord'] as const;
export type NoticeFormat = (typeof NOTICE_FORMATS)[number];

export const NOTICE_CHANNELS = ['webhook', 'mail'] as const;
export type NoticeChannel = (typeof NOTICE_CHANNELS)[number];

/** Who is sent which alarms. Secrets and the mail server are not among them. */
export interface NotificationSettings {
  readonly language: NoticeLanguage;
  readonly webhookUrl: string | null;
  readonly mailTo: readonly string[];
  readonly severities: readonly AlarmSeverity[];
  readonly mutedAlarms: readonly AlarmKind[];
  /** An alarm that lasts is sent again after this time; 0 = never. */
  readonly remindMs: number;
}

export const NOTICE_ADDRESS_RULE = 'must be an http(s) address without user and fragment';

/** True for an address that notices can be posted to. Its path and query may be its password. */
export function isNoticeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + hash === '';
}

export const MAIL_ADDRESS_RULE = 'must be a mail address';
