import { sendingView } from '../../src/contracts/operator';
import { systemClock } from '../../src/platform/clock';
import { slidingWindow } from '../../src/store/budgets';
import { budgetKey } from '../../src/store/keys';
import { enveloped, json, startFakeService, type Reply } from '../service/fake-service';
import { useRedis } from '../support/redis';
import { get } from './client';
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
} from './lookup-world';

const redis = useRedis();
afterEach(endAll);

const world = (environment?: Readonly<Record<string, string>>) => startWorld(redis, environment);

describe('a service that cannot be asked', () => {
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
  ])('with %s is answered %i %s and when to come back', async (fault, status, code) => {
    const { service, app } = await world();
    await service.faults({ operation: 'capacity', fault }, { operation: 'ticket', fault });
    for (const answer of [await askCapacity(app), await askTicket(app)]) {
      expect(problemIn(answer)).toMatchObject({ status, code });
      expect(problemIn(answer).retryAfter).toBeGreaterThan(0);
    }
  });

  it.each(['429', '503'])('says with %s when it wants to be asked again', async (fault) => {
    const { service, app } = await world();
    await service.faults({ operation: 'capacity', fault, ms: 42_000 });
    const { status, code, retryAfter } = problemIn(await askCapacity(app));
    expect([status, code]).toEqual([503, 'service_unavailable']);
    expect(retryAfter).toBeGreaterThanOrEqual(41);
    expect(retryAfter).toBeLessThanOrEqual(43);
  });

  it('gives no token: 503 service_connection_lost, and what sends reports hears nothing of it', async () => {
    const { service, app } = await world();
    await service.faults({ operation: 'token', fault: '500' });
    for (let nth = 0; nth < 6; nth += 1) {
      expect(problemIn(await askCapacity(app))).toMatchObject({ status: 503, code: 'service_connection_lost' });
    }
    const { connection, service: health, held } = sendingView.parse((await get(app, '/api/operations')).json);
    expect([connection.state, health.state, health.failures, held]).toEqual(['working', 'working', 0, 0]);
    expect((await get(app, '/api/tasks')).json).toMatchObject({ items: [] });
  });

  it('takes the renewed token after an old one, unnoticed', async () => {
    const { service, app } = await world();
    await service.faults({ operation: 'ticket', fault: 'expired_token', times: 1 });
    expect(ticketIn(await askTicket(app)).hasActiveTicket).toBe(true);
    expect(await service.callsOf('token')).toHaveLength(2);
  });

  it('that answers about another zone has broken its contract', async () => {
    const fake = await startFakeService();
    try {
      const app = await startConsoleWith(redis, { SERVICE_BASE_URL: fake.url });
      const about = (zoneId: string): Reply => json({ zoneId, availableSlots: 3 });
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

describe('a budget', () => {
  it('that is spent for longer than 5 s is answered 503 at once, with the time of the next slot', async () => {
    const { service, app } = await world({ BUDGET_SITE_PER_MINUTE: '1', BUDGET_TICKETS_PER_MINUTE: '1' });
    capacityIn(await askCapacity(app));
    ticketIn(await askTicket(app));
    const startedMs = systemClock.monotonicMs();
    for (const answer of [
      await askCapacity(app, `${ZONE.slice(0, -1)}0`),
      await askTicket(app, { ...VEHICLE, plateType: 'TAXI' }),
    ]) {
      const { status, code, retryAfter } = problemIn(answer);
      expect([status, code]).toEqual([503, 'budget_spent']);
      expect(retryAfter).toBeGreaterThan(50);
      expect(retryAfter).toBeLessThanOrEqual(62);
    }
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(4000);
    expect([(await service.callsOf('capacity')).length, (await service.callsOf('ticket')).length]).toEqual([1, 1]);
  });

  it('that has a slot within 5 s is waited for', async () => {
    const { app } = await world({ BUDGET_SITE_PER_MINUTE: '1' });
    const { windowMs } = slidingWindow(1);
    await redis.ask('LPUSH', budgetKey('site'), String(systemClock.nowMs() - windowMs + 1200));
    const startedMs = systemClock.monotonicMs();
    capacityIn(await askCapacity(app));
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(900);
  });

  it('of token calls that is spent is a spent budget, and no lost connection', async () => {
    const { service, app } = await world({ BUDGET_AUTH_PER_MINUTE: '1' });
    await service.faults({ operation: 'capacity', fault: 'expired_token', times: 1 });
    const { status, code, retryAfter } = problemIn(await askCapacity(app));
    expect([status, code]).toEqual([503, 'budget_spent']);
    expect(retryAfter).toBeGreaterThan(50);
  });
});
