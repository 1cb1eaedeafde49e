import { DISPATCH_ROUTES } from './routes/dispatch';
import { NOTIFICATION_ROUTES, OPS_ROUTES } from './routes/operations';
import { WITHHELD_ROUTES } from './routes/withheld';
import { RUN_ROUTES } from './routes/runs';
import { SUBSCRIPTION_ROUTES } from './routes/subscriptions';
import { TASK_ROUTES } from './routes/tasks';
import { TOW_ROUTES } from './routes/tows';
import { VIOLATION_ROUTES } from './routes/violations';

/** Every address of the operator API, as data: the server is wired by it and the OpenAPI document written from it. */
export const ROUTES = {
  ...TOW_ROUTES,
  ...DISPATCH_ROUTES,
  ...VIOLATION_ROUTES,
  ...TASK_ROUTES,
  ...RUN_ROUTES,
  ...WITHHELD_ROUTES,
  ...OPS_ROUTES,
  ...NOTIFICATION_ROUTES,
  ...SUBSCRIPTION_ROUTES,
} as const;
