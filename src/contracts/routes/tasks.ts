import * as operator from '../operator';
import { page } from '../paging';
import type { Route } from './route';

/** What people must decide, and what holds sending. */

export const TASK_ROUTES = {
  listTasks: {
    method: 'get',
    path: '/api/tasks',
    role: 'viewer',
    summary:
      "What a person must decide, with the report it is about: the service's words and what was sent. Newest first; by type.",
    query: operator.tasksQuery,
    status: 200,
    answer: page(operator.taskView),
  },
  resolveTask: {
    method: 'post',
    path: '/api/tasks/:task_id/resolve',
    role: 'dispatcher',
    summary: 'Close a task that offers resolve. Any other is closed by deciding on its report or violation.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.taskView,
  },
  readSending: {
    method: 'get',
    path: '/api/operations',
    role: 'viewer',
    summary: 'What holds sending now: the connection, an outage of the service, paused operations; and the budgets.',
    status: 200,
    answer: operator.sendingView,
  },
  resumeOperation: {
    method: 'post',
    path: '/api/operations/:operation/resume',
    role: 'ops',
    summary: 'Send the reports of an operation again that was paused because the service forbade it.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.sendingView,
  },
} as const satisfies Record<string, Route>;
