import type { Command } from 'commander';
import {
  notificationSettingsBody,
  testNoticeBody,
  type AlarmPage,
  type NotificationsView,
} from '../contracts/notifications';
import { resolveBody } from '../contracts/operator';
import { ROUTES } from '../contracts/operator-routes';
import { ALARM_KINDS, ALARM_SEVERITIES, NOTICE_LANGUAGES } from '../domain/notification-settings';
import { UsageError } from './problems';
import { addCommand, checked, numberOption, option, type CommandOutput, type CommandTools } from './command';
import { pairs, riyadhTime, section, table, textOrDash } from './format';

/** `towhook alarm …` and `towhook notifications …` */
export function addNotifications(program: Command, tools: CommandTools): void {
  const alarm = program.command('alarm').summary('alarms of the installation: list, acknowledge');
  addCommand(alarm, tools, {
    usage: 'list',
    summary: 'list the alarms that hold now, the worst first',
    examples: ['towhook alarm list'],
    run: async (call) => alarmOutput(await call.client.call(ROUTES.listAlarms)),
  });
  addCommand(alarm, tools, {
    usage: 'acknowledge <alarm>',
    summary: 'acknowledge an announced alarm, so that it is not escalated',
    options: [option('--reason <text>', 'reason for the audit log')],
    examples: ['towhook alarm acknowledge 5b0e…'],
    changes: true,
    run: async (call) => {
      const body = checked(resolveBody, { reason: call.text('reason') });
      const params = { alarm_id: call.argument(0) };
      return alarmOutput(await call.client.call(ROUTES.acknowledgeAlarm, { params, body, key: call.key }));
    },
  });
  const notifications = program.command('notifications').summary('notifications about alarms: settings, test');
  addCommand(notifications, tools, {
    usage: 'show',
    summary: 'show the settings and whether the channels work',
    examples: ['towhook notifications show'],
    run: async (call) => notificationsOutput(await call.client.call(ROUTES.readNotifications)),
  });
  addSet(notifications, tools);
  addCommand(notifications, tools, {
    usage: 'reset',
    summary: 'take the settings of the configuration again',
    examples: ['towhook notifications reset'],
    changes: true,
    run: async (call) => {
      return notificationsOutput(await call.client.call(ROUTES.resetNotifications, { key: call.key }));
    },
  });
  addCommand(notifications, tools, {
    usage: 'test <channel>',
    summary: 'send a test notice to all receivers of a channel: webhook or mail',
    examples: ['towhook notifications test mail'],
    run: async (call) => {
      const body = checked(testNoticeBody, { channel: call.argument(0) });
      const { delivered, problem } = await call.client.call(ROUTES.testNotifications, { body });
      const lines = pairs([
        ['delivered', textOrDash(delivered)],
        ['problem', textOrDash(problem)],
      ]);
      return { json: { delivered, problem }, lines, exitCode: delivered ? 0 : 1 };
    },
  });
}

/** `towhook notifications set`: an empty text removes what is set. */
function addSet(notifications: Command, tools: CommandTools): void {
  addCommand(notifications, tools, {
    usage: 'set',
    summary: 'change at least one setting; those that are not given stay, and an empty text removes one',
    options: [
      option('--language <language>', 'language of the notices', NOTICE_LANGUAGES),
      option('--webhook-url <address>', 'address that notices are posted to'),
      option('--mail-to <addresses>', 'comma list of addresses that get every notice'),
      option('--escalate-to <addresses>', 'comma list of addresses that get what is not acknowledged in time'),
      numberOption('--escalate-after-minutes <minutes>', 'that time; 0 means never'),
      option('--muted-alarms <kinds>', `comma list of kinds without notices: ${ALARM_KINDS.join(', ')}`),
      option('--quiet-from <time>', 'start of the quiet hours, such as 22:00'),
      option('--quiet-to <time>', 'their end'),
      option('--time-zone <zone>', 'their time zone, such as Asia/Riyadh'),
      option('--quiet-severities <severities>', `comma list of what they hold back: ${ALARM_SEVERITIES.join(', ')}`),
    ],
    examples: [
      'towhook notifications set --mail-to ops@towing.example,night@towing.example',
      'towhook notifications set --quiet-from 22:00 --quiet-to 06:00',
    ],
    changes: true,
    run: async (call) => {
      const list = (name: string) =>
        call
          .text(name)
          ?.split(',')
          .flatMap((item) => item.trim() || []);
      const orNull = (name: string) => (call.text(name) === '' ? null : call.text(name));
      const given = {
        language: call.text('language'),
        webhook_url: orNull('webhookUrl'),
        mail_to: list('mailTo'),
        escalate_to: list('escalateTo'),
        escalate_after_minutes: call.number('escalateAfterMinutes'),
        muted_alarms: list('mutedAlarms'),
        quiet_from: orNull('quietFrom'),
        quiet_to: orNull('quietTo'),
        time_zone: call.text('timeZone'),
        quiet_severities: list('quietSeverities'),
      };
      if (Object.values(given).every((value) => value === undefined)) {
        throw new UsageError([{ field: 'notifications set', rule: 'needs at least one option' }]);
      }
      const body = checked(notificationSettingsBody, given);
      return notificationsOutput(await call.client.call(ROUTES.changeNotifications, { body, key: call.key }));
    },
  });
}

function alarmOutput(alarms: AlarmPage): CommandOutput {
  return {
    json: alarms,
    lines: table(
      ['alarm', 'severity', 'announced (Riyadh)', 'acknowledged by', 'what'],
      alarms.items.map(({ id, severity, announced_at, acknowledged_by, title }) => [
        textOrDash(id),
        severity,
        riyadhTime(announced_at),
        textOrDash(acknowledged_by),
        title,
      ]),
    ),
  };
}

function notificationsOutput(view: NotificationsView): CommandOutput {
  const { settings, source, channels } = view;
  const shown = Object.entries(settings).map(([name, value]): [string, string] => [
    name.replaceAll('_', ' '),
    textOrDash(Array.isArray(value) ? value.join(', ') : value === null ? null : String(value)),
  ]);
  return {
    json: view,
    lines: [
      ...pairs([['settings of', source], ...shown]),
      ...section(
        'Channels',
        table(
          ['channel', 'used', 'missing', 'waiting', 'delivered (Riyadh)', 'failing since', 'problem'],
          (['webhook', 'mail'] as const).map((name) => {
            const channel = channels[name];
            return [
              name,
              textOrDash(channel.is_used),
              textOrDash(channel.missing.join(', ') || null),
              String(channel.waiting),
              riyadhTime(channel.delivered_at),
              riyadhTime(channel.failing_since),
              textOrDash(channel.problem),
            ];
          }),
        ),
      ),
    ],
  };
}
