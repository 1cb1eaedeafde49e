import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createMemoryTokenCache } from '../../src/service';
import { createLookupCache } from '../../src/store/service/lookups';
import type { TicketQuestion } from '../../src/workflow/service/lookups';
import { createLookups, type Lookups } from '../../src/workflow/service/lookups';
import type { Budgets } from '../../src/workflow/service/service-port';
import { json, type FakeService, type FakeReply } from '../service/fake-service';
import { budgetsOf, noBudgets } from '../support/outboxes';
import { useStores } from '../support/stores';
import { clientFor, useFakeService } from '../service/client-under-test';

const stores = useStores();
let fake: FakeService;
/** A clock that does not move, so that all remaining times are exact. */
const clock = { ...systemClock, nowMs: () => 1_795_220_706_429, monotonicMs: () => 1000 };
useFakeService((world) => ({ fake } = world));

const QUESTION: TicketQuestion = {
  zoneId: '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c',
  plateNumber: 'QZWX 1234',
  plateType: 'PRIVATE',
};

/** The lookups of a process whose service answers with `reply`. */
function checkOver(reply: FakeReply | (() => FakeReply), budgets: Budgets = noBudgets): Lookups {
  fake.onCall(typeof reply === 'function' ? reply : () => reply);
  const service = clientFor(fake.url, { tokens: createMemoryTokenCache(clock), budgets, clock });
  const cache = createLookupCache(stores.redis, { clock, log: silentLog, keptMs: 60_000 });
  return createLookups({ service, cache, clock });
}

describe('ticket check before a violation is sent', () => {
  it.each([true, false])(
    'a ticket lookup returns whether the vehicle has an active ticket: %s',
    async (hasActiveTicket) => {
      const check = checkOver(json({ hasActiveTicket }));
      expect(await check.checkTicket(QUESTION)).toEqual({ kind: 'answered', hasActiveTicket });
      const [call] = fake.calls;
      expect([call?.method, call?.url, JSON.parse(call?.body.toString() ?? '')]).toEqual([
        'POST',
        '/tickets/public/active-ticket',
        QUESTION,
      ]);
    },
  );

  it('a ticket lookup returns the cached answer of an earlier lookup', async () => {
    await checkOver(json({ hasActiveTicket: true })).checkTicket(QUESTION);
    expect(await checkOver(json({ hasActiveTicket: false })).checkTicket(QUESTION)).toEqual({
      kind: 'answered',
      hasActiveTicket: true,
    });
    expect(fake.calls).toHaveLength(1);
  });

  it('a ticket lookup returns the message of a service that refuses the question', async () => {
    const refused = json({ code: 400, message: 'Zone not found' }, 400);
    expect(await checkOver(refused).checkTicket(QUESTION)).toEqual({ kind: 'refused', message: 'Zone not found' });
  });

  it('a ticket lookup returns its own message when the service refuses the question without one', async () => {
    const answer = await checkOver({ status: 422, body: '' }).checkTicket(QUESTION);
    expect(answer).toEqual({ kind: 'refused', message: 'The service refused the question (HTTP 422).' });
  });

  it('a ticket lookup returns the outcome and the retry time when the service cannot answer', async () => {
    const busy: FakeReply = { ...json({ message: 'Too Many Requests' }, 429), headers: { 'retry-after': '30' } };
    const answer = await checkOver(busy).checkTicket(QUESTION);
    expect(answer).toMatchObject({ kind: 'unavailable', exchange: { kind: 'refused', httpStatus: 429 } });
    expect(answer).toHaveProperty('retryAfterMs', 30_000);
  });

  it.each([
    ['a broken answer', json({ hasActiveTicket: 'no' }), { kind: 'contract_broken' }],
    ['an answer that cannot be kept', { body: '{"hasActiveTicket":true,"fee":1e999}' }, { kind: 'contract_broken' }],
    ['a token that is refused', json({ message: 'Unauthorized' }, 401), { kind: 'connection' }],
    ['500', json({ message: 'Internal Server Error' }, 500), { kind: 'refused', httpStatus: 500 }],
  ])('a ticket check is unavailable with a retry time after %s', async (_name, reply, exchange) => {
    const answer = await checkOver(reply).checkTicket(QUESTION);
    expect(answer).toMatchObject({ kind: 'unavailable', exchange });
    expect(answer.kind === 'unavailable' && answer.retryAfterMs > 0).toBe(true);
  });

  it.each([
    ['the message of the service', json({ message: 'Access denied' }, 403), 'Access denied'],
    [
      'its own message when the service has none',
      { body: '', status: 403 },
      'The service forbids the question (HTTP 403).',
    ],
  ])('a ticket check is refused when the service forbids it, with %s', async (_name, reply, message) => {
    expect(await checkOver(reply).checkTicket(QUESTION)).toEqual({ kind: 'refused', message });
  });

  it('a ticket check is unavailable when the next rate limit permit is more than 5 s away', async () => {
    const aheadMaxMs: number[] = [];
    const reserve: Budgets['reserve'] = async (name, maxMs) => {
      if (name === 'auth') return { granted: true, inMs: 0, lastsMs: 1000 };
      aheadMaxMs.push(maxMs);
      return { granted: false, inMs: 40_000 };
    };
    const answer = await checkOver(json({ hasActiveTicket: true }), budgetsOf(reserve)).checkTicket(QUESTION);
    expect(answer).toMatchObject({ kind: 'unavailable', exchange: { kind: 'dropped', cause: 'no_permit' } });
    expect(answer).toHaveProperty('retryAfterMs', 40_000);
    expect(aheadMaxMs).toEqual([5000]);
    expect(fake.calls).toHaveLength(0);
  });
});

it('a lookup whose permits expire before it is sent is unavailable, and does not blame the rate limit', async () => {
  const reserve: Budgets['reserve'] = (name) =>
    Promise.resolve({ granted: true, inMs: 0, lastsMs: name === 'auth' ? 1000 : 0 });

  const answer = await checkOver(json({ hasActiveTicket: true }), budgetsOf(reserve)).ticket(QUESTION);

  expect(answer).toMatchObject({ because: { why: 'unavailable', exchange: { cause: 'permission_expired' } } });
  expect(fake.calls).toHaveLength(0);
});
