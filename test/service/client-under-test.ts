import { createMemoryTokenCache, createServiceClient, type ServiceClient } from '../../src/service';
import type { ServiceClientOptions } from '../../src/service';
import { systemClock, type Clock } from '../../src/platform/clock';
import type { Log, LogFields } from '../../src/platform/log/log';
import * as service from '../../src/contracts/service/service';
import type { ClaimedPermit, TokenCache } from '../../src/workflow/service/service-port';
import { noBudgets } from '../support/outboxes';
import { json, startFakeService, TOW_ANSWER, type FakeService } from './fake-service';

/** A log that can be read. */
export interface ClientLog extends Log {
  readonly lines: { readonly level: string; readonly event: string; readonly fields: LogFields }[];
}

export function readableLog(): ClientLog {
  const lines: ClientLog['lines'] = [];
  const at =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      void lines.push({ level, event, fields });
  const log: ClientLog = {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: () => log,
  };
  return log;
}

/** A clock that moves only when a test sets it forward. */
export interface MovableClock extends Clock {
  forwardMs(ms: number): void;
  /** The machine sleeps: the time of day goes on, and the monotonic clock stops. */
  sleepMs(ms: number): void;
}

export function movableClock(): MovableClock {
  const startMs = systemClock.nowMs();
  let [aheadMs, asleepMs] = [0, 0];
  return {
    ...systemClock,
    nowMs: () => startMs + aheadMs + asleepMs,
    monotonicMs: () => aheadMs,
    forwardMs: (ms) => void (aheadMs += ms),
    sleepMs: (ms) => void (asleepMs += ms),
  };
}

/** A permit that was taken with a claim a moment ago. */
export const FRESH_PERMIT: ClaimedPermit = { atMs: 1_000_000, isFresh: () => true };

/** A service and a cache of tokens for each test. After it the service stops and the clients of `clientFor` close. */
export function useFakeService(opened: (world: { fake: FakeService; tokens: TokenCache }) => void): void {
  let fake: FakeService | undefined;
  beforeEach(async () => {
    fake = await startFakeService();
    opened({ fake, tokens: createMemoryTokenCache(systemClock) });
  });
  afterEach(async () => {
    closeClients();
    await fake?.stop();
  });
}

export function bearersOf(calls: FakeService['calls']): (string | undefined)[] {
  return calls.map(({ headers }) => headers['Authorization']);
}

/** Accepts only these tokens, as the service does. */
export function acceptTokens(fake: FakeService, valid: readonly string[]): void {
  fake.onCall(({ headers }) =>
    valid.includes(headers['Authorization']?.replace('Bearer ', '') ?? '')
      ? TOW_ANSWER
      : json({ message: 'Unauthorized' }, 401),
  );
}

const open: ServiceClient[] = [];

/** A client that `closeClients` closes. */
export function clientFor(baseUrl: string, options: Partial<ServiceClientOptions> = {}): ServiceClient {
  const client = createServiceClient({
    baseUrl,
    clientId: 'client-7',
    clientSecret: 'secret-42',
    timeoutMs: 30_000,
    tokens: createMemoryTokenCache(systemClock),
    budgets: noBudgets,
    clock: systemClock,
    log: readableLog(),
    ...options,
  });
  open.push(client);
  return client;
}

/** A client that has the token `known` already, so that the service sees nothing but the call. */
export async function clientWithToken(
  baseUrl: string,
  options: Partial<ServiceClientOptions> = {},
): Promise<ServiceClient> {
  const tokens = createMemoryTokenCache(systemClock);
  await tokens.write({ token: 'known', expiresAtMs: null });
  return clientFor(baseUrl, { tokens, ...options });
}

export function closeClients(): void {
  for (const client of open.splice(0)) client.close();
}

const references = { violation_reference_id: 'V-20250101-ABC123', towing_reference_id: 'TW-20250101-ABC123' };

/** One valid request per operation. */
export const REQUESTS = {
  started: service.startedRequest.parse({
    ...references,
    plate_number: 'د ر ه 1234',
    towed_location: 'King Fahd Road "north", Riyadh',
    latitude: 24.7136,
    longitude: 46.6753,
    status_update_time: '2025-01-01T08:30:00.000Z',
  }),
  detained: service.detainedRequest.parse(references),
  canceled: service.canceledRequest.parse({ ...references, cancellation_reason: 'gone on arrival' }),
  released: service.releasedRequest.parse(references),
  invoice: service.invoiceRequest.parse({
    towing_reference_id: references.towing_reference_id,
    vehicle_type: 'HEAVY',
    delay_in_days: 0,
  }),
  payment: service.paymentRequest.parse({
    towing_reference_id: references.towing_reference_id,
    payment_status: 'PAID',
  }),
  capacity: service.capacityRequest.parse({ zoneId: 'ab c/é&=+?#' }),
  ticket: service.ticketRequest.parse({ zoneId: 'z-1', plateNumber: '1234 ABC', plateType: 'Heavy_Equipment' }),
  violation: service.violationForm.parse({
    date: '2025-01-01T08:30:00Z',
    latitude: 24.7136,
    longitude: -0.5,
    location: 'شارع التحلية, gate 4\r\nsecond line',
    plateNumber: 'ABC 1234',
    plateType: 'PRIVATE',
    zoneId: '8f14e45f-ceea-467f-a8d7-3f2a1c9b0e11',
    violationType: 'WRONG_PARKING',
    isSaudi: false,
    metadata: { id: 'm-1', note: 'a "quoted" note' },
    fullName: 'Reporter Name',
  }),
  violation_guide: service.guideViolationForm.parse({
    plateNumber: 'ABC 1234',
    plateType: 'TAXI',
    zoneId: '8f14e45f-ceea-467f-a8d7-3f2a1c9b0e11',
    violationType: 'NO_TICKET',
  }),
};
