import type { CircuitName } from '../../src/domain/vocabulary';
import { createBudgets } from '../../src/store/service/budgets';
import { sendingView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { api, errorOf, newKey } from './client';
import { setCircuit } from '../support/stored-records';

const app = useApp({ role: 'console', environment: { BUDGET_TOW_PER_MINUTE: '120' } });

const sending = async () => {
  const response = await api(app).get('/api/operations');
  return sendingView.parse(response.body);
};
const resume = (operation: string, apiKey = app.apiKey) =>
  api(app, apiKey).post(`/api/operations/${operation}/resume`).send({});
/** Opens a circuit; its next attempt is due at this fixed time. */
const openCircuit = (name: CircuitName) => setCircuit(app.foundation.redis, name, { untilMs: 1_800_000_000_000 });

it('GET /api/operations shows a working service and unused rate limits while nothing is blocked', async () => {
  expect(await sending()).toMatchObject({
    connection: { state: 'working', refuses_credentials: false, since: null, next_try_at: null },
    service: { state: 'working', failures: 0 },
    held: 0,
  });
  const { operations, budgets } = await sending();
  expect(operations.map(({ state }) => state)).not.toContain('paused');
  const unused = { announced_per_minute: null, announced_at: null, used: 0, waiting: 0, closed_until: null };
  expect(budgets).toContainEqual({ name: 'tow', per_minute: 120, limit: 120, ...unused });
  expect(budgets).toContainEqual({ name: 'auth', per_minute: 20, limit: 20, ...unused });
});

it('GET /api/operations shows an outage, a broken connection and a paused operation with the time of the next attempt', async () => {
  for (const circuit of ['connection', 'outage', 'paused.invoice'] as const) await openCircuit(circuit);
  const { connection, service, operations } = await sending();
  const at = new Date(1_800_000_000_000).toISOString();
  expect([connection.state, connection.next_try_at]).toEqual(['broken', at]);
  expect([service.state, service.next_try_at]).toEqual(['down', at]);
  expect(operations.filter(({ state }) => state === 'paused')).toMatchObject([
    { operation: 'invoice', next_try_at: at },
  ]);
});

describe('operator API: the access token in GET /api/operations', () => {
  const keep = (token: unknown) => app.redis.ask('SET', '{towhook-main}:token', JSON.stringify(token));
  const inMs = (ms: number) => Date.now() + ms;

  it('GET /api/operations shows no access token before the first one is fetched', async () => {
    expect((await sending()).token).toEqual({ state: 'none', expires_at: null });
  });

  it('GET /api/operations shows the access token as valid before its expiry and as expired after it', async () => {
    const ends = inMs(60_000);
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: ends });
    expect((await sending()).token).toEqual({ state: 'valid', expires_at: new Date(ends).toISOString() });
    const ended = inMs(-60_000);
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: ended });
    expect((await sending()).token).toEqual({ state: 'expired', expires_at: new Date(ended).toISOString() });
  });

  it.each([9_999_999_999_999_000, -9_999_999_999_999_000])(
    'GET /api/operations shows a stored access token whose expiry is no date, %d, as one without an expiry',
    async (expiresAtMs) => {
      await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs });
      expect((await sending()).token).toEqual({ state: 'valid', expires_at: null });
      const metrics = await api(app).get('/metrics');
      expect(metrics.text).toContain('towhook_circuit_open');
    },
  );

  it('GET /api/operations shows no access token when the stored one is longer than 8 KiB', async () => {
    await keep({ token: 't'.repeat(8 * 1024 + 1), expiresAtMs: null });
    expect((await sending()).token).toEqual({ state: 'none', expires_at: null });
  });

  it('GET /api/operations shows an access token without an expiry as valid', async () => {
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: null });
    expect((await sending()).token).toEqual({ state: 'valid', expires_at: null });
  });

  it('GET /api/operations never contains the access token itself', async () => {
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: inMs(60_000) });
    const { text } = await api(app).get('/api/operations').expect(200);
    expect(text).not.toContain('SECRET');
  });

  it('GET /api/operations shows an unreadable access token as none', async () => {
    await app.redis.ask('SET', '{towhook-main}:token', 'not JSON');
    expect((await sending()).token.state).toBe('none');
  });
});

it('GET /api/operations counts only the rate limit permits of the last minute', async () => {
  await app.redis.ask(
    'RPUSH',
    '{towhook-main}:budget:tow',
    String(Date.now()),
    String(Date.now() - 30_000),
    '1700000000000',
  );
  expect((await sending()).budgets).toContainEqual(expect.objectContaining({ name: 'tow', used: 2, waiting: 0 }));
});

it('GET /api/operations shows the limit that the service announced, and until when it closed a budget', async () => {
  const { redis, config } = app.foundation;
  const budgets = createBudgets(redis, config.budgetsPerMinute);
  const seen = { isRefusal: true, askedMs: 600_000, perMinute: 60, remaining: null, resetInMs: null };
  await budgets.observe('tow', seen);

  const shown = (await sending()).budgets.find(({ name }) => name === 'tow');
  expect(shown).toMatchObject({ per_minute: 120, announced_per_minute: 60, limit: 60 });
  const closedForMs = Date.parse(shown?.closed_until ?? '') - Date.now();
  expect(closedForMs).toBeGreaterThan(590_000);
  expect(closedForMs).toBeLessThanOrEqual(601_000);
});

it('refuses to resume an operation that is not paused with 409 and an unknown operation with 404', async () => {
  const notPaused = await resume('invoice').expect(409);
  expect(errorOf(notPaused).code).toBe('operation_not_paused');
  const unknown = await resume('parking').expect(404);
  expect(errorOf(unknown).code).toBe('operation_not_found');
});

it('refuses to resume an operation for a dispatcher with 403 and leaves it paused', async () => {
  await openCircuit('paused.started');
  await resume('started', await newKey(app, 'dispatcher')).expect(403);
  expect((await sending()).operations.filter(({ state }) => state === 'paused')).toHaveLength(1);
});

it('the metrics show what blocks sending and how many rate limit permits are used', async () => {
  await openCircuit('outage');
  const { text } = await api(app).get('/metrics');
  expect(text).toContain('towhook_circuit_open{circuit="outage",installation="main"} 1');
  expect(text).toContain('towhook_circuit_open{circuit="connection",installation="main"} 0');
  expect(text).toContain('towhook_held_tows{installation="main"} 0');
  expect(text).toContain('towhook_budget_used{budget="tow",installation="main"} 0');
});
