import { sendingView } from '../../src/contracts/operator';
import { systemClock } from '../../src/platform/clock';
import { slidingWindow } from '../../src/store/service/budgets';
import { budgetKey } from '../../src/store/keys';
import { enveloped, json, startFakeService, type FakeReply } from '../service/fake-service';
import { eventually, inTime } from '../support/eventually';
import { useRedis } from '../support/redis';
import { api } from './client';
import {
  askCapacity,
  askTicket,
  capacityIn,
  endAll,
  problemIn,
  startConsoleWith,
  startWorld,
  ticketIn,
  UNKNOWN_ZONE,
  VEHICLE,
  ZONE,
} from './lookup-service';

const redis = useRedis();
afterEach(endAll);

const world = (environment?: Readonly<Record<string, string>>) => startWorld(redis, environment);

describe('operator API: lookups while the service is unavailable', () => {
  it.each([
    ['403', 503, 'service_forbids'],
    ['401', 503, 'service_connection_lost'],
    ['302', 503, 'service_connection_lost'],
    ['html_404', 503, 'service_connection_lost'],
    ['500', 503, 'service_unavailable'],
    ['408', 503, 'service_unavailable'],
    ['504', 503, 'service_unavailable'],
    ['drop', 503, 'service_unavailable'],
    ['broken_answer', 502, 'answer_broken'],
  ])(
    'answers lookups with Retry-After when the service fails with %s: status %i and code %s',
    async (fault, status, code) => {
      const { service, app } = await world();
      await service.faults({ operation: 'capacity', fault }, { operation: 'ticket', fault });
      for (const response of [await askCapacity(app), await askTicket(app)]) {
        expect(problemIn(response)).toMatchObject({ status, code });
        expect(problemIn(response).retryAfter).toBeGreaterThan(0);
      }
    },
  );

  it.each(['429', '503'])(
    'passes the Retry-After of a %s of the service on to the client of a lookup',
    async (fault) => {
      const { service, app } = await world();
      await service.faults({ operation: 'capacity', fault, ms: 42_000 });
      const { status, code, retryAfter } = problemIn(await askCapacity(app));
      expect([status, code]).toEqual([503, 'service_unavailable']);
      expect(retryAfter).toBeGreaterThanOrEqual(41);
      expect(retryAfter).toBeLessThanOrEqual(43);
    },
  );

  it.each([
    ['refuses a token with 401', '401', 'service_connection_lost'],
    ['fails with 500 when a token is asked for', '500', 'service_unavailable'],
  ])('answers lookups with 503 when the service %s, and blocks no reports', async (_what, fault, code) => {
    const { service, app } = await world();
    await service.faults({ operation: 'token', fault });
    for (let nth = 0; nth < 6; nth += 1) {
      expect(problemIn(await askCapacity(app))).toMatchObject({ status: 503, code });
    }
    const { connection, service: health, held } = sendingView.parse((await api(app).get('/api/operations')).body);
    expect([connection.state, health.state, health.failures, held]).toEqual(['working', 'working', 0, 0]);
    expect((await api(app).get('/api/tasks')).body).toMatchObject({ items: [] });
  });

  it('renews an expired token and answers the lookup', async () => {
    const { service, app } = await world();
    await service.faults({ operation: 'ticket', fault: 'expired_token', times: 1 });
    expect(ticketIn(await askTicket(app)).hasActiveTicket).toBe(true);
    expect(await service.callsOf('token')).toHaveLength(2);
  });

  it('answers a lookup with 502 when the service responds with another zone', async () => {
    const fake = await startFakeService();
    try {
      const app = await startConsoleWith(redis, { SERVICE_BASE_URL: fake.url });
      const about = (zoneId: string): FakeReply => json({ zoneId, availableSlots: 3 });
      fake.onCall((_, nth) =>
        nth === 1 ? about(UNKNOWN_ZONE) : enveloped({ zoneId: ZONE.toUpperCase(), availableSlots: 3 }),
      );
      expect(problemIn(await askCapacity(app))).toMatchObject({ status: 502, code: 'answer_broken' });
      expect(capacityIn(await askCapacity(app)).availableSlots).toBe(3);
    } finally {
      await fake.stop();
    }
  });
});

describe('operator API: rate limits of lookups', () => {
  it('answers a lookup with 503 and Retry-After at once when the next rate limit permit is more than 5 s away', async () => {
    const { service, app } = await world({ BUDGET_SITE_PER_MINUTE: '1', BUDGET_TICKETS_PER_MINUTE: '1' });
    capacityIn(await askCapacity(app));
    ticketIn(await askTicket(app));
    // A lookup that waited for its permit would take 5 s.
    const responses = await inTime(4000, async () => [
      await askCapacity(app, `${ZONE.slice(0, -1)}0`),
      await askTicket(app, { ...VEHICLE, plateType: 'TAXI' }),
    ]);
    for (const response of responses) {
      const { status, code, retryAfter } = problemIn(response);
      expect([status, code]).toEqual([503, 'budget_spent']);
      expect(retryAfter).toBeGreaterThan(50);
      expect(retryAfter).toBeLessThanOrEqual(62);
    }
    expect([(await service.callsOf('capacity')).length, (await service.callsOf('ticket')).length]).toEqual([1, 1]);
  });

  it('waits for a rate limit permit that is at most 5 s away', async () => {
    const { windowMs } = slidingWindow(1);
    // A process that stalls for longer than a permit lasts needs another one, which this rate limit does not have.
    const waitedMs = await eventually(async () => {
      const { app } = await world({ BUDGET_SITE_PER_MINUTE: '1' });
      await redis.ask('DEL', budgetKey('site'));
      await redis.ask('LPUSH', budgetKey('site'), String(systemClock.nowMs() - windowMs + 1200));
      const startedMs = systemClock.monotonicMs();
      capacityIn(await askCapacity(app));
      return systemClock.monotonicMs() - startedMs;
    });
    expect(waitedMs).toBeGreaterThan(900);
  });

  it('answers a lookup with budget_spent, not as a lost connection, when the rate limit of token calls is reached', async () => {
    const { service, app } = await world({ BUDGET_AUTH_PER_MINUTE: '1' });
    await service.faults({ operation: 'capacity', fault: 'expired_token', times: 1 });
    const { status, code, retryAfter } = problemIn(await askCapacity(app));
    expect([status, code]).toEqual([503, 'budget_spent']);
    expect(retryAfter).toBeGreaterThan(50);
  });
});
