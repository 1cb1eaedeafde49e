import { zoneId } from '../../contracts/routes/violations';
import { ROUTES } from '../../contracts/operator-routes';
import { failedRules } from '../../contracts/rules';
import { isoTimestamp } from '../../domain/timestamp';
import type { LookupAnswer, Lookups, NoAnswer } from '../../workflow/service/lookups';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import { invalidFields, refusedResponse, type RefusedResponse } from '../responses';
import { refusalOfCalls } from './withheld';

/**
 * Questions that are passed on to the parking service (docs/service-api.md#guide-operations). Its refusal of a question
 * becomes 422 with its message. When it cannot be asked: 503 with Retry-After. When its answer breaks the contract: 502, as
 * a retry is unlikely to help.
 */
export function serveLookups(server: ApiServer, { lookups, withheld }: OperatorTools): void {
  const ask = async (find: (asked: Lookups) => Promise<LookupAnswer<object>>) =>
    (await refusalOfCalls(withheld)) ?? (lookups === null ? SERVICE_NOT_CONFIGURED : responseOf(await find(lookups)));
  server.ask(ROUTES.readCapacity, async ({ params }) => {
    const zone = zoneId.safeParse(params('zone_id'));
    if (zone.success) return ask((asked) => asked.capacity(zone.data));
    return invalidFields(failedRules(zone.error).map(({ rule }) => ({ field: 'zone_id', rule })));
  });
  server.ask(ROUTES.checkTicket, ({ body }) => ask((asked) => asked.ticket(body)));
}

const SERVICE_NOT_CONFIGURED = refusedResponse(503, {
  code: 'service_not_configured',
  message:
    'This console cannot call the service. Set SERVICE_BASE_URL, SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET for it.',
});

function responseOf(found: LookupAnswer<object>): { readonly answer: object } | RefusedResponse {
  if (found.kind === 'not_answered') return refusalOf(found.because);
  return { answer: { ...found.data, checked_at: isoTimestamp(found.checkedAtMs) } };
}

/** Reason why the service gave no answer → status, code and message. */
const NO_ANSWER = {
  budget_spent: [503, 'budget_spent', 'The calls to the service for this minute are used up. Try again later.'],
  connection_lost: [503, 'service_connection_lost', 'The service gives no access token, or its address is wrong.'],
  forbidden: [503, 'service_forbids', 'The service does not allow this operator to ask this.'],
  unavailable: [503, 'service_unavailable', 'The service cannot be reached, or failed. Try again later.'],
  answer_broken: [502, 'answer_broken', 'The answer of the service cannot be read.'],
} as const;

function refusalOf(because: NoAnswer): RefusedResponse {
  if (because.why === 'refused') {
    const { message, field } = because;
    const details = field === null ? [] : [{ field, rule: message }];
    return refusedResponse(422, { code: 'service_refused', message, details });
  }
  const [httpStatus, code, message] = NO_ANSWER[because.why];
  return refusedResponse(httpStatus, { code, message }, because.retryAfterMs);
}
