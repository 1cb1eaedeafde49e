import { ROUTES } from '../../contracts/operator-routes';
import type { Clock } from '../../platform/clock';
import {
  listAlarms,
  readNotifications,
  sendTestNotice,
  type NotificationTools,
} from '../../workflow/ops/notifications';
import type { ApiServer } from '../api-server';

/** Alarms and notifications. A test notice is sent by this process, the others by the process that watches. */
export function serveNotifications(server: ApiServer, tools: NotificationTools & { readonly clock: Clock }): void {
  const { clock } = tools;
  server.read(ROUTES.listAlarms, () => listAlarms(tools));
  server.read(ROUTES.readNotifications, () => readNotifications(tools));
  server.ask(ROUTES.testNotifications, async ({ body: { channel }, actor }) => {
    const { kind, problem } = await sendTestNotice(tools, { channel, id: clock.id(), nowMs: clock.nowMs(), actor });
    return { answer: { delivered: kind === 'delivered', problem } };
  });
}
