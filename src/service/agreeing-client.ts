import type { Clock } from '../platform/clock';
import type { ServiceClient } from '.';

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
