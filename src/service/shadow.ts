import type { Clock } from '../platform/clock';
import type { ServiceClient } from '.';

const LATER_MS = 600_000;

/** A client that makes the token call only. Any other call is dropped before anything is sent. */
export function shadowClient(client: ServiceClient, clock: Clock): ServiceClient {
  const dropped = () => ({
    exchange: { kind: 'dropped', notBeforeMs: clock.nowMs() + LATER_MS } as const,
    data: null,
    rawBody: null,
    wasSent: false,
    isPermitSpent: false,
    durationMs: 0,
  });
  return {
    ...client,
    call: async (name, request, options) => (name === 'token' ? client.call(name, request, options) : dropped()),
    submitViolation: () => Promise.resolve(dropped()),
  };
}
