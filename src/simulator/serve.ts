import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { OPERATIONS, type OperationName } from '../contracts/operations';
import { errorFacts, type Log } from '../platform/log';
import type { Clock } from '../platform/clock';
import {
  brokenAnswer,
  htmlNotFoundAnswer,
  operationAnswer,
  refusalAnswer,
  statusFaultAnswer,
  type Answer,
} from './answers';
import { maskedHeaders, type Call, type CallLog } from './calls';
import type { Delays } from './delays';
import { OPERATION_NAMES, type Faults, type Hit, type OperationFault } from './faults';
import { HANDLERS } from './operations';
import type { Handling } from './operations/handling';
import { receive, type Received } from './received';
import { REFUSALS } from './refusals';

export interface Serving extends Handling {
  readonly clock: Clock;
  readonly log: Log;
  readonly delays: Delays;
  readonly faults: Faults;
  readonly calls: CallLog;
  readonly answers45: 'bare' | 'envelope';
}

/** Serves every operation of the table under any path prefix; all other requests are left to the next handler. */
export function serveOperations(serving: Serving): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const name = operationOf(request.method, request.path);
    if (name === null) next();
    else await serve({ name, request, response }, serving);
  };
}

/** The operation whose path ends the request's path. */
function operationOf(method: string, path: string): OperationName | null {
  const bare = path.replace(/\/+$/, '');
  return (
    OPERATION_NAMES.find((name) => OPERATIONS[name].method === method && bare.endsWith(OPERATIONS[name].path)) ?? null
  );
}

interface Visit {
  readonly name: OperationName;
  readonly request: Request;
  readonly response: Response;
}

async function serve(visit: Visit, serving: Serving): Promise<void> {
  const { name, request } = visit;
  const startedMs = serving.clock.monotonicMs();
  const call: Call = {
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
    const received = await receive(request, OPERATIONS[name].encoding);
    call.body = received.shown;
    call.hung_up = await hasHungUp(request);
    const reference = received.fields['towing_reference_id'];
    towingReference = typeof reference === 'string' ? reference : null;
    entry.setTowingReference(towingReference);
    const hit = serving.faults.forCall({ name, path: request.path, towingReference });
    call.fault = hit?.fault ?? null;
    await play({ ...visit, call, received, hit }, serving);
  } catch (error) {
    // A client that went away in the middle of its request is no fault of the simulator and hears no answer.
    if (request.complete) {
      serving.log.error('simulator.call_failed', { operation: name, ...errorFacts(error) });
      send({ ...visit, call }, refusalAnswer(REFUSALS.serverError));
    }
  } finally {
    entry.close();
    const { operation, status, effect, fault } = call;
    const durationMs = Math.round(serving.clock.monotonicMs() - startedMs);
    const facts = { operation, status, effect, fault, towing_reference_id: towingReference, duration_ms: durationMs };
    serving.log.debug('simulator.call_served', facts);
  }
}

/** The end of a caller's connection is read a turn after the call it follows. */
async function hasHungUp(request: Request): Promise<boolean> {
  await nextTurn();
  await nextTurn();
  return request.socket.readableEnded || request.socket.destroyed;
}

interface Hearing extends Visit {
  readonly call: Call;
  readonly received: Received;
  readonly hit: Hit<OperationFault> | null;
}

/** Does what the operation does, as far as the fault lets it. */
async function play(hearing: Hearing, serving: Serving): Promise<void> {
  const { name, request, response, hit } = hearing;
  if (hit === null) {
    send(hearing, work(hearing, serving));
    return;
  }
  switch (hit.fault) {
    case 'latency':
      if (await serving.delays.wait(hit.ms)) send(hearing, work(hearing, serving));
      else request.socket.destroy();
      return;
    case 'late': {
      const answer = work(hearing, serving);
      if (await serving.delays.wait(hit.ms)) send(hearing, answer);
      else request.socket.destroy();
      return;
    }
    case 'lost_answer':
      work(hearing, serving);
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
      send(hearing, refusalAnswer(REFUSALS.unauthorized));
      return;
    case 'broken_answer': {
      const answer = work(hearing, serving);
      send(hearing, answer.httpStatus === 200 ? brokenAnswer() : answer);
      return;
    }
    case 'html_404':
      send(hearing, htmlNotFoundAnswer());
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
      send(hearing, statusFaultAnswer(name, { ...hit, fault: hit.fault }, serving.clock));
  }
}

/** Carries the operation out: authentication first, then the operation's own rules. */
function work({ name, request, call, received }: Hearing, serving: Serving): Answer {
  const denied = serving.access.check(name, request.headers.authorization);
  const header = (headerName: string) => request.get(headerName);
  const handled = denied ?? HANDLERS[name]({ fields: received.fields, images: received.images, header }, serving);
  call.effect = 'data' in handled;
  if ('refusal' in handled) {
    serving.log.debug('simulator.call_refused', { operation: name, ...handled.refusal, field: handled.field });
  }
  return operationAnswer(name, handled, serving.answers45);
}

/** Sends the answer unless the client has gone away meanwhile. */
function send({ response, call }: Pick<Hearing, 'response' | 'call'>, answer: Answer): void {
  if (response.destroyed || response.writableEnded) return;
  call.status = answer.httpStatus;
  response.writeHead(answer.httpStatus, answer.headers);
  response.end(answer.body);
}
