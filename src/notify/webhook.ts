import { Agent } from 'node:https';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { pageOfNotice, type Notice } from '../domain/ops/notices';
import type { NoticeFormat } from '../domain/ops/notification-settings';
import { isoTimestamp } from '../domain/timestamp';
import type { Clock } from '../platform/clock';
import { authoritiesIn, defaultAuthorities } from '../platform/tls-files';
import { signedHeaders } from '../platform/webhook-signature';
import type { NoticeSender } from '../workflow/ops/notifications';
import type { MailTextOf } from './mail';
import { postJson } from './post';

/** How notices leave, and what the receiver expects. */
export interface NoticeWebhook {
  readonly format: NoticeFormat;
  /** `whsec_…`, of the format `standard`; null when none is configured. */
  readonly secret: string | null;
  /** HTTP proxy; null for none. */
  readonly proxyUrl: string | null;
  /** PEM file of authorities that are trusted besides the usual ones. */
  readonly caFile: string | null;
}

/**
 * Posts notices as JSON, in the form that the receiver takes: of towhook, signed as Standard Webhooks, or of a chat. Any
 * 2xx is a delivery.
 *
 * @param tools.consoleUrl address of the console without a path; null when it is not known.
 * @throws ConfigurationError if the file of authorities cannot be used.
 */
export function createWebhookSender(tools: {
  readonly webhook: NoticeWebhook;
  readonly consoleUrl: string | null;
  readonly clock: Clock;
  readonly textOf: MailTextOf;
}): NoticeSender {
  const { webhook, consoleUrl, clock, textOf } = tools;
  const { format, secret } = webhook;
  const agents = agentsOf(webhook);
  const isUnsigned = format === 'standard' && secret === null;
  return {
    missing: isUnsigned ? ['NOTIFY_WEBHOOK_SECRET'] : [],
    async send(notice, { webhookUrl: url, language }) {
      if (url === null || isUnsigned) return { kind: 'failed', problem: 'not_configured' };
      const body = JSON.stringify(
        format === 'standard' ? noticeBody(notice, consoleUrl) : chatBody(format, textOf(notice, language)),
      );
      const timestamp = Math.floor(clock.nowMs() / 1000);
      const isSigned = format === 'standard' && secret !== null;
      const signed = isSigned ? signedHeaders({ id: notice.id, timestamp, body }, secret) : {};
      const { problem } = await postJson(url, body, { ...agents, headers: signed });
      return problem === null ? { kind: 'delivered', problem } : { kind: 'failed', problem };
    },
  };
}

function agentsOf({ proxyUrl, caFile }: NoticeWebhook) {
  const ca = caFile === null ? {} : { ca: [...defaultAuthorities(), authoritiesIn('NOTIFY_CA_FILE', caFile)] };
  if (proxyUrl === null) return { httpsAgent: new Agent(ca) };
  const agent = new HttpsProxyAgent(proxyUrl, ca);
  // The library takes what it is created with for the proxy alone, and this for the server behind it.
  Object.assign(agent.options, ca);
  return { httpAgent: agent, httpsAgent: agent };
}

/** Characters that each chat takes at most, with a reserve for escapes; Teams counts bytes (28 KB), two of an Arabic letter. */
const TEXT_MAX = { slack: 30_000, teams: 9000, 'google-chat': 4000, discord: 1900 } as const;

/** The body that the incoming webhook of a chat takes. */
function chatBody(format: keyof typeof TEXT_MAX, { subject, text }: ReturnType<MailTextOf>) {
  const max = TEXT_MAX[format];
  const plain = `${subject}\n${text}`;
  switch (format) {
    case 'slack':
      return {
        text: cut(
          plain.replace(/[&<>]/g, (sign) => SLACK_ESCAPES[sign] ?? ''),
          max,
        ),
        mrkdwn: false,
      };
    case 'google-chat':
      // It has no escapes for the brackets of its links and mentions.
      return { text: cut(plain.replaceAll('<', '‹').replaceAll('>', '›'), max) };
    case 'discord':
      return { content: cut(plain.split('\n').map(discordLine).join('\n'), max), allowed_mentions: { parse: [] } };
    case 'teams':
      return teamsBody(cut(plain, max));
  }
}

const SLACK_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Without escapes in the line of an address, which would change it. */
function discordLine(line: string): string {
  return /^https?:\S+$/.test(line) ? line : line.replace(/[\\*_~`|<>[\]()#@-]/g, String.raw`\$&`);
}

/** An Adaptive Card, as the workflows of Teams take it. A text run is shown as it is, without Markdown. */
function teamsBody(text: string) {
  const inlines = [{ type: 'TextRun', text }];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'RichTextBlock', inlines }],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}

/** The body of a notice; docs/operations/notifications.md describes it. */
function noticeBody(notice: Notice, consoleUrl: string | null) {
  const { id, type, alarm, createdAtMs } = notice;
  return {
    id,
    type,
    timestamp: isoTimestamp(createdAtMs),
    data: {
      page: pageOfNotice(notice, consoleUrl),
      alarm: alarm && {
        id: alarm.id,
        kind: alarm.kind.toString(),
        severity: alarm.severity,
        since: isoTimestamp(alarm.seenAtMs),
        title: alarm.title,
        what_to_do: alarm.todo,
      },
    },
  };
}
