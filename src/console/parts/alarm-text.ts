import type { GeneralCircuit } from '../../domain/vocabulary';
import type { RefusalReason } from '../../domain/webhook/webhook-answers';
import {
  isAboutAllCalls,
  isAboutWebhooks,
  type Alarm,
  type AlarmAboutWebhooks,
  type ClockAlarm,
} from '../../workflow/ops/alarms';
import type { WebhookAlarm } from '../../workflow/webhook/webhook-health';
import { type Messages, valueUnder, messagesIn } from '../messages';
import type { Viewer } from '../viewer';
import { pageOfNotice, type Notice, type NoticeAlarm } from '../../domain/ops/notices';
import type { NoticeLanguage } from '../../domain/ops/notification-settings';
import { formatsOf } from '../formats';

/** The texts of alarms, for pages and for notifications. */

/** In which language an alarm is described, and at which time. */
type TextReader = Pick<Viewer, 'messages' | 'formats' | 'nowMs'>;

interface AlarmText {
  readonly title: string;
  readonly todo: string;
}

/** What an alarm means, and what to do about it. Without personal data. */
export function alarmText(reader: TextReader, alarm: Alarm): AlarmText {
  const { opsAlarms } = reader.messages;
  if (isAboutWebhooks(alarm)) return webhookText(reader, alarm);
  if (alarm.kind === 'clockOff') return clockText(reader, alarm);
  if (alarm.kind === 'connection' && alarm.refusesCredentials) return opsAlarms.connection.refused;
  if (isAboutAllCalls(alarm)) return opsAlarms[alarm.kind];
  if (alarm.kind === 'noProcess') return opsAlarms.noProcess[alarm.role];
  if (alarm.kind === 'redisUnsafe') return opsAlarms.redisUnsafe[alarm.setting];
  return { title: titleOf(reader.messages, alarm), todo: opsAlarms[alarm.kind].todo };
}

function titleOf(
  messages: Messages,
  alarm: Exclude<Alarm, AlarmAboutWebhooks | ClockAlarm | { kind: GeneralCircuit | 'noProcess' | 'redisUnsafe' }>,
): string {
  const { notifications, ops, opsAlarms, terms } = messages;
  switch (alarm.kind) {
    case 'archive_failing':
    case 'delivery_failing':
    case 'reportOverdue':
    case 'conservationCheckOld':
    case 'recordsMissing':
      return opsAlarms[alarm.kind].title;
    case 'paused':
      return opsAlarms.paused.title({ operation: terms.operations[alarm.operation] });
    case 'throttled':
      return opsAlarms.throttled.title({ budget: ops.sending.budgetNames[alarm.budget] });
    case 'budgetBacklog': {
      const { budget, waiting, limit } = alarm;
      return opsAlarms.budgetBacklog.title({ budget: ops.sending.budgetNames[budget], waiting, limit });
    }
    case 'failing':
      return opsAlarms.failing.title({ failures: alarm.failures });
    case 'attemptsFail':
      return opsAlarms.attemptsFail.title({ failed: alarm.failed, made: alarm.made });
    case 'lost':
      return opsAlarms.lost.title({ count: alarm.count });
    case 'tasksOpen':
      return opsAlarms.tasksOpen.title({ count: alarm.count });
    case 'silent':
      return opsAlarms.silent.title({ role: opsAlarms.roles[alarm.role], host: alarm.host });
    case 'workerStalled':
      return opsAlarms.workerStalled.title({ queue: opsAlarms.work[alarm.queue], host: alarm.host });
    case 'unready':
      return opsAlarms.unready.title({ role: opsAlarms.roles[alarm.role], host: alarm.host, checks: alarm.checks });
    case 'dataKeysMissing':
      return opsAlarms.dataKeysMissing.title({ role: opsAlarms.roles[alarm.role], host: alarm.host, keys: alarm.keys });
    case 'servicesDiffer':
      return opsAlarms.servicesDiffer.title({ variables: alarm.variables, hosts: alarm.hosts });
    case 'queuePaused':
    case 'backlogOld':
      return opsAlarms[alarm.kind].title({ queue: opsAlarms.work[alarm.queue] });
    case 'noticesFail': {
      const problem = noticeProblemText(messages, alarm.problem);
      return opsAlarms.noticesFail.title({ channel: notifications.channels[alarm.channel], problem });
    }
    case 'failedJobs':
      return opsAlarms.failedJobs.title({ queue: opsAlarms.work[alarm.queue], count: alarm.count });
  }
}

function clockText({ messages, formats }: TextReader, { role, host, aheadSeconds }: ClockAlarm): AlarmText {
  const { clockOff, roles } = messages.opsAlarms;
  const duration = formats.duration(Math.abs(aheadSeconds) * 1000);
  const title = aheadSeconds > 0 ? clockOff.ahead : clockOff.behind;
  return { title: title({ role: roles[role], host, duration }), todo: clockOff.todo };
}

