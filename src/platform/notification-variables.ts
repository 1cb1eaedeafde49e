import { z } from 'zod';
import {
  ALARM_KINDS,
  ALARM_SEVERITIES,
  isNoticeAddress,
  isTimeZone,
  MAIL_ADDRESS_RULE,
  NOTICE_ADDRESS_RULE,
  NOTICE_LANGUAGES,
  NOTIFICATION_LIMITS,
  TIME_ZONE_RULE,
  type NotificationSettings,
} from '../domain/notification-settings';
import { list, signingSecret, smtpAddress, wholeNumber, type Environment } from './variable-rules';

const filePath = z.string().min(1).optional();
const { mailAddressLength } = NOTIFICATION_LIMITS;
const mailAddress = z
  .email(MAIL_ADDRESS_RULE)
  .max(mailAddressLength, `must be mail addresses of at most ${mailAddressLength} characters`);
const mailAddresses = list.pipe(z.array(mailAddress).max(NOTIFICATION_LIMITS.addresses)).default([]);

/** The variables of notifications, like those of variables.ts. */
export const NOTIFICATION_VARIABLES = {
  NOTIFY_WEBHOOK_URL: z
    .string()
    .trim()
    .max(NOTIFICATION_LIMITS.noticeAddressLength)
    .refine(isNoticeAddress, NOTICE_ADDRESS_RULE)
    .optional()
    .describe(
      'Address that alarms are posted to, signed. This and the following settings can also be set on `/ops/notifications`, which then counts; secrets, the mail server and `NOTIFY_MAIL_FROM` cannot. See [Notifications](operations/notifications.md).',
    ),
  NOTIFY_WEBHOOK_SECRET: signingSecret
    .optional()
    .describe('The `whsec_…` secret that signs them. Required for the webhook.'),
  NOTIFY_WEBHOOK_SECRET_FILE: filePath.describe('File with `NOTIFY_WEBHOOK_SECRET`, instead of the variable.'),
  NOTIFY_SMTP_URL: smtpAddress
    .optional()
    .describe(
      'Mail server, such as `smtp://user:password@mail.example:587`. `smtps://` is TLS from the start. With a password, `smtp://` needs STARTTLS; without one, it uses it if the server offers it.',
    ),
  NOTIFY_SMTP_URL_FILE: filePath.describe('File with `NOTIFY_SMTP_URL`, instead of the variable.'),
  NOTIFY_SMTP_CA_FILE: filePath.describe(
    'PEM file with certificates of authorities that are trusted for the mail server besides the usual ones.',
  ),
  NOTIFY_MAIL_FROM: z.email(MAIL_ADDRESS_RULE).optional().describe('Sender of the mails. Required for mails.'),
  NOTIFY_MAIL_TO: mailAddresses.describe('Comma list of mail addresses that get every notice.'),
  NOTIFY_ESCALATE_TO: mailAddresses.describe(
    'Comma list of mail addresses that get alarms which are not acknowledged in time.',
  ),
  NOTIFY_ESCALATE_MINUTES: wholeNumber(
    z.int().min(0).max(NOTIFICATION_LIMITS.escalateAfterMinutes).default(15),
  ).describe('Minutes after which an alarm that is not acknowledged is escalated. 0 means never.'),
  NOTIFY_MUTED_ALARMS: list
    .pipe(z.array(z.enum(ALARM_KINDS)).max(NOTIFICATION_LIMITS.mutedAlarms))
    .default([])
    .describe('Comma list of kinds of alarms without notices: `'.concat(ALARM_KINDS.join('`, `'), '`.')),
  NOTIFY_QUIET_HOURS: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/, 'must be a window such as 22:00-06:00')
    .refine((text) => text.slice(0, 5) !== text.slice(6), 'must have two different ends')
    .optional()
    .describe('Hours without notices, such as `22:00-06:00`. What still holds at their end is sent in one summary.'),
  NOTIFY_QUIET_SEVERITIES: list
    .pipe(z.array(z.enum(ALARM_SEVERITIES)).max(NOTIFICATION_LIMITS.quietSeverities))
    .default(['wait'])
    .describe(
      'Comma list of severities without notices in these hours: `bad` (work is stalled or lost), `wait` (other alarms).',
    ),
  NOTIFY_TIME_ZONE: z
    .string()
    .refine(isTimeZone, TIME_ZONE_RULE)
    .default('Asia/Riyadh')
    .describe('Time zone of these hours.'),
  NOTIFY_LANGUAGE: z.enum(NOTICE_LANGUAGES).default('en').describe('Language of the notices.'),
};

type NotificationVariables = z.output<z.ZodObject<typeof NOTIFICATION_VARIABLES>> & {
  readonly CONSOLE_PUBLIC_URL?: string | undefined;
};

export function notificationConfig(env: NotificationVariables) {
  const { NOTIFY_SMTP_URL: smtpUrl, NOTIFY_MAIL_FROM: from, NOTIFY_SMTP_CA_FILE: caFile = null } = env;
  const [quietFrom = null, quietTo = null] = env.NOTIFY_QUIET_HOURS?.split('-') ?? [];
  return {
    webhookSecret: env.NOTIFY_WEBHOOK_SECRET ?? null,
    /** Address of the console, for links in notices. */
    consoleUrl: env.CONSOLE_PUBLIC_URL ?? null,
    mail: smtpUrl === undefined || from === undefined ? null : { smtpUrl, from, caFile },
    /** What counts until a person changes it. */
    defaults: {
      language: env.NOTIFY_LANGUAGE,
      webhook_url: env.NOTIFY_WEBHOOK_URL ?? null,
      mail_to: env.NOTIFY_MAIL_TO,
      escalate_to: env.NOTIFY_ESCALATE_TO,
      escalate_after_minutes: env.NOTIFY_ESCALATE_MINUTES,
      muted_alarms: env.NOTIFY_MUTED_ALARMS,
      quiet_from: quietFrom,
      quiet_to: quietTo,
      time_zone: env.NOTIFY_TIME_ZONE,
      quiet_severities: env.NOTIFY_QUIET_SEVERITIES,
    } satisfies NotificationSettings,
  };
}

/** What notifications lack. Only looked for without other faults, since a wrong value is not a missing one. */
export function missingForNotifications(given: Environment): { variable: string; rule: string }[] {
  const needed = [
    ['NOTIFY_SMTP_URL', 'NOTIFY_MAIL_FROM'],
    ['NOTIFY_MAIL_FROM', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_MAIL_TO', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_ESCALATE_TO', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_SMTP_CA_FILE', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_WEBHOOK_URL', 'NOTIFY_WEBHOOK_SECRET'],
  ] as const;
  return needed
    .filter(([name, other]) => given[name] !== undefined && given[other] === undefined)
    .map(([name, other]) => ({ variable: other, rule: `is required with ${name}` }));
}
