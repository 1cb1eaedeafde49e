import type * as nodemailer from 'nodemailer';
import type { Notice } from '../domain/ops/notices';
import type { NoticeLanguage } from '../domain/ops/notification-settings';
import { errorCode } from '../platform/errors';
import { authoritiesIn, defaultAuthorities } from '../platform/tls-files';
import type { NoticeSender } from '../workflow/ops/notifications';

/** Where mails are handed over, and their sender. */
export interface MailSettings {
  /** `smtp://` or `smtps://`, with user and password or without. */
  readonly smtpUrl: string;
  readonly from: string;
  /** PEM file of authorities that are trusted besides the usual ones. */
  readonly caFile: string | null;
}

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/** The text of a notice in a language; without personal data. */
export type MailTextOf = (notice: Notice, language: NoticeLanguage) => MailText;

/** Loaded with the first mail. */
declare const require: (module: 'nodemailer') => typeof nodemailer;

const CONNECT_TIMEOUT_MS = 8000;
/** Of the whole attempt. */
const TIMEOUT_MS = 15_000;
const MISSING = ['NOTIFY_SMTP_URL', 'NOTIFY_MAIL_FROM'];

/**
 * Sends notices by SMTP, one connection each. A mail is delivered when the server has accepted it for one of its
 * addresses at least. Its `Message-ID` is the id of the notice, the same for each attempt.
 *
 * @throws ConfigurationError if the file of authorities cannot be used.
 */
export function createMailSender(server: MailSettings | null, mailText: MailTextOf): NoticeSender {
  if (server === null) {
    return { missing: MISSING, send: () => Promise.resolve({ kind: 'failed', problem: 'not_configured' }) };
  }
  const { from } = server;
  const options = transportOptions(server);
  const messageId = (id: string) => `<${id}@${from.split('@')[1] ?? 'towhook'}>`;
  return {
    missing: [],
    async send(notice, settings) {
      const { subject, text } = mailText(notice, settings.language);
      const { alarm } = notice;
      // Mail programs show what is about one alarm together.
      const references =
        alarm === null || notice.id === `${alarm.id}.started` ? {} : { references: messageId(`${alarm.id}.started`) };
      const transport = require('nodemailer').createTransport(options);
      try {
        const { rejected } = await transport.sendMail({
          from,
          to: [...settings.mailTo],
          subject,
          text,
          ...references,
          messageId: messageId(notice.id),
          headers: { 'Auto-Submitted': 'auto-generated' },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        return { kind: 'delivered', problem: rejected.length === 0 ? null : `refused_${rejected.length}_addresses` };
      } catch (error) {
        return { kind: 'failed', problem: problemOf(error) };
      } finally {
        transport.close();
      }
    },
  };
}

/** A password leaves over TLS only. Without one, STARTTLS is used if the server offers it. */
function transportOptions({ smtpUrl, caFile }: MailSettings): nodemailer.SMTPTransportOptions {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const secure = protocol === 'smtps:';
  const hasLogin = username !== '';
  return {
    // The brackets of an IPv6 address belong to the URL.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: hasLogin && !secure,
    ...(hasLogin ? { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } } : {}),
    ...(caFile === null
      ? {}
      : { tls: { ca: [...defaultAuthorities(), authoritiesIn('NOTIFY_SMTP_CA_FILE', caFile)] } }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
  };
}

/** Codes only: the texts of a mail server repeat addresses. */
function problemOf(error: unknown): string {
  const code = errorCode(error) ?? 'not_sent';
  const status = typeof error === 'object' && error !== null && 'responseCode' in error ? error.responseCode : null;
  return typeof status === 'number' ? `${code}_${status}` : code;
}
