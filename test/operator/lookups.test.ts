import { systemClock } from '../../src/platform/clock';
import { linesOf } from '../support/captured-log';
import { useRedis } from '../support/redis';
import { errorOf, fieldsOf, get, post } from './client';
import {
  askCapacity,
  askTicket,
  capacityIn,
  endAll,
  problemIn,
  simulate,
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

describe.each(['bare', 'envelope'] as const)('a service that answers 4.5 %s', (answers45) => {
  it('is asked for the free slots of a zone and for an active ticket', async () => {
    const service = await simulate({ answers45 });
    const app = await startConsoleWith(redis, service.environment);
    const slots = Number.parseInt(ZONE.slice(-6), 16) % 120;

    const capacity = capacityIn(await askCapacity(app));
    expect(capacity).toMatchObject({ zoneId: ZONE, availableSlots: slots });
    expect(Math.abs(Date.parse(capacity.checked_at) - systemClock.nowMs())).toBeLessThan(10_000);
    expect(ticketIn(await askTicket(app)).hasActiveTicket).toBe(true);
    expect(ticketIn(await askTicket(app, { ...VEHICLE, plateNumber: 'QZWX 1233' })).hasActiveTicket).toBe(false);
  });
});

describe('one answer for all who ask the same', () => {
  it('50 people at two consoles are one call each', async () => {
    const { service, app } = await world();
    const other = await startConsoleWith(redis, service.environment);
    await service.faults(
      { operation: 'capacity', fault: 'late', ms: 300 },
      { operation: 'ticket', fault: 'late', ms: 300 },
    );
    const asking = Array.from({ length: 50 }, async (_, nth) => {
      const at = nth % 2 === 0 ? app : other;
      return [capacityIn(await askCapacity(at)), ticketIn(await askTicket(at))] as const;
    });
    const answers = await Promise.all(asking);

    expect(new Set(answers.map((pair) => JSON.stringify(pair))).size).toBe(1);
    expect([(await service.callsOf('capacity')).length, (await service.callsOf('ticket')).length]).toEqual([1, 1]);
    expect(await service.callsOf('token')).toHaveLength(1);
  });

  it('is kept for LOOKUP_CACHE_MS and then asked anew', async () => {
    const { service, app } = await world({ LOOKUP_CACHE_MS: '0' });
    const first = capacityIn(await askCapacity(app));
    const second = capacityIn(await askCapacity(app));
    expect(Date.parse(second.checked_at)).toBeGreaterThanOrEqual(Date.parse(first.checked_at));
    expect(await service.callsOf('capacity')).toHaveLength(2);
  });

  it('is for that question alone: another plate, type or zone is another call', async () => {
    const { service, app } = await world();
    for (const body of [
      VEHICLE,
      VEHICLE,
      { ...VEHICLE, plateNumber: 'QZWX 1235' },
      { ...VEHICLE, plateType: 'TAXI' },
    ]) {
      ticketIn(await askTicket(app, body));
    }
    expect(await service.callsOf('ticket')).toHaveLength(3);
  });

  it('holds no failure: the next who asks has an answer', async () => {
    const { service, app } = await world();
    await service.faults({ operation: 'capacity', fault: '500', times: 1 });
    expect((await askCapacity(app)).status).toBe(503);
    capacityIn(await askCapacity(app));
  });
});

describe('what the service refuses', () => {
  it('is 422 in its own words, the zone named', async () => {
    const { service, app } = await world();
    for (const answer of [
      await askCapacity(app, UNKNOWN_ZONE),
      await askTicket(app, { ...VEHICLE, zoneId: UNKNOWN_ZONE }),
    ]) {
      expect(answer.status).toBe(422);
      expect(errorOf(answer)).toEqual({
        code: 'service_refused',
        message: 'Zone not found',
        details: [{ field: 'zoneId', rule: 'Zone not found' }],
      });
      expect(answer.headers.get('retry-after')).toBeNull();
    }
    expect(await service.callsOf('ticket')).toHaveLength(1);
  });

  it.each([
    ['400', 'Invalid enum value', ['plateType']],
    ['400', 'plateNumber is too long', ['plateNumber']],
    ['400', 'Missing required field', []],
    ['404', 'No such vehicle', []],
  ])('%s "%s" names %j', async (fault, message, fields) => {
    const { service, app } = await world();
    await service.faults({ operation: 'ticket', fault, message });
    const answer = await askTicket(app);
    expect([answer.status, errorOf(answer).code, errorOf(answer).message]).toEqual([422, 'service_refused', message]);
    expect(fieldsOf(answer)).toEqual(fields);
  });
});

describe('what a caller gets wrong', () => {
  it('is 422 naming zone_id when the zone is no UUID, and the service is not asked', async () => {
    const { service, app } = await world();
    for (const zone of ['unknown', `${ZONE}0`, '7b0c9d1e 3f52']) {
      const answer = await askCapacity(app, zone);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, ['zone_id']]);
    }
    expect(await service.callsOf('capacity')).toHaveLength(0);
  });

  it('is 422 naming every field of a ticket question that fails, and the service is not asked', async () => {
    const { service, app } = await world();
    const answers = [
      await askTicket(app, {}),
      await askTicket(app, { zoneId: 'z', plateNumber: '', plateType: 'private' }),
      await askTicket(app, { ...VEHICLE, plate: 'x' }),
    ];
    const all = ['plateNumber', 'plateType', 'zoneId'];
    expect(answers.map((answer) => [answer.status, fieldsOf(answer)])).toEqual([
      [422, all],
      [422, all],
      [422, ['plate']],
    ]);
    expect(await service.callsOf('ticket')).toHaveLength(0);
  });
});

it('a console without access to the service says so, and does everything else', async () => {
  const app = await startConsoleWith(redis, { SERVICE_CLIENT_SECRET: '' });
  for (const answer of [await askCapacity(app), await askTicket(app)]) {
    expect(problemIn(answer)).toEqual({ status: 503, code: 'service_not_configured', retryAfter: null });
  }
  expect((await askCapacity(app, 'no zone')).status).toBe(422);
  expect((await get(app, '/api/tows')).status).toBe(200);
  expect((await post(app, '/api/keys', { name: 'yard', role: 'crew' })).status).toBe(201);
});

it('a plate that is asked about is in no log line, no address and no key', async () => {
  const service = await simulate();
  const lines = await linesOf(
    { redisUrl: redis.url, role: 'console', environment: service.environment },
    async (app) => {
      ticketIn(await askTicket(app));
      await service.faults({ operation: 'ticket', fault: '400', message: 'no vehicle QZWX 9' });
      await askTicket(app, { ...VEHICLE, plateNumber: 'QZWX 9' });
      await service.faults({ operation: 'ticket', fault: 'drop' });
      await askTicket(app, { ...VEHICLE, plateNumber: 'QZWX 8' });
    },
  );
  expect(lines.join('\n')).toContain('"/api/tickets/check"');
  expect(lines.join('\n')).not.toContain('QZWX');
  expect(JSON.stringify(await redis.ask('KEYS', '*'))).not.toContain('QZWX');
  expect((await service.callsOf('ticket')).map(({ path }) => path)).toEqual(
    Array.from({ length: 3 }, () => '/parking/api/tickets/public/active-ticket'),
  );
});
