import { serviceAccess, type ServiceAccess } from '../platform/config/config';
import type { Resources } from '../platform/resources';
import { accessDigest, createServiceClient, type ServiceClient } from '../service';
import { createBudgets } from '../store/service/budgets';
import { createLookupCache } from '../store/service/lookups';
import { createTokenCache } from '../store/service/tokens';
import { createLookups, type Lookups } from '../workflow/service/lookups';
import type { ServicePort } from '../workflow/service/service-port';
import type { Foundation } from './foundation';
import type { Clock } from '../platform/clock';

/** Opens a client of the service. All clients share the access token and the rate limits through Redis. */
export function openServiceClient(
  { config, clock, log, metrics, redis, serviceObserver }: Foundation,
  { access, resources }: { access: ServiceAccess; resources: Resources },
): ServiceClient {
  const client = createServiceClient({
    ...access,
    timeoutMs: config.service.timeoutMs,
    upload: { timeoutMs: config.service.uploadTimeoutMs },
    envelopeCode: config.service.envelopeCode,
    readsLeniently: config.service.readsLeniently,
    tokens: createTokenCache(redis, accessDigest(access)),
    budgets: createBudgets(redis, config.budgetsPerMinute),
    followsLimitHeaders: config.followsLimitHeaders,
    clock,
    log,
    metrics,
    observe: (call) => serviceObserver.called(call),
    observeDifference: (seen) => serviceObserver.differed(seen),
  });
  resources.add('service client', client, (opened) => opened.close());
  return client;
}

/** Look-ups of the service through this client; all processes share the cached answers. */
export function openLookups(
  { config, clock, redis, serviceObserver, troubleLog }: Foundation,
  service: ServicePort,
): Lookups {
  const cache = createLookupCache(redis, { clock, log: troubleLog, keptMs: config.lookupCacheMs });
  return createLookups({ service, cache, clock, observeDifference: (seen) => serviceObserver.differed(seen) });
}

/** The look-ups of the console, with a client of their own. Null without access to the service. */
export function openConsoleLookups(foundation: Foundation): Lookups | null {
  const access = serviceAccess(foundation.config);
  if (access === null) return null;
  return openLookups(foundation, openServiceClient(foundation, { access, resources: foundation.resources }));
}

const CONTRADICTED_MS = 10_000;

/** A client that drops every call but the token call while another worker calls a different service. */
export function agreeingClient(
  client: ServiceClient,
  isContradicted: () => Promise<boolean>,
  clock: Clock,
): ServiceClient {
  const dropped = () => {
    const exchange = {
      kind: 'dropped',
      cause: 'services_differ',
      notBeforeMs: clock.nowMs() + CONTRADICTED_MS,
    } as const;
    return { exchange, data: null, rawBody: null, wasSent: false, isPermitSpent: false, durationMs: 0 };
  };
  return {
    ...client,
    call: async (name, request, options) =>
      name !== 'token' && (await isContradicted()) ? dropped() : client.call(name, request, options),
    submitViolation: async (name, submission, options) =>
      (await isContradicted()) ? dropped() : client.submitViolation(name, submission, options),
  };
}
