import type { OperatorApi } from '../workflow/operator-port';
import { createOperatorApi } from './in-process';
import type { OperatorOptions } from './index';
import { createServer } from './serve';
import { serveTasks } from './tasks';
import { serveTows } from './tows';
import { serveViolationDecisions } from './violation-decisions';

/** The routes of the operator API that decide on tasks, for a process that serves no HTTP API. */
export function createDecisionApi(
  options: Pick<OperatorOptions, 'answers' | 'spool' | 'log' | 'progress' | 'tasks' | 'violations' | 'clock'>,
): OperatorApi {
  const { answers, progress, tasks, violations } = options;
  const server = createServer(options);
  serveTows(server, progress);
  serveTasks(server, { ...progress, tasks, violations });
  serveViolationDecisions(server, progress);
  return createOperatorApi(server.endpoints, answers);
}
