import { ROUTES } from '../contracts/operator-routes';
import type { Clock } from '../platform/clock';
import {
  acknowledgeAlarm,
  changeNotificationSettings,
  listAlarms,
  readNotifications,
  resetNotificationSettings,
  sendTestNotice,
  type NotificationTools,
} from '../workflow/notifications';
import type { ApiServer } from './api-server';

/** Alarms and notifications. A test notice is sent by this process, the others by the process that watches. */
export function serveNotifications(server: ApiServer, tools: NotificationTools & { readonly clock: Clock }): void {
  const { clock } = tools;
  const answer = () => readNotifications(tools);
  server.read(ROUTES.listAlarms, () => listAlarms(tools));
  server.change(ROUTES.acknowledgeAlarm, ({ params, body, actor }) => ({
    effect: (idempotency) =>
      acknowledgeAlarm(tools, { id: params('alarm_id'), reason: body.reason, actor, idempotency }),
    answer: () => listAlarms(tools),
  }));
  server.read(ROUTES.readNotifications, answer);
  server.change(ROUTES.changeNotifications, ({ body, actor }) => ({
    effect: (idempotency) => changeNotificationSettings(tools, { changes: body, actor, idempotency }),
    answer,
  }));
  server.change(ROUTES.resetNotifications, ({ actor }) => ({
    effect: (idempotency) => resetNotificationSettings(tools, { actor, idempotency }),
    answer,
  }));
  server.ask(ROUTES.testNotifications, async ({ body: { channel }, actor }) => {
    const { kind, problem } = await sendTestNotice(tools, { channel, id: clock.id(), nowMs: clock.nowMs(), actor });
    return { answer: { delivered: kind === 'delivered', problem } };
  });
}
