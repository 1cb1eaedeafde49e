import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { OPERATIONS, type OperationName } from '../contracts/service/operations';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import type { Clock } from '../platform/clock';
import {
  brokenAnswer,
  operationAnswer,
  overLimitAnswer,
  pageAnswer,
  refusalAnswer,
  statusFaultAnswer,
  type SimulatedAnswer,
} from './answer/answers';
import { maskedHeaders, type SimulatedCall, type CallLog } from './calls';
import { SIMULATED_OPERATIONS, type FaultRules, type Hit, type OperationFault } from './answer/faults';
import { HANDLERS } from './operations';
import type { Handling } from './operations/handling';
import type { ServiceProfile } from './profile';
import type { CountedCall, RateLimits } from './answer/rate-limits';
import { receive, withTextReferences, type ReceivedRequest } from './received';
import { REFUSALS } from './answer/faults';

export interface Serving extends Handling {
  readonly clock: Clock;
  readonly log: Log;
  /** Waits; false when the simulator stops in the meantime. */
  readonly wait: (ms: number) => Promise<boolean>;
  readonly faults: FaultRules;
  readonly limits: RateLimits;
  readonly calls: CallLog;
}

/** Serves every operation of the table under any path prefix; passes other requests to the next handler. */
export function operationHandler(serving: Serving): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const name = operationOf(request.method, request.path, serving.profile.current);
    if (name === null) next();
    else await serve({ name, request, response }, serving);
  };
}

/** The operation whose path ends the request's path. */
function operationOf(method: string, path: string, { paths }: ServiceProfile): OperationName | null {
  const bare = path.replace(/\/+$/, '');
  return (
    SIMULATED_OPERATIONS.find(
      (name) => OPERATIONS[name].method === method && bare.endsWith(paths[name] ?? OPERATIONS[name].path),
    ) ?? null
  );
}

interface OperationRequest {
  readonly name: OperationName;
  readonly request: Request;
  readonly response: Response;
}

async function serve(visit: OperationRequest, serving: Serving): Promise<void> {
  const { name, request } = visit;
  const startedMs = serving.clock.monotonicMs();
  const call: SimulatedCall = {
    at: new Date(serving.clock.nowMs()).toISOString(),
    operation: name,
    method: request.method,
    path: request.originalUrl,
    headers: maskedHeaders(request.headers),
    body: null,
    status: null,
    effect: false,
    fault: null,
  };
  const entry = serving.calls.open(call);
  let towingReference: string | null = null;
  try {
    const read = await receive(request, OPERATIONS[name].encoding);
    const hasNumbers = serving.profile.current.references === 'number';
    const received = hasNumbers ? { ...read, fields: withTextReferences(read.fields) } : read;
    call.body = received.shown;
    call.hung_up = await hasHungUp(request);
    const reference = received.fields['towing_reference_id'];
    towingReference = typeof reference === 'string' ? reference : null;
    const counted = serving.limits.count(OPERATIONS[name].budget);
    entry.setTowingReference(towingReference);
    const hit = serving.faults.forCall({ name, path: request.path, towingReference });
    call.fault = hit?.fault ?? null;
    await respond({ ...visit, call, received, counted, hit }, serving);
  } catch (error) {
    // A client that disconnected gets no answer.
    if (request.complete) {
      serving.log.error('simulator.call_failed', { operation: name, ...errorFacts(error) });
      send({ ...visit, call, counted: null }, refusalAnswer(REFUSALS.serverError, serving.profile.current));
    }
  } finally {
    entry.close();
    const { operation, status, effect, fault } = call;
    const durationMs = Math.round(serving.clock.monotonicMs() - startedMs);
    const facts = { operation, status, effect, fault, towing_reference_id: towingReference, duration_ms: durationMs };
    serving.log.debug('simulator.call_served', facts);
  }
}

/** The end of the caller's connection is read one turn of the event loop after its call. */
async function hasHungUp(request: Request): Promise<boolean> {
  await nextTurn();
  await nextTurn();
  return request.socket.readableEnded || request.socket.destroyed;
}

interface IncomingCall extends OperationRequest {
  readonly call: SimulatedCall;
  readonly received: ReceivedRequest;
  /** Null without a rate limit. */
  readonly counted: CountedCall | null;
  readonly hit: Hit<OperationFault> | null;
}

/** Handles a call with its fault, if any. */
async function respond(incoming: IncomingCall, serving: Serving): Promise<void> {
  const { name, request, response, counted, hit } = incoming;
  const profile = serving.profile.current;
  if (hit === null) {
    const isOver = counted !== null && !counted.isAllowed;
    send(incoming, isOver ? overLimitAnswer(counted, serving.clock.nowMs(), profile) : work(incoming, serving));
    return;
  }
  switch (hit.fault) {
    case 'latency':
      if (await serving.wait(hit.ms)) send(incoming, work(incoming, serving));
      else request.socket.destroy();
      return;
    case 'late': {
      const answer = work(incoming, serving);
      if (await serving.wait(hit.ms)) send(incoming, answer);
      else request.socket.destroy();
      return;
    }
    case 'lost_answer':
      work(incoming, serving);
      request.socket.destroy();
      return;
    case 'drop':
      request.socket.destroy();
      return;
    case 'hang':
      if (!response.destroyed) await once(response, 'close');
      return;
    case 'expired_token':
      serving.access.revoke(request.headers.authorization);
      send(incoming, refusalAnswer(REFUSALS.unauthorized, profile));
      return;
    case 'broken_answer': {
      const answer = work(incoming, serving);
      send(incoming, incoming.call.effect ? brokenAnswer(profile) : answer);
      return;
    }
    case 'html_404':
      send(incoming, pageAnswer(404));
      return;
    case 'html_200':
      send(incoming, pageAnswer(200));
      return;
    case '302':
    case '400':
    case '401':
    case '403':
    case '404':
    case '408':
    case '429':
    case '500':
    case '502':
    case '503':
    case '504':
      send(incoming, statusFaultAnswer(name, { ...hit, fault: hit.fault }, { nowMs: serving.clock.nowMs(), profile }));
  }
}

/** Handles the operation: authentication first, then its own rules. */
function work({ name, request, call, received }: IncomingCall, serving: Serving): SimulatedAnswer {
  const unauthorized = serving.access.check(name, request.headers.authorization);
  const header = (headerName: string) => request.get(headerName);
  const handled = unauthorized ?? HANDLERS[name]({ fields: received.fields, images: received.images, header }, serving);
  call.effect = 'data' in handled;
  if ('refusal' in handled) {
    serving.log.debug('simulator.call_refused', { operation: name, ...handled.refusal, field: handled.field });
  }
  return operationAnswer(name, handled, serving.profile.current);
}

/** Sends the answer unless the client has disconnected. */
function send(
  { response, call, counted }: Pick<IncomingCall, 'response' | 'call' | 'counted'>,
  answer: SimulatedAnswer,
): void {
  if (response.destroyed || response.writableEnded) return;
  call.status = answer.httpStatus;
  response.writeHead(answer.httpStatus, { ...counted?.headers, ...answer.headers });
  response.end(answer.body);
}
