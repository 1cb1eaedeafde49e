import { createConsole, createSessions, type Sessions } from '../console';
import type { Operator } from '../operator';
import { serviceAccess } from '../platform/config';
import { createFiguresStore } from '../store/figures';
import { createProcessStore } from '../store/processes';
import { createSessionStore } from '../store/sessions';
import { createTaskStore } from '../store/tasks';
import { createTowStore } from '../store/tows';
import { createViolationStore } from '../store/violations';
import type { SignIn } from '../workflow/operator-port';
import { openBulk } from './bulk';
import type { Foundation } from './foundation';

/** Who is signed in on the console, for its pages and for reads of the API. */
export function openSessions({ redis, clock }: Foundation, signIn: SignIn): Sessions {
  return createSessions({ store: createSessionStore(redis), signIn, clock });
}

/** Puts the pages of the console together, in front of the operator API; nothing listens yet. */
export function openPages(
  foundation: Foundation,
  { operator, signIn, sessions }: { operator: Operator; signIn: SignIn; sessions: Sessions },
) {
  const { config, clock, log, redis, spool } = foundation;
  return createConsole({
    api: operator.api,
    progress: { tows: createTowStore(redis), rules: config.rules },
    tasks: createTaskStore(redis),
    bulk: openBulk(foundation),
    violations: createViolationStore(redis),
    spool,
    violationApi: config.violations.api,
    asksService: serviceAccess(config) !== null,
    figures: createFiguresStore(redis),
    processes: createProcessStore(redis),
    sessions,
    signIn,
    trustProxy: config.trustProxy,
    clock,
    log,
    beyond: { serve: operator.app, paths: ['/api', '/docs', '/metrics', '/openapi.json', '/queues'] },
  });
}
