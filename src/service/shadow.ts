import type { DroppedCause } from '../domain/service/policy';
import type { Clock } from '../platform/clock';
import type { ServiceClient } from '.';

const LATER_MS = 600_000;
const CONTRADICTED_MS = 10_000;

/** A client that makes the token call only. Any other call is dropped before anything is sent. */
export function shadowClient(client: ServiceClient, clock: Clock): ServiceClient {
  const dropped = () => droppedCall('shadow_mode', clock.nowMs() + LATER_MS);
  return {
    ...client,
    call: async (name, request, options) => (name === 'token' ? client.call(name, request, options) : dropped()),
    submitViolation: () => Promise.resolve(dropped()),
  };
}

/** A client that drops every call but the token call while another worker calls a different service. */
export function agreeingClient(
  client: ServiceClient,
  isContradicted: () => Promise<boolean>,
  clock: Clock,
): ServiceClient {
  const dropped = () => droppedCall('services_differ', clock.nowMs() + CONTRADICTED_MS);
  return {
    ...client,
    call: async (name, request, options) =>
      name !== 'token' && (await isContradicted()) ? dropped() : client.call(name, request, options),
    submitViolation: async (name, submission, options) =>
      (await isContradicted()) ? dropped() : client.submitViolation(name, submission, options),
  };
}

/** The result of a call that was not made. */
function droppedCall(cause: DroppedCause, notBeforeMs: number) {
  const exchange = { kind: 'dropped', cause, notBeforeMs } as const;
  return { exchange, data: null, rawBody: null, wasSent: false, isPermitSpent: false, durationMs: 0 };
}
