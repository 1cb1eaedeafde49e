import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createMemoryTokenCache, createServiceClient, type ServiceClient } from '../../src/service';
import { createLookupCache } from '../../src/store/lookups';
import type { TicketQuestion } from '../../src/workflow/lookups';
import { createLookups, type TicketCheck } from '../../src/workflow/lookups';
import type { Budgets } from '../../src/workflow/service-port';
import { json, startFakeService, type FakeService, type Reply } from '../service/fake-service';
import { noBudgets } from '../support/budgets';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
let fake: FakeService;
const clients: ServiceClient[] = [];
beforeEach(async () => {
  stores = await openStores(redis.url);
  fake = await startFakeService();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await fake.stop();
  stores.close();
});

const QUESTION: TicketQuestion = {
  zoneId: '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c',
  plateNumber: 'QZWX 1234',
  plateType: 'PRIVATE',
};

/** The check as a process makes it, over a service that answers like this. */
function checkOver(reply: Reply | (() => Reply), budgets: Budgets = noBudgets): TicketCheck {
  fake.onCall(typeof reply === 'function' ? reply : () => reply);
  const service = createServiceClient({
    baseUrl: fake.url,
    clientId: 'client',
    clientSecret: 'secret',
    timeoutMs: 2000,
    tokens: createMemoryTokenCache(systemClock),
    budgets,
    clock: systemClock,
    log: silentLog,
  });
  clients.push(service);
  const cache = createLookupCache(stores.redis, { clock: systemClock, log: silentLog, keptMs: 60_000 });
  return createLookups({ service, cache, clock: systemClock });
}

describe('the ticket check before a fine', () => {
  it.each([true, false])('says whether there is an active ticket: %s', async (hasActiveTicket) => {
    const check = checkOver(json({ hasActiveTicket }));
    expect(await check.checkTicket(QUESTION)).toEqual({ kind: 'answered', hasActiveTicket });
    const [call] = fake.calls;
    expect([call?.method, call?.url, JSON.parse(call?.body.toString() ?? '')]).toEqual([
      'POST',
      '/tickets/public/active-ticket',
      QUESTION,
    ]);
  });

  it('takes what somebody else was told a moment ago', async () => {
    await checkOver(json({ hasActiveTicket: true })).checkTicket(QUESTION);
    expect(await checkOver(json({ hasActiveTicket: false })).checkTicket(QUESTION)).toEqual({
      kind: 'answered',
      hasActiveTicket: true,
    });
    expect(fake.calls).toHaveLength(1);
  });

  it('gives the words of a service that takes exception to the question', async () => {
    const refused = json({ code: 400, message: 'Zone not found' }, 400);
    expect(await checkOver(refused).checkTicket(QUESTION)).toEqual({ kind: 'refused', message: 'Zone not found' });
  });

  it('has words of its own where the service has none', async () => {
    const answer = await checkOver({ status: 422, body: '' }).checkTicket(QUESTION);
    expect(answer).toEqual({ kind: 'refused', message: 'The service refused the question (HTTP 422).' });
  });

  it('says when nobody can say, what happened and when to ask again', async () => {
    const busy: Reply = { ...json({ message: 'Too Many Requests' }, 429), headers: { 'retry-after': '30' } };
    const answer = await checkOver(busy).checkTicket(QUESTION);
    expect(answer).toMatchObject({ kind: 'unavailable', exchange: { kind: 'refused', httpStatus: 429 } });
    const retryAfterMs = answer.kind === 'unavailable' ? answer.retryAfterMs : 0;
    expect(retryAfterMs).toBeGreaterThan(29_000);
    expect(retryAfterMs).toBeLessThanOrEqual(30_000);
  });

  it.each([
    ['a broken answer', json({ hasActiveTicket: 'no' }), { kind: 'contract_broken' }],
    ['an answer that cannot be kept', { body: '{"hasActiveTicket":true,"fee":1e999}' }, { kind: 'contract_broken' }],
    ['a token that is refused', json({ message: 'Unauthorized' }, 401), { kind: 'connection' }],
    ['500', json({ message: 'Internal Server Error' }, 500), { kind: 'refused', httpStatus: 500 }],
  ])('is not possible with %s', async (_name, reply, exchange) => {
    const answer = await checkOver(reply).checkTicket(QUESTION);
    expect(answer).toMatchObject({ kind: 'unavailable', exchange });
    expect(answer.kind === 'unavailable' && answer.retryAfterMs > 0).toBe(true);
  });

  it.each([
    ['its own words', json({ message: 'Access denied' }, 403), 'Access denied'],
    ['a word of ours where it has none', { body: '', status: 403 }, 'The service forbids the question (HTTP 403).'],
  ])('that the service forbids is for a person at once, with %s', async (_name, reply, message) => {
    expect(await checkOver(reply).checkTicket(QUESTION)).toEqual({ kind: 'refused', message });
  });

  it('waits for no budget that has no slot within 5 s', async () => {
    const aheadMaxMs: number[] = [];
    const reserve: Budgets['reserve'] = async (name, maxMs) => {
      if (name === 'auth') return { granted: true, inMs: 0, lastsMs: 1000 };
      aheadMaxMs.push(maxMs);
      return { granted: false, inMs: 40_000 };
    };
    const answer = await checkOver(json({ hasActiveTicket: true }), { reserve }).checkTicket(QUESTION);
    expect(answer).toMatchObject({ kind: 'unavailable', exchange: { kind: 'dropped' } });
    expect(answer.kind === 'unavailable' ? Math.round(answer.retryAfterMs / 1000) : 0).toBe(40);
    expect(aheadMaxMs).toHaveLength(1);
    expect(aheadMaxMs[0]).toBeGreaterThan(4000);
    expect(aheadMaxMs[0]).toBeLessThanOrEqual(5000);
    expect(fake.calls).toHaveLength(0);
  });
});
