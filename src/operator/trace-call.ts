import type { Route } from '../contracts/routes/route';
import type { Clock } from '../platform/clock';
import type { Tracing } from '../platform/tracing';
import type { RouteCall } from './check-call';
import type { EndpointResponse } from './responses';

export interface TraceTools {
  readonly tracing: Tracing;
  readonly clock: Clock;
}

interface TracedCall<R extends Route> {
  readonly route: R;
  readonly call: RouteCall<R>;
  readonly traceparent: string | undefined;
}

/** Makes a change, and gives its span to the trace of the tow or violation that the path of its route names. */
export async function traced<R extends Route>(
  { route, call, traceparent }: TracedCall<R>,
  { tracing, clock }: TraceTools,
  change: () => Promise<EndpointResponse>,
): Promise<EndpointResponse> {
  const subject = subjectOf(route, call);
  if (!subject) return change();
  const startedMs = clock.monotonicMs();
  const response = await change();
  tracing.ended({
    subject,
    name: `${route.method.toUpperCase()} ${route.path}`,
    place: 'later',
    kind: 'received',
    endedAtMs: clock.nowMs(),
    durationMs: clock.monotonicMs() - startedMs,
    isFailed: response.kind === 'refused',
    attributes: {
      http_status: response.kind === 'refused' ? response.refusal.httpStatus : route.status,
      code: response.kind === 'refused' ? response.refusal.code : null,
      role: call.actor.role,
    },
    traceparent,
  });
  return response;
}

function subjectOf<R extends Route>({ path }: Route, { params }: RouteCall<R>) {
  if (path.includes('/:towing_reference_id')) return { kind: 'tow', id: params('towing_reference_id') } as const;
  if (path.includes('/:violation_id')) return { kind: 'violation', id: params('violation_id') } as const;
  return null;
}
