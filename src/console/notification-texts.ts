import { pageOfNotice, type Notice, type NoticeAlarm } from '../domain/ops/notices';
import type { NoticeLanguage } from '../domain/ops/notification-settings';
import type { Alarm } from '../workflow/ops/alarms';
import { formatsOf } from './formats';
import { messagesIn } from './messages';
import { alarmText, type AlarmText } from './parts/alarm-text';

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
