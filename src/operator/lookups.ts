import { zoneId } from '../contracts/lookups';
import { ROUTES } from '../contracts/operator-routes';
import { failedRules } from '../contracts/rules';
import { invalid } from '../domain/refusal';
import type { NoAnswer } from '../workflow/lookup-port';
import type { Found, Lookups } from '../workflow/lookups';
import type { Problem } from './said';
import type { Server } from './serve';

/**
 * What the service can be asked right now (service-api 4.5). Its own words about a question come back as 422; that it
 * cannot be asked is 503, with the time to come back; that its answer breaks its contract is 502, because nothing says
 * that it will be another one the next time.
 */
export function serveLookups(server: Server, lookups: Lookups | null): void {
  server.ask(ROUTES.readCapacity, async ({ params }) => {
    const zone = zoneId.safeParse(params('zone_id'));
    if (!zone.success) {
      const rules = failedRules(zone.error).map(({ rule }) => ({ field: 'zone_id', rule }));
      return { httpStatus: 422, error: invalid(rules).refusal, retryAfterMs: null };
    }
    return lookups === null ? NOT_CONFIGURED : saidOf(await lookups.capacity(zone.data));
  });
  server.ask(ROUTES.checkTicket, async ({ body }) =>
    lookups === null ? NOT_CONFIGURED : saidOf(await lookups.ticket(body)),
  );
}

const NOT_CONFIGURED: Problem = {
  httpStatus: 503,
  error: {
    code: 'service_not_configured',
    message: 'This console has no access to the service: SERVICE_BASE_URL, SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET.',
  },
  retryAfterMs: null,
};

function saidOf(found: Found<object>): { readonly answer: object } | Problem {
  if (found.kind === 'not_answered') return problemOf(found.because);
  return { answer: { ...found.data, checked_at: new Date(found.checkedAtMs).toISOString() } };
}

/** Everything that keeps the service from answering, as this API says it. */
const PROBLEMS = {
  budget_spent: [503, 'budget_spent', 'The calls that may be made to the service this minute are used up.'],
  connection_lost: [503, 'service_connection_lost', 'The service gives no access token, or its address is wrong.'],
  forbidden: [503, 'service_forbids', 'The service does not allow this operator to ask that.'],
  unavailable: [503, 'service_unavailable', 'The service could not be reached, or failed.'],
  answer_broken: [502, 'answer_broken', 'The service answered something that cannot be understood.'],
} as const;

function problemOf(because: NoAnswer): Problem {
  if (because.why === 'refused') {
    const { message, field } = because;
    const details = field === null ? [] : [{ field, rule: message }];
    return { httpStatus: 422, error: { code: 'service_refused', message, details }, retryAfterMs: null };
  }
  const [httpStatus, code, message] = PROBLEMS[because.why];
  return { httpStatus, error: { code, message }, retryAfterMs: because.retryAfterMs };
}
