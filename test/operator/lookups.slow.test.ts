import { systemClock } from '../../src/platform/clock';
import { createDifferenceStore } from '../../src/store/service/differences';
import { linesOf } from '../support/captured-log';
import { useRedis } from '../support/redis';
import { openStores } from '../support/stores';
import { api, errorOf, fieldsOf } from './client';
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
} from './lookup-service';

const redis = useRedis();
afterEach(endAll);

const world = (environment?: Readonly<Record<string, string>>) => startWorld(redis, environment);

describe('operator API: lookups at the service', () => {
  it.each(['bare', 'envelope'] as const)(
    'returns free slots and active tickets from a service whose lookup bodies are %s',
    async (form) => {
      const service = await simulate({ profile: form === 'envelope' ? { bare: [] } : {} });
      const app = await startConsoleWith(redis, service.environment);
      const slots = Number.parseInt(ZONE.slice(-6), 16) % 120;

      const earliestMs = systemClock.nowMs();
      const capacity = capacityIn(await askCapacity(app));
      expect(capacity).toMatchObject({ zoneId: ZONE, availableSlots: slots });
      expect(Date.parse(capacity.checked_at)).toBeGreaterThanOrEqual(earliestMs);
      expect(Date.parse(capacity.checked_at)).toBeLessThanOrEqual(systemClock.nowMs());
      expect(ticketIn(await askTicket(app)).hasActiveTicket).toBe(true);
      expect(ticketIn(await askTicket(app, { ...VEHICLE, plateNumber: 'QZWX 1233' })).hasActiveTicket).toBe(false);
    },
  );
});

it('asks the service about a plate without the spaces around it', async () => {
  const { service, app } = await world();
  expect(ticketIn(await askTicket(app, { ...VEHICLE, plateNumber: `  ${VEHICLE.plateNumber} ` })).hasActiveTicket).toBe(
    true,
  );
  const [call] = await service.callsOf('ticket');
  expect(call?.body).toEqual(VEHICLE);
});

describe('operator API: lookups whose answers differ from the document', () => {
  it('counts odd answers of the token and the capacity as kinds of difference, with a task for those that cannot be read', async () => {
    const service = await simulate({
      profile: { token_place: 'access_token', answer_fields_missing: ['availableSlots'] },
    });
    const app = await startConsoleWith(redis, { ...service.environment, LOOKUP_CACHE_MS: '0' });
    for (let asked = 0; asked < 2; asked += 1) expect((await askCapacity(app)).status).toBeGreaterThanOrEqual(500);
    // A process stores what it has seen when it ends, if not before.
    await app.stop();

    const stores = await openStores(redis.url);
    try {
      const kinds = await createDifferenceStore(stores.redis).all();
      expect(new Map(kinds.map(({ name, isTolerated, count }) => [name, { isTolerated, count }]))).toEqual(
        new Map([
          ['capacity', { isTolerated: false, count: 2 }],
          ['token', { isTolerated: true, count: 1 }],
        ]),
      );
      const [task, ...others] = await stores.generalTasks();
      expect([task?.type, task?.message, others]).toEqual([
        'answer_differs',
        expect.stringMatching(/^The service answers capacity differently.*availableSlots.*another answer is not used/),
        [],
      ]);
    } finally {
      stores.close();
    }
  });
});

