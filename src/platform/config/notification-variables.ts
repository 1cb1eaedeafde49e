import { z } from 'zod';
import {
  ALARM_KINDS,
  ALARM_SEVERITIES,
  isNoticeAddress,
  MAIL_ADDRESS_RULE,
  NOTICE_ADDRESS_RULE,
  NOTICE_FORMATS,
  NOTICE_LANGUAGES,
  type NotificationSettings,
} from '../../domain/ops/notification-settings';
import { HOUR_MS } from '../../domain/timestamp';
import { list, proxyAddress, signingSecret, smtpAddress, wholeNumber, type Environment } from './variable-rules';

const filePath = z.string().min(1).optional();
const ADDRESS_LENGTH_MAX = 254;
const mailAddress = z
  .email(MAIL_ADDRESS_RULE)
  .max(ADDRESS_LENGTH_MAX, `must be mail addresses of at most ${ADDRESS_LENGTH_MAX} characters`);
const mailAddresses = list.pipe(z.array(mailAddress).max(20)).default([]);

/** The variables of notifications, like those of variables.ts. */
export const NOTIFICATION_VARIABLES = {
  NOTIFY_WEBHOOK_URL: z
    .string()
    .trim()
    .max(2000)
    .refine(isNoticeAddress, NOTICE_ADDRESS_RULE)
    .optional()
    .describe('Address that alarms are posted to. See [Notifications](operations/notifications.md).'),
  NOTIFY_WEBHOOK_SECRET: signingSecret
    .optional()
    .describe('The `whsec_…` secret that signs them. Required for the webhook in the format `standard`.'),
  NOTIFY_WEBHOOK_SECRET_FILE: filePath.describe('File with `NOTIFY_WEBHOOK_SECRET`, instead of the variable.'),
  NOTIFY_FORMAT: z
    .enum(NOTICE_FORMATS)
    .default('standard')
    .describe('What the receiver of the webhook takes: signed JSON (`standard`), or the message of a chat.'),
  NOTIFY_PROXY_URL: proxyAddress
    .optional()
    .describe('HTTP proxy for the webhook of notices, like `SERVICE_PROXY_URL`.'),
  NOTIFY_PROXY_URL_FILE: filePath.describe('File with `NOTIFY_PROXY_URL`, instead of the variable.'),
  NOTIFY_CA_FILE: filePath.describe(
    'PEM file with certificates of authorities that are trusted for the webhook of notices besides the usual ones.',
  ),
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
  NOTIFY_SEVERITIES: list
    .pipe(z.array(z.enum(ALARM_SEVERITIES)))
    .default(['bad', 'wait'])
    .describe('Comma list of severities with notices: `bad` (work is stalled or lost), `wait` (other alarms).'),
  NOTIFY_REMIND_HOURS: wholeNumber(z.int().min(0).max(720).default(24)).describe(
    'Hours after which an alarm that lasts is sent again. 0 means never.',
  ),
  NOTIFY_MUTED_ALARMS: list
    .pipe(z.array(z.enum(ALARM_KINDS)))
    .default([])
    .describe('Comma list of kinds of alarms without notices: `'.concat(ALARM_KINDS.join('`, `'), '`.')),
  NOTIFY_LANGUAGE: z.enum(NOTICE_LANGUAGES).default('en').describe('Language of the notices.'),
};

type NotificationVariables = z.output<z.ZodObject<typeof NOTIFICATION_VARIABLES>> & {
  readonly CONSOLE_PUBLIC_URL?: string | undefined;
};

export function notificationConfig(env: NotificationVariables) {
  const { NOTIFY_SMTP_URL: smtpUrl, NOTIFY_MAIL_FROM: from, NOTIFY_SMTP_CA_FILE: caFile = null } = env;
  return {
    webhook: {
      format: env.NOTIFY_FORMAT,
      secret: env.NOTIFY_WEBHOOK_SECRET ?? null,
      proxyUrl: env.NOTIFY_PROXY_URL ?? null,
      caFile: env.NOTIFY_CA_FILE ?? null,
    },
    /** Address of the console, for links in notices. */
    consoleUrl: env.CONSOLE_PUBLIC_URL ?? null,
    mail: smtpUrl === undefined || from === undefined ? null : { smtpUrl, from, caFile },
    settings: {
      language: env.NOTIFY_LANGUAGE,
      webhookUrl: env.NOTIFY_WEBHOOK_URL ?? null,
      mailTo: env.NOTIFY_MAIL_TO,
      severities: env.NOTIFY_SEVERITIES,
      mutedAlarms: env.NOTIFY_MUTED_ALARMS,
      remindMs: env.NOTIFY_REMIND_HOURS * HOUR_MS,
    } satisfies NotificationSettings,
  };
}

const SIGNED = ['NOTIFY_WEBHOOK_URL', 'NOTIFY_WEBHOOK_SECRET'] as const;

/** What notifications lack. Only looked for without other faults, since a wrong value is not a missing one. */
export function missingForNotifications(given: Environment): { variable: string; rule: string }[] {
  const needed = [
    ['NOTIFY_SMTP_URL', 'NOTIFY_MAIL_FROM'],
    ['NOTIFY_MAIL_FROM', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_MAIL_TO', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_SMTP_CA_FILE', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_PROXY_URL', 'NOTIFY_WEBHOOK_URL'],
    ['NOTIFY_CA_FILE', 'NOTIFY_WEBHOOK_URL'],
    ...((given['NOTIFY_FORMAT'] ?? 'standard') === 'standard' ? [SIGNED] : []),
  ] as const;
  return needed
    .filter(([name, other]) => given[name] !== undefined && given[other] === undefined)
    .map(([name, other]) => ({ variable: other, rule: `is required with ${name}` }));
}
