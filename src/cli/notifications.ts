import type { Command } from 'commander';
import { testNoticeBody, type AlarmPage, type NotificationsView } from '../contracts/notifications';
import { ROUTES } from '../contracts/operator-routes';
import { addCommand, checked, type CommandOutput, type CommandTools } from './command';
import { pairs, riyadhTime, table, textOrDash } from './format';

/** `towhook alarm …` and `towhook notifications …` */
export function addNotifications(program: Command, tools: CommandTools): void {
  const alarm = program.command('alarm').summary('alarms of the installation');
  addCommand(alarm, tools, {
    usage: 'list',
    summary: 'list the alarms that hold now, the worst first',
    examples: ['towhook alarm list'],
    run: async (call) => alarmOutput(await call.client.call(ROUTES.listAlarms)),
  });
  const notifications = program.command('notifications').summary('notifications about alarms: channels, test');
  addCommand(notifications, tools, {
    usage: 'show',
    summary: 'show whether the channels are configured and work',
    examples: ['towhook notifications show'],
    run: async (call) => notificationsOutput(await call.client.call(ROUTES.readNotifications)),
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

function alarmOutput(alarms: AlarmPage): CommandOutput {
  return {
    json: alarms,
    lines: table(
      ['severity', 'announced (Riyadh)', 'what'],
      alarms.items.map(({ severity, announced_at, title }) => [severity, riyadhTime(announced_at), title]),
    ),
  };
}

function notificationsOutput(view: NotificationsView): CommandOutput {
  const rows = (['webhook', 'mail'] as const).map((name) => {
    const channel = view.channels[name];
    return [
      name,
      textOrDash(channel.is_used),
      textOrDash(channel.missing.join(', ') || null),
      String(channel.waiting),
      riyadhTime(channel.delivered_at),
      riyadhTime(channel.failing_since),
      textOrDash(channel.problem),
    ];
  });
  const heads = ['channel', 'used', 'missing', 'waiting', 'delivered (Riyadh)', 'failing since', 'problem'];
  return { json: view, lines: table(heads, rows) };
}
