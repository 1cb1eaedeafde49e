import type { Finding } from '../cli';
import type { Clock } from '../platform/clock';
import { ConfigurationError, serviceAccess, type Config, type ServiceAccess } from '../platform/config/config';
import { silentLog } from '../platform/log/log';
import { errorCode } from '../platform/errors';
import {
  accessDigest,
  callAddresses,
  createMemoryTokenCache,
  createServiceClient,
  type ObservedCall,
} from '../service';
import { createBudgets } from '../store/service/budgets';
import type { Redis } from '../store/redis/connect';
import { createTokenCache } from '../store/service/tokens';
import type { Budgets } from '../workflow/service/service-port';
import { addressFindings } from './probe';
import { variableFaults } from './configuration';
import { clockFinding, notesOf } from './finding';
import { probeFindings } from './probe';
import { tokenMeaning } from './token';

const notes = notesOf('service');
const CREDENTIALS = 'SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET';

export interface ServiceTools {
  readonly clock: Clock;
  readonly redis: Redis | null;
  readonly wrong: readonly string[];
  /** Whether each operation is tried without effect. */
  readonly probes: boolean;
}

/** Checks the service with one token call, as a worker makes it, its clock, and its operations. */
export async function checkService(config: Config, tools: ServiceTools): Promise<Finding[]> {
  const access = serviceAccess(config);
  if (access === null) return [notConfigured(config, tools.wrong)];
  try {
    return await askService(config, access, tools);
  } catch (error) {
    if (error instanceof ConfigurationError) return variableFaults(error);
    // The message of a library may repeat the credentials.
    const what = `could not be asked: ${errorCode(error) ?? 'the call could not be made'}`;
    return [notes.fault('service_not_configured', what, `Check SERVICE_BASE_URL, ${CREDENTIALS}.`)];
  }
}

async function askService(config: Config, access: ServiceAccess, tools: ServiceTools): Promise<Finding[]> {
  const { clock, redis, probes } = tools;
  // The token is shared with all processes, since the service may accept only the newest, and the call counts against
  // the rate limit.
  const tokens = redis ? createTokenCache(redis, accessDigest(access)) : createMemoryTokenCache(clock);
  const shared = redis ? createBudgets(redis, config.budgetsPerMinute) : ANY_NUMBER;
  let isUncounted = false;
  const budgets: Budgets = {
    ...shared,
    reserve: (...permit) =>
      shared.reserve(...permit).catch((error: unknown) => {
        isUncounted = true;
        throw error;
      }),
  };
  const { timeoutMs, envelopeCode, readsLeniently } = config.service;
  const skews: number[] = [];
  const observe = ({ date, durationMs }: ObservedCall) => {
    const theirsMs = Date.parse(date ?? '');
    // The header counts whole seconds.
    if (!Number.isNaN(theirsMs)) skews.push(theirsMs + 500 - (clock.nowMs() - durationMs / 2));
  };
  const settings = {
    ...access,
    timeoutMs,
    envelopeCode,
    readsLeniently,
    tokens,
    budgets,
    clock,
    log: silentLog,
    observe,
  };
  const client = createServiceClient(settings);
  try {
    const { url } = callAddresses(access.baseUrl, access.paths)('token');
    const { exchange } = await client.call('token', null);
    // Without an answer of Redis the call is not made, as when its budget is used up.
    const token =
      exchange.kind === 'dropped' && isUncounted
        ? notes.skipped('not_looked_at', 'Redis does not count the token call, so it was not made')
        : tokenMeaning(exchange, { url, config });
    const time =
      skews[0] === undefined
        ? notesOf('service clock').skipped('not_looked_at', 'the service does not tell its time')
        : clockFinding('service clock', skews[0]);
    const tried = probes && token.state === 'fine' ? await probeFindings(config, access, client) : [];
    return [token, time, ...addressFindings(config, access), ...tried];
  } finally {
    client.close();
  }
}

function notConfigured({ service }: Config, wrong: readonly string[]): Finding {
  const missing = Object.entries({
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_CLIENT_ID: service.clientId,
    SERVICE_CLIENT_SECRET: service.clientSecret,
  }).flatMap(([variable, value]) => (value === null ? [variable] : []));
  if (missing.every((variable) => wrong.includes(variable))) {
    return notes.skipped('not_looked_at', `${missing.join(', ')} must be right first`);
  }
  return notes.fault(
    'service_not_configured',
    `${missing.join(', ')} not set: workers do not start`,
    'Set what the administration of the service has given you; without it, `npm start -- simulator` plays the service.',
  );
}

const ANY_NUMBER: Budgets = {
  reserve: () => Promise.resolve({ granted: true, inMs: 0, lastsMs: Infinity }),
  observe: () => Promise.resolve({ closedForMs: 0 }),
};
