import { OPERATIONS, type OperationName, type Refusal } from '../contracts/operations';
import type { Clock } from '../platform/clock';
import { STATUS_FAULTS, type Hit, type StatusFault } from './faults';
import type { Handled } from './operations/handling';

/** An answer ready to be sent. */
export interface Answer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How many calls a minute a 429 speaks of, by budget. */
const RATE_LIMITS = { auth: 20, site: 30, violations: 20, tickets: 40, tow: 60 } as const;

/** What an operation answers: its data, in the envelope or bare (service-api 4), or its refusal. */
export function operationAnswer(name: OperationName, handled: Handled, answers45: 'bare' | 'envelope'): Answer {
  if ('refusal' in handled) return refusalAnswer(handled.refusal);
  const isBare = OPERATIONS[name].answerShape === 'bare_or_envelope' && answers45 === 'bare';
  return jsonAnswer(200, isBare ? handled.data : enveloped(handled.data));
}

/** The shape of an error body is "not shown" (service-api 7); this service sends its status and message. */
export function refusalAnswer(refusal: Refusal): Answer {
  return jsonAnswer(refusal.httpStatus, { code: refusal.httpStatus, message: refusal.message });
}

/** A 200 that holds nothing of what the operation promises. */
export function brokenAnswer(): Answer {
  return jsonAnswer(200, enveloped({}));
}

/** The page that a proxy in front of a service, or a wrong address, answers. */
export function htmlNotFoundAnswer(): Answer {
  const body = '<!DOCTYPE html><html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>';
  return { httpStatus: 404, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

/** The answer of a fault that is a status. */
export function statusFaultAnswer(name: OperationName, hit: Hit<StatusFault>, clock: Clock): Answer {
  const { httpStatus, message } = STATUS_FAULTS[hit.fault];
  const answer = refusalAnswer({ httpStatus, message: hit.message ?? message });
  const retryAfterSeconds = hit.wantedMs === null ? 1 : Math.ceil(hit.wantedMs / 1000);
  if (httpStatus === 302) return { ...answer, headers: { ...answer.headers, location: '/' } };
  if (httpStatus === 503 && hit.wantedMs !== null) {
    return { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfterSeconds) } };
  }
  if (httpStatus !== 429) return answer;
  const limits = {
    'retry-after': String(retryAfterSeconds),
    'x-ratelimit-limit': String(RATE_LIMITS[OPERATIONS[name].budget]),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(clock.nowMs() / 1000) + retryAfterSeconds),
  };
  return { ...answer, headers: { ...answer.headers, ...limits } };
}

/** service-api 1: code, message, data. */
function enveloped(data: object): object {
  return { code: 200, message: 'Success', data };
}

function jsonAnswer(httpStatus: number, value: object): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { httpStatus, headers, body: JSON.stringify(value) };
}
