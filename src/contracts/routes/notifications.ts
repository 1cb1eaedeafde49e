import {
  alarmPage,
  notificationSettingsBody,
  notificationsView,
  testNoticeBody,
  testNoticeView,
} from '../notifications';
import { emptyBody, resolveBody } from '../operator';
import type { Route } from './route';

/** Alarms, their acknowledgement, and the notifications about them. */

export const NOTIFICATION_ROUTES = {
  listAlarms: {
    method: 'get',
    path: '/api/alarms',
    role: 'viewer',
    summary: 'The alarms that hold now, the worst first, and who was notified and acknowledged them.',
    status: 200,
    answer: alarmPage,
  },
  acknowledgeAlarm: {
    method: 'post',
    path: '/api/alarms/:alarm_id/acknowledge',
    role: 'ops',
    summary: 'Acknowledge an announced alarm, so that it is not escalated. The first acknowledgement counts.',
    body: resolveBody,
    status: 202,
    answer: alarmPage,
  },
  readNotifications: {
    method: 'get',
    path: '/api/notifications',
    role: 'ops',
    summary: 'The settings of notifications, and whether its channels work; never a secret.',
    status: 200,
    answer: notificationsView,
  },
  changeNotifications: {
    method: 'post',
    path: '/api/notifications',
    role: 'ops',
    summary: 'Change settings of notifications. Absent fields stay; from then on the configuration no longer counts.',
    body: notificationSettingsBody,
    status: 202,
    answer: notificationsView,
  },
  resetNotifications: {
    method: 'post',
    path: '/api/notifications/reset',
    role: 'ops',
    summary: 'Take the settings of the configuration again.',
    body: emptyBody,
    status: 202,
    answer: notificationsView,
  },
  testNotifications: {
    method: 'post',
    path: '/api/notifications/test',
    role: 'ops',
    summary: 'Send a test notice to all receivers of a channel now, and answer with what became of it.',
    body: testNoticeBody,
    status: 200,
    answer: testNoticeView,
  },
} as const satisfies Record<string, Route>;
