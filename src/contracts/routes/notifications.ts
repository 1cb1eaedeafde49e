import { alarmPage, notificationsView, testNoticeBody, testNoticeView } from '../ops/notifications';
import { READ, type Route } from './route';

/** Alarms and the notifications about them. */

export const NOTIFICATION_ROUTES = {
  listAlarms: {
    ...READ,
    path: '/api/alarms',
    summary: 'The alarms that hold now, the worst first, and when they were sent.',
    answer: alarmPage,
    command: 'alarm list',
    shows: 'severity since announced_at title',
  },
  readNotifications: {
    ...READ,
    path: '/api/notifications',
    role: 'ops',
    summary: 'Whether the channels of notifications are configured and work.',
    answer: notificationsView,
    command: 'notifications show',
  },
  testNotifications: {
    method: 'post',
    path: '/api/notifications/test',
    role: 'ops',
    summary: 'Send a test notice to all receivers of a channel now, and answer with what became of it.',
    body: testNoticeBody,
    status: 200,
    answer: testNoticeView,
    command: 'notifications test <channel>',
    succeeds: 'delivered',
  },
} as const satisfies Record<string, Route>;
