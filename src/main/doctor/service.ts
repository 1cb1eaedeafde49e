import type { Finding } from '../../cli';
import { FOREIGN_BODY_WORDS, type Exchange } from '../../domain/policy';
import type { Clock } from '../../platform/clock';
import { serviceAccess, type Config, type ServiceAccess } from '../../platform/config';
import { silentLog } from '../../platform/log';
import { codeOf } from '../../platform/system-error';
import { createMemoryTokenCache, createServiceClient } from '../../service';
import { createBudgets } from '../../store/budgets';
import { createTokenCache } from '../../store/tokens';
import type { Budgets } from '../../workflow/service-port';
import { clockFinding, notesOf } from './finding';
import type { Connection } from './redis';

const notes = notesOf('service');
const CREDENTIALS = 'SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET';

/** The service: asked for one token, as the worker asks, and for its time. */
export async function lookAtService(
  config: Config,
  tools: { clock: Clock; redis: Connection | null; wrong: readonly string[] },
): Promise<Finding[]> {
  const access = serviceAccess(config);
  if (access === null) return [notConfigured(config, tools.wrong)];
  const [token, time] = await Promise.all([tokenFinding(config, access, tools), timeFinding(access, tools.clock)]);
  return [token, time];
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

async function tokenFinding(
  config: Config,
  access: ServiceAccess,
  { clock, redis }: { clock: Clock; redis: Connection | null },
): Promise<Finding> {
  // The token may be the only one the service still takes, so all processes get it; and the call counts like any other.
  const tokens = redis ? createTokenCache(redis) : createMemoryTokenCache(clock);
  const budgets = redis ? createBudgets(redis, config.budgetsPerMinute) : ANY_NUMBER;
  const { timeoutMs } = config.service;
  try {
    const client = createServiceClient({ ...access, timeoutMs, tokens, budgets, clock, log: silentLog });
    try {
      return meaning((await client.call('token', null)).exchange);
    } finally {
      client.close();
    }
  } catch (error) {
    // The texts of libraries repeat what they were given.
    const what = `could not be asked: ${codeOf(error) ?? 'the call could not be made'}`;
    return notes.fault('service_not_configured', what, `Check SERVICE_BASE_URL, ${CREDENTIALS}.`);
  }
}

const ANY_NUMBER: Budgets = { reserve: () => Promise.resolve({ granted: true, inMs: 0, lastsMs: Infinity }) };

/** What the answer to the token call says about the configuration. */
function meaning(exchange: Exchange): Finding {
  switch (exchange.kind) {
    case 'accepted':
      return notes.fine('token_given', 'gives an access token for these credentials');
    case 'contract_broken':
      return notes.fault(
        'service_answers_otherwise',
        `something answers ${exchange.httpStatus}, but not as the service does: ${exchange.issues.join('; ')}`,
        'Check host and path prefix of SERVICE_BASE_URL.',
      );
    case 'not_the_service':
      return notes.fault(
        'service_answers_otherwise',
        `something answers ${exchange.httpStatus}, but not as the service does: ${FOREIGN_BODY_WORDS[exchange.cause]}`,
        'Check host and path prefix of SERVICE_BASE_URL, and whether a proxy or a page answers in its place.',
      );
    case 'surely_not_sent':
    case 'unanswered':
    case 'connection':
      return notes.fault(
        'service_unreachable',
        `does not answer: ${exchange.cause.replaceAll('_', ' ')}`,
        'Check host and port of SERVICE_BASE_URL, name resolution, firewalls and proxies between here and there.',
      );
    case 'dropped':
      return notes.skipped(
        'not_looked_at',
        'the budget of token calls (BUDGET_AUTH_PER_MINUTE) is used up; try again in a minute',
      );
    case 'refused':
      return refusalMeaning(exchange);
  }
}

function refusalMeaning({ httpStatus, message, isJson }: Extract<Exchange, { kind: 'refused' }>): Finding {
  const said = message ? `: ${message}` : '';
  if (httpStatus === 401 || httpStatus === 403) {
    const what = `does not accept the credentials (${httpStatus}${said})`;
    return notes.fault('service_credentials_wrong', what, `Check ${CREDENTIALS}; ask its administration for new ones.`);
  }
  if (httpStatus === 404 || httpStatus === 405 || httpStatus < 400 || (httpStatus < 500 && !isJson)) {
    return notes.fault(
      'service_address_wrong',
      `has nothing at this address (${httpStatus} for /auth/public/token below it)`,
      'SERVICE_BASE_URL must carry the whole path prefix of the service, such as https://host/prefix; paths are appended to it.',
    );
  }
  if (httpStatus === 429) {
    return notes.warning(
      'service_limits',
      'says too many calls',
      'Try again in a minute; lower BUDGET_AUTH_PER_MINUTE.',
    );
  }
  if (httpStatus >= 500) {
    const fix = 'Nothing to fix here: reports wait and are sent when it is back. Ask its administration if it lasts.';
    return notes.fault('service_failing', `answers ${httpStatus}${said}`, fix);
  }
  return notes.fault('service_refuses', `answers ${httpStatus}${said}`, `Check SERVICE_BASE_URL, ${CREDENTIALS}.`);
}

/** Any answer tells the time, whatever else it says. */
async function timeFinding({ baseUrl }: ServiceAccess, clock: Clock): Promise<Finding> {
  const skipped = notesOf('service clock').skipped('not_looked_at', 'the service does not tell its time');
  try {
    const beforeMs = clock.nowMs();
    const answer = await fetch(baseUrl, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(5000) });
    const afterMs = clock.nowMs();
    const theirsMs = Date.parse(answer.headers.get('date') ?? '');
    // The header counts whole seconds.
    return Number.isNaN(theirsMs) ? skipped : clockFinding('service clock', theirsMs + 500 - (beforeMs + afterMs) / 2);
  } catch {
    return skipped;
  }
}
