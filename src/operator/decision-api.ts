import { NO_TRACING } from '../platform/tracing';
import type { OperatorApi } from '../workflow/operator-port';
import { createApiServer } from './api-server';
import { createOperatorApi } from './in-process';
import type { OperatorOptions } from './index';
import { serveTasks } from './tasks';
import { serveTows } from './tows';
import { serveViolationDecisions } from './violation-decisions';

/** The routes that decide tasks, for a process without an HTTP API. */
export function createDecisionApi(
  options: Pick<
    OperatorOptions,
    'answers' | 'spool' | 'imagesTotalBytesMax' | 'log' | 'progress' | 'tasks' | 'violations' | 'clock'
  >,
): OperatorApi {
  const { answers, progress, tasks, violations } = options;
  const server = createApiServer({ ...options, tracing: NO_TRACING });
  serveTows(server, progress);
  serveTasks(server, { ...progress, tasks, violations });
  serveViolationDecisions(server, progress);
  return createOperatorApi(server.endpoints, answers);
}
