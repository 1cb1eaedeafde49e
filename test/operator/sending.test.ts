import { sendingView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { errorOf, get, newKey, post } from './client';

const app = useApp({ role: 'console', environment: { BUDGET_TOW_PER_MINUTE: '120' } });

const sending = async () => sendingView.parse((await get(app, '/api/operations')).json);
const close = (gate: string) => app.redis.ask('HSET', '{p0}:gates', `${gate}.until`, '1800000000000');

it('with nothing wrong, everything is open and the budgets are unused', async () => {
  expect(await sending()).toMatchObject({
    connection: { state: 'working', since: null, next_try_at: null },
    service: { state: 'working', failures: 0 },
    held: 0,
  });
  const { operations, budgets } = await sending();
  expect(operations.map(({ state }) => state)).not.toContain('paused');
  expect(budgets).toContainEqual({ name: 'tow', per_minute: 120, used: 0, waiting: 0 });
  expect(budgets).toContainEqual({ name: 'auth', per_minute: 20, used: 0, waiting: 0 });
});

it('an outage, a broken connection and a pause are shown with the moment of the next try', async () => {
  for (const gate of ['connection', 'outage', 'paused.invoice']) await close(gate);
  const { connection, service, operations } = await sending();
  const at = new Date(1_800_000_000_000).toISOString();
  expect([connection.state, connection.next_try_at]).toEqual(['broken', at]);
  expect([service.state, service.next_try_at]).toEqual(['down', at]);
  expect(operations.filter(({ state }) => state === 'paused')).toMatchObject([
    { operation: 'invoice', next_try_at: at },
  ]);
});

describe('the access token', () => {
  const keep = (token: unknown) => app.redis.ask('SET', '{p0}:token', JSON.stringify(token));
  const inMs = (ms: number) => Date.now() + ms;

  it('is none while nobody has one', async () => {
    expect((await sending()).token).toEqual({ state: 'none', expires_at: null });
  });

  it('is valid until its end, and expired from then on', async () => {
    const ends = inMs(60_000);
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: ends });
    expect((await sending()).token).toEqual({ state: 'valid', expires_at: new Date(ends).toISOString() });
    const ended = inMs(-60_000);
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: ended });
    expect((await sending()).token).toEqual({ state: 'expired', expires_at: new Date(ended).toISOString() });
  });

  it('that tells no end is valid', async () => {
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: null });
    expect((await sending()).token).toEqual({ state: 'valid', expires_at: null });
  });

  it('itself is never told', async () => {
    await keep({ token: 'SECRET.TOKEN.TEXT', expiresAtMs: inMs(60_000) });
    expect((await get(app, '/api/operations')).text).not.toContain('SECRET');
  });

  it('that cannot be read is none', async () => {
    await app.redis.ask('SET', '{p0}:token', 'not JSON');
    expect((await sending()).token.state).toBe('none');
  });
});

it('slots of the last minute are counted, older ones are not', async () => {
  await app.redis.ask('RPUSH', '{p0}:budget:tow', String(Date.now()), String(Date.now() - 30_000), '1700000000000');
  expect((await sending()).budgets).toContainEqual({ name: 'tow', per_minute: 120, used: 2, waiting: 0 });
});

it('resuming an operation that is not paused is 409, one that does not exist 404', async () => {
  const notPaused = await post(app, '/api/operations/invoice/resume', {});
  expect([notPaused.status, errorOf(notPaused).code]).toEqual([409, 'operation_not_paused']);
  const unknown = await post(app, '/api/operations/parking/resume', {});
  expect([unknown.status, errorOf(unknown).code]).toEqual([404, 'operation_not_found']);
});

it('resuming is for ops alone', async () => {
  await close('paused.started');
  const apiKey = await newKey(app, 'dispatcher');
  expect((await post(app, '/api/operations/started/resume', {}, { apiKey })).status).toBe(403);
  expect((await sending()).operations.filter(({ state }) => state === 'paused')).toHaveLength(1);
});

it('the metrics show what is closed and how much of the budgets is used', async () => {
  await close('outage');
  const { text } = await get(app, '/metrics');
  expect(text).toContain('towhook_gate_closed{gate="outage"} 1');
  expect(text).toContain('towhook_gate_closed{gate="connection"} 0');
  expect(text).toContain('towhook_held_tows 0');
  expect(text).toContain('towhook_budget_used{budget="tow"} 0');
});
