import { serviceAccess } from '../platform/config';
import { createServiceClient } from '../service';
import { createBudgets } from '../store/budgets';
import { createLookupCache } from '../store/lookups';
import { createTokenCache } from '../store/tokens';
import { createLookups, type Lookups } from '../workflow/lookups';
import type { ServicePort } from '../workflow/service-port';
import type { Foundation } from './foundation';

/** What can be asked of the service through this client; the answers are shared with all processes. */
export function openLookups({ config, clock, redis, troubleLog }: Foundation, service: ServicePort): Lookups {
  const cache = createLookupCache(redis, { clock, log: troubleLog, keptMs: config.lookupCacheMs });
  return createLookups({ service, cache, clock });
}

/**
 * The questions that people ask the service from the console, with a client of its own on the token and the budgets of
 * all processes. Null without access to the service: the rest of the console needs none.
 */
export function openConsoleLookups(foundation: Foundation): Lookups | null {
  const { config, clock, log, redis, resources } = foundation;
  const access = serviceAccess(config);
  if (access === null) return null;
  const service = createServiceClient({
    ...access,
    timeoutMs: config.service.timeoutMs,
    tokens: createTokenCache(redis),
    budgets: createBudgets(redis, config.budgetsPerMinute),
    clock,
    log,
  });
  return openLookups(
    foundation,
    resources.add('service client of the console', service, (client) => client.close()),
  );
}