function webhookText(reader: TextReader, alarm: WebhookAlarm): AlarmText {
  const { opsAlarms, webhooks } = reader.messages;
  switch (alarm.kind) {
    case 'webhooksRefused': {
      const { path, count, reason, behindSeconds, isProxied } = alarm;
      const cause = behindSeconds === null ? causeOf(reader, reason) : skewText(reader, behindSeconds);
      const also = isProxied && reason === 'signature_wrong' ? ` ${webhooks.proxied}` : '';
      return {
        title: opsAlarms.webhooksRefused.title({ path: webhooks.paths[path], count, cause: `${cause}${also}` }),
        todo: webhooks.reasons[reason].todo,
      };
    }
    case 'webhooksMostlyRefused': {
      const { refused, made, reason } = alarm;
      return {
        title: opsAlarms.webhooksMostlyRefused.title({ refused, made, cause: causeOf(reader, reason) }),
        todo: `${opsAlarms.webhooksMostlyRefused.todo} ${webhooks.reasons[reason].todo}`,
      };
    }
    case 'webhookSecrets': {
      const { host, variables } = alarm;
      return {
        title: opsAlarms.webhookSecrets.title({ host, variables: variables.join(', ') }),
        todo: opsAlarms.webhookSecrets.todo,
      };
    }
    case 'noWebhooks': {
      const { formats } = reader;
      const silence = formats.duration(reader.nowMs - alarm.sinceMs);
      const usual = formats.duration(alarm.usualMs);
      return { title: opsAlarms.noWebhooks.title({ silence, usual }), todo: opsAlarms.noWebhooks.todo };
    }
  }
}

function causeOf({ messages }: TextReader, reason: RefusalReason): string {
  return messages.webhooks.reasons[reason].cause;
}

function skewText({ messages, formats }: TextReader, behindSeconds: number): string {
  const duration = formats.duration(Math.abs(behindSeconds) * 1000);
  return behindSeconds > 0 ? messages.webhooks.behind({ duration }) : messages.webhooks.ahead({ duration });
}

type CauseName = keyof Messages['notifications']['causes'];

/** Codes of the senders (src/notify): their own, those of Node and those of the mail library. */
const CAUSES: readonly (readonly [pattern: RegExp, name: CauseName])[] = [
  [/^(?:timeout|ETIMEDOUT|UND_ERR_\w+_TIMEOUT)$/, 'timeout'],
  [/^(?:EDNS|ENOTFOUND|EAI_AGAIN)$/, 'dns_failed'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(?:ECONNRESET|ECONNECTION|EPIPE|UND_ERR_SOCKET)(?:_\d+)?$/, 'connection_reset'],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, 'unreachable'],
  [/^ETLS|CERT|_TLS_|_SSL_|_SIGNATURE$/, 'tls'],
  [/^(?:EAUTH|ENOAUTH)/, 'sign_in_refused'],
  [/^EENVELOPE/, 'addresses_refused'],
  [/^EMESSAGE/, 'message_refused'],
  [/^ESOCKET/, 'connection_failed'],
];

/** What prevents the delivery of notices, in words; `problem` is its stored code, such as `http_500`. */
export function noticeProblemText({ notifications }: Pick<Messages, 'notifications'>, problem: string): string {
  const { causes, answered, someRefused } = notifications;
  const [, status] = /^http_(\d+)$/.exec(problem) ?? [];
  if (status !== undefined) return answered({ status });
  const [, count] = /^refused_(\d+)_addresses$/.exec(problem) ?? [];
  if (count !== undefined) return someRefused({ count: Number(count) });
  const known = CAUSES.find(([pattern]) => pattern.test(problem))?.[1];
  return known === undefined ? (valueUnder(causes, problem) ?? causes.not_sent) : causes[known];
}

/** The texts of notifications, from the catalogue of the console. Without personal data. */

export function alarmTextIn(alarm: Alarm, language: NoticeLanguage, nowMs: number): AlarmText {
  return alarmText({ messages: messagesIn(language), formats: formatsOf(language, nowMs), nowMs }, alarm);
}

/** `consoleUrl`: without a path; null when it is not known. */
export function mailTextIn(
  notice: Notice,
  { language, consoleUrl }: { readonly language: NoticeLanguage; readonly consoleUrl: string | null },
): { subject: string; text: string } {
  const { notices } = messagesIn(language);
  const { type, alarm, createdAtMs } = notice;
  const title = alarm?.title ?? '';
  const page = pageOfNotice(notice, consoleUrl);
  const paragraph = alarm === null ? '' : alarmParagraph(alarm, language, createdAtMs);
  // On a line of its own, so that a mail program makes a link of the whole address.
  const footer = page === null ? notices.footer : `${notices.footerLink}\n${page}`;
  const textOf = (...parts: readonly string[]) => parts.join('\n\n');
  switch (type) {
    case 'alarm.started':
      return { subject: notices.started({ title }), text: textOf(paragraph, footer) };
    case 'alarm.reminded':
      return { subject: notices.reminded({ title }), text: textOf(notices.remindedIntro, paragraph, footer) };
    case 'alarm.ended':
      return { subject: notices.ended({ title }), text: textOf(notices.endedIntro, paragraph, footer) };
    case 'test':
      return { subject: notices.test, text: textOf(notices.testIntro, ...(page === null ? [] : [page])) };
  }
}

function alarmParagraph({ title, todo, seenAtMs, severity }: NoticeAlarm, language: NoticeLanguage, atMs: number) {
  const { notices, opsAlarms } = messagesIn(language);
  const since = formatsOf(language, atMs).timestamp(new Date(seenAtMs).toISOString());
  return [
    `${opsAlarms.severities[severity]}: ${title}`,
    `${opsAlarms.todo} ${todo}`,
    notices.since({ time: since }),
  ].join('\n');
}
