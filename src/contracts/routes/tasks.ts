import { z } from 'zod';
import { ACTION_ROLES } from '../../domain/decisions';
import { differenceView } from '../differences';
import { judgementPreview, judgementView } from '../judgements';
import * as operator from '../operator';
import { page } from '../paging';
import type { Route } from './route';

/** Tasks, differences from the document of the service, and what blocks sending. */

const TASK_COLUMNS = 'id towing_reference_id violation_id operation opened_at actions message';
const DIFFERENCE_COLUMNS = 'id rules count last_seen_at expected_by';

export const TASK_ROUTES = {
  listTasks: {
    method: 'get',
    path: '/api/tasks',
    role: 'viewer',
    summary:
      "What a person must decide, with the report it is about: the service's words and what was sent. Newest first; by type, kind or tow.",
    query: operator.tasksQuery,
    status: 200,
    answer: page(operator.taskView),
    command: 'task list',
    shows: TASK_COLUMNS,
  },
  readTask: {
    method: 'get',
    path: '/api/tasks/:task_id',
    role: 'viewer',
    summary: 'One open task.',
    command: 'task show <task_id>',
    status: 200,
    answer: operator.taskView,
  },
  countTasks: {
    method: 'get',
    path: '/api/task-counts',
    role: 'viewer',
    summary: 'The numbers of open tasks by type and kind.',
    command: 'task count',
    status: 200,
    answer: operator.taskCounts,
  },
  resolveTask: {
    method: 'post',
    path: '/api/tasks/:task_id/resolve',
    role: ACTION_ROLES.resolve,
    summary: 'Close a task that offers resolve. Any other is closed by deciding on its report or violation.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.taskView,
    command: 'task resolve <task_id...>',
    shows: TASK_COLUMNS,
  },
  listDifferences: {
    method: 'get',
    path: '/api/differences',
    role: 'viewer',
    summary: 'How the messages of the service differ from its document: each kind once, with its count.',
    status: 200,
    answer: z.object({ items: z.array(differenceView) }),
    command: 'service differences',
    shows: DIFFERENCE_COLUMNS,
  },
  expectDifference: {
    method: 'post',
    path: '/api/differences/:difference_id/expect',
    role: ACTION_ROLES.expect,
    summary:
      'Declare a kind of difference expected: its task closes, and later messages of this kind are only counted.',
    body: operator.resolveBody,
    status: 202,
    answer: differenceView,
    command: 'service expect <difference_id>',
    shows: DIFFERENCE_COLUMNS,
  },
  previewJudgement: {
    method: 'get',
    path: '/api/differences/:difference_id/judgement',
    role: 'viewer',
    summary:
      'What judging the webhooks of a kind of difference again would do now, from the oldest 1,000; and the last run.',
    status: 200,
    answer: judgementPreview,
    command: 'delivery preview <difference_id>',
  },
  judgeAgain: {
    method: 'post',
    path: '/api/differences/:difference_id/judge',
    role: 'ops',
    summary:
      'Judge all webhooks of a kind of difference again, in order of receipt: those that keep the contract now are acted on, once each.',
    body: operator.resolveBody,
    status: 202,
    answer: judgementView,
    command: 'delivery judge <difference_id>',
  },
  readSending: {
    method: 'get',
    path: '/api/operations',
    role: 'viewer',
    summary:
      'What blocks sending now: the connection, an outage of the service, paused operations; and the rate limits.',
    status: 200,
    answer: operator.sendingView,
    command: 'operation list',
  },
  resumeOperation: {
    method: 'post',
    path: '/api/operations/:operation/resume',
    role: ACTION_ROLES.resume,
    summary: 'Send the reports of an operation again that was paused because the service forbade it.',
    body: operator.resolveBody,
    status: 202,
    answer: operator.sendingView,
    command: 'operation resume <operation>',
  },
} as const satisfies Record<string, Route>;
