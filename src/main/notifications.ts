import { createMailSender, type MailTextOf } from '../notify/mail';
import { createWebhookSender } from '../notify/webhook';
import { createLocks } from '../store/redis/locks';
import { createNotificationStore } from '../store/ops/notification-record';
import type { NotificationTools } from '../workflow/ops/notifications';
import { alarmObserver, watchAlarms } from '../workflow/ops/watch-alarms';
import type * as notificationTexts from '../console/parts/alarm-text';
import type { Foundation } from './foundation';

/** Loaded with the first alarm: a worker without alarms needs no texts. */
declare const require: (module: '../console/parts/alarm-text') => typeof notificationTexts;
const texts = () => require('../console/parts/alarm-text');

/** Longer than a run: ten attempts at a time, each of 15 s at most. */
const LOCK_MS = 30_000;

/** @throws ConfigurationError if a file of authorities cannot be used. */
export function openNotifications({ config, clock, redis, opsState }: Foundation): NotificationTools {
  const { webhook, mail, consoleUrl, settings } = config.notifications;
  const textOf: MailTextOf = (notice, language) => texts().mailTextIn(notice, { language, consoleUrl });
  return {
    store: createNotificationStore(redis),
    senders: {
      webhook: createWebhookSender({ webhook, consoleUrl, clock, textOf }),
      mail: createMailSender(mail, textOf),
    },
    settings,
    observe: alarmObserver({
      opsState,
      textOf: (alarm, language, nowMs) => texts().alarmTextIn(alarm, language, nowMs),
      clock,
    }),
  };
}

/** Starts the watch of a process. Of all processes, one works at a time. */
export function startNotifications(foundation: Foundation): void {
  const { clock, metrics, redis, resources, troubleLog: log } = foundation;
  const locks = createLocks(redis, clock);
  const watch = watchAlarms({
    ...openNotifications(foundation),
    lock: { acquire: () => locks.acquire('notifications', LOCK_MS) },
    clock,
    log,
    metrics,
  });
  resources.add('notifications', watch, (opened) => opened.stop());
}
