import { z } from 'zod';
import { ACTION_ROLES } from '../../domain/outbox/decisions';
import { differenceView } from '../service/differences';
import * as operator from '../operator';
import { page } from '../paging';
import { CHANGE, READ, type Route } from './route';

/** Tasks, differences from the document of the service, and what blocks sending. */

const TASK_COLUMNS = 'id towing_reference_id violation_id operation opened_at actions message';
const DIFFERENCE_COLUMNS = 'id rules count last_seen_at expected_by';

export const TASK_ROUTES = {
  listTasks: {
    ...READ,
    path: '/api/tasks',
    summary:
      "What a person must decide, with the report it is about: the service's words and what was sent. Newest first; by type, kind or tow.",
    query: operator.tasksQuery,
    answer: page(operator.taskView),
    command: 'task list',
    shows: TASK_COLUMNS,
  },
  readTask: {
    ...READ,
    path: '/api/tasks/:task_id',
    summary: 'One open task.',
    command: 'task show <task_id>',
    answer: operator.taskView,
  },
  countTasks: {
    ...READ,
    path: '/api/task-counts',
    summary: 'The numbers of open tasks by type and kind.',
    command: 'task count',
    answer: operator.taskCounts,
  },
  resolveTask: {
    ...CHANGE,
    path: '/api/tasks/:task_id/resolve',
    role: ACTION_ROLES.resolve,
    summary: 'Close a task that offers resolve. Any other is closed by deciding on its report or violation.',
    body: operator.resolveBody,
    answer: operator.taskView,
    command: 'task resolve <task_id>',
    shows: TASK_COLUMNS,
  },
  listDifferences: {
    ...READ,
    path: '/api/differences',
    summary: 'How the messages of the service differ from its document: each kind once, with its count.',
    answer: z.object({ items: z.array(differenceView) }),
    command: 'service differences',
    shows: DIFFERENCE_COLUMNS,
  },
  expectDifference: {
    ...CHANGE,
    path: '/api/differences/:difference_id/expect',
    role: ACTION_ROLES.expect,
    summary:
      'Declare a kind of difference expected: its task closes, and later messages of this kind are only counted.',
    body: operator.resolveBody,
    answer: differenceView,
    command: 'service expect <difference_id>',
    shows: DIFFERENCE_COLUMNS,
  },
  readSending: {
    ...READ,
    path: '/api/operations',
    summary:
      'What blocks sending now: the connection, an outage of the service, paused operations; and the rate limits.',
    answer: operator.sendingView,
    command: 'operation list',
  },
  resumeOperation: {
    ...CHANGE,
    path: '/api/operations/:operation/resume',
    role: ACTION_ROLES.resume,
    summary: 'Send the reports of an operation again that was paused because the service forbade it.',
    body: operator.resolveBody,
    answer: operator.sendingView,
    command: 'operation resume <operation>',
  },
} as const satisfies Record<string, Route>;