describe('operator API: cached lookups', () => {
  it('sends one capacity call and one ticket call for 50 concurrent users at two consoles', async () => {
    const { service, app } = await world();
    const other = await startConsoleWith(redis, service.environment);
    await service.faults(
      { operation: 'capacity', fault: 'late', ms: 300 },
      { operation: 'ticket', fault: 'late', ms: 300 },
    );
    const lookups = Array.from({ length: 50 }, async (_, nth) => {
      const at = nth % 2 === 0 ? app : other;
      return [capacityIn(await askCapacity(at)), ticketIn(await askTicket(at))] as const;
    });
    const found = await Promise.all(lookups);

    expect(new Set(found.map((pair) => JSON.stringify(pair))).size).toBe(1);
    expect([(await service.callsOf('capacity')).length, (await service.callsOf('ticket')).length]).toEqual([1, 1]);
    expect(await service.callsOf('token')).toHaveLength(1);
  });

  it('asks the service for the capacity again once LOOKUP_CACHE_MS has passed', async () => {
    const { service, app } = await world({ LOOKUP_CACHE_MS: '0' });
    const first = capacityIn(await askCapacity(app));
    const second = capacityIn(await askCapacity(app));
    expect(Date.parse(second.checked_at)).toBeGreaterThanOrEqual(Date.parse(first.checked_at));
    expect(await service.callsOf('capacity')).toHaveLength(2);
  });

  it('caches ticket lookups per plate number and plate type', async () => {
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

  it('does not cache a failed capacity lookup', async () => {
    const { service, app } = await world();
    await service.faults({ operation: 'capacity', fault: '500', times: 1 });
    await askCapacity(app).expect(503);
    capacityIn(await askCapacity(app));
  });
});

describe('operator API: lookups that the service refuses', () => {
  it('answers 422 with the message of the service and names zoneId when the service rejects the zone', async () => {
    const { service, app } = await world();
    for (const response of [
      await askCapacity(app, UNKNOWN_ZONE),
      await askTicket(app, { ...VEHICLE, zoneId: UNKNOWN_ZONE }),
    ]) {
      expect(response.status).toBe(422);
      expect(errorOf(response)).toEqual({
        code: 'service_refused',
        message: 'Zone not found',
        details: [{ field: 'zoneId', rule: 'Zone not found' }],
      });
      expect(response.get('retry-after')).toBeUndefined();
    }
    expect(await service.callsOf('ticket')).toHaveLength(1);
  });

  it.each([
    ['400', 'Invalid enum value', ['plateType']],
    ['400', 'plateNumber is too long', ['plateNumber']],
    ['400', 'Missing required field', []],
    ['404', 'No such vehicle', []],
  ])(
    'answers 422 with the message of the service when it rejects a ticket lookup with %s "%s", and names the fields %j',
    async (fault, message, fields) => {
      const { service, app } = await world();
      await service.faults({ operation: 'ticket', fault, message });
      const response = await askTicket(app).expect(422);
      expect(errorOf(response)).toMatchObject({ code: 'service_refused', message });
      expect(fieldsOf(response)).toEqual(fields);
    },
  );
});

describe('operator API: malformed lookups', () => {
  it('refuses a zone that is not a UUID with 422, names zone_id and does not call the service', async () => {
    const { service, app } = await world();
    for (const zone of ['unknown', `${ZONE}0`, '7b0c9d1e 3f52']) {
      const response = await askCapacity(app, zone).expect(422);
      expect(fieldsOf(response)).toEqual(['zone_id']);
    }
    expect(await service.callsOf('capacity')).toHaveLength(0);
  });

  it('refuses a malformed ticket lookup with 422, names every invalid field and does not call the service', async () => {
    const { service, app } = await world();
    const responses = [
      await askTicket(app, {}),
      await askTicket(app, { zoneId: 'z', plateNumber: '', plateType: 'private' }),
      await askTicket(app, { ...VEHICLE, plate: 'x' }),
      await askTicket(app, { ...VEHICLE, plateNumber: '   ' }),
      await askTicket(app, { ...VEHICLE, plateNumber: 'x'.repeat(51) }),
    ];
    const all = ['plateNumber', 'plateType', 'zoneId'];
    expect(responses.map((response) => [response.status, fieldsOf(response)])).toEqual([
      [422, all],
      [422, all],
      [422, ['plate']],
      [422, ['plateNumber']],
      [422, ['plateNumber']],
    ]);
    expect(await service.callsOf('ticket')).toHaveLength(0);
  });
});

it('a console without service credentials refuses lookups with 503 service_not_configured and serves everything else', async () => {
  const app = await startConsoleWith(redis, { SERVICE_CLIENT_SECRET: '' });
  for (const response of [await askCapacity(app), await askTicket(app)]) {
    expect(problemIn(response)).toEqual({ status: 503, code: 'service_not_configured', retryAfter: null });
  }
  await askCapacity(app, 'no zone').expect(422);
  await api(app).get('/api/tows').expect(200);
  await api(app).post('/api/keys').send({ name: 'yard', role: 'crew' }).expect(201);
});

it('a looked-up plate number appears in no log line, no request path and no Redis key', async () => {
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
