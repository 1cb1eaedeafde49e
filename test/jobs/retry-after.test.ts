import { CALLS, runOutbox, type RunOutboxTools } from '../../jobs/run-outbox';
import type { StoredTow } from '../../src/domain/outbox/outbox-record';
import { createSendingStore } from '../../src/store/service/sending';
import { createTokenCache } from '../../src/store/service/tokens';
import { movableClock, type MovableClock, clientFor, useFakeService } from '../service/client-under-test';
import { enveloped, json, type FakeService } from '../service/fake-service';
import { redisNowMs } from '../support/redis';
import { START, useStores } from '../support/stores';
import { changeEntry, readCircuits, readEntry, setCircuit } from '../support/stored-records';
import { unstopped } from './run-steps';
import { unobserved } from '../support/unobserved';

const stores = useStores();
let fake: FakeService;
useFakeService((world) => ({ fake } = world));
beforeEach(async () => {
  fake.onCall(({ body }) => {
    const [, ref = ''] = /"towing_reference_id":"([^"]+)"/.exec(body.toString()) ?? [];
    return enveloped({ towing_reference_id: ref });
  });
});

const FIVE_MINUTES_MS = 300_000;
const HOUR_MS = 3_600_000;
const settings = {
  retryBaseMs: 1000,
  retryCapMs: FIVE_MINUTES_MS,
  notFoundRetries: 2,
  notFoundRetryMs: 20,
  unknownGraceMs: 20,
};

/** One process with its own clock. Waits have their full jitter. */
function processWith(clock: MovableClock) {
  const longest = { ...clock, random: () => 1 };
  const service = clientFor(fake.url, {
    timeoutMs: 5000,
    tokens: createTokenCache(stores.redis, 'access'),
    clock: longest,
  });
  const { outbox, records } = stores;
  const tools: RunOutboxTools<StoredTow> = {
    outbox,
    records,
    service,
    settings,
    claimMaxAgeMs: 5000,
    ...unobserved(longest),
  };
  return async (ref: string) => (await runOutbox(CALLS.tow, ref, tools, unstopped)).what;
}

/** Redis has its own clock, so everything that waits is moved closer instead. */
async function redisForward(ms: number, ...refs: string[]): Promise<void> {
  const { open } = await readCircuits(stores.redis);
  for (const name of ['connection', 'outage'] as const) {
    const circuit = open[name];
    if (circuit) await setCircuit(stores.redis, name, { untilMs: circuit.untilMs - ms });
  }
  for (const ref of refs) {
    const { nextAtMs } = await readEntry(stores.redis, { ref }, 1);
    if (nextAtMs !== null) await changeEntry(stores.redis, { ref }, 1, { nextAtMs: nextAtMs - ms });
    await stores.redis.zincrby('{towhook-main}:due:tows', -ms, ref);
  }
}

test.each([
  [401, ['hold', 'wait']],
  [503, ['retry', 'retry']],
])(
  'sends reports within five minutes after a token call got %s once with a Retry-After of 30 days',
  async (status, outcomes) => {
    for (const ref of ['A', 'B']) {
      await stores.request(ref);
      await stores.say(ref, START);
    }
    fake.onTokenCall((_, nth) =>
      nth === 1
        ? { ...json({ message: 'maintenance' }, status), headers: { 'retry-after': '2592000' } }
        : enveloped({ token: 'good' }),
    );
    const clock = movableClock();
    const run = processWith(clock);
    expect([await run('A'), await run('B')]).toEqual(outcomes);
    const { connection } = await createSendingStore(stores.redis, {
      auth: 0,
      site: 0,
      violations: 0,
      tickets: 0,
      tow: 0,
    }).read();
    const nowMs = await redisNowMs(stores.redis);
    expect(Date.parse(connection.next_try_at ?? '1970-01-01') - nowMs).toBeLessThan(FIVE_MINUTES_MS);
    for (const ref of ['A', 'B']) expect(((await stores.dueAt(ref)) ?? Infinity) - nowMs).toBeLessThan(FIVE_MINUTES_MS);

    clock.forwardMs(FIVE_MINUTES_MS);
    await redisForward(FIVE_MINUTES_MS, 'A', 'B');

    expect([await run('B'), await run('A')]).toEqual(['accepted', 'accepted']);
    expect(fake.tokenCalls).toHaveLength(2);
  },
);

test.each([
  ['503', 503, '86400'],
  ['429', 429, '2592000'],
])('sends a report within an hour after it was answered %s with a longer Retry-After', async (_name, status, wait) => {
  await stores.request('A');
  await stores.say('A', START);
  fake.onCall((_, nth) =>
    nth === 1
      ? { ...json({ message: 'busy' }, status), headers: { 'retry-after': wait } }
      : enveloped({ towing_reference_id: 'A' }),
  );
  const run = processWith(movableClock());
  expect(await run('A')).toBe('retry');
  const waitsMs = ((await stores.dueAt('A')) ?? Infinity) - (await redisNowMs(stores.redis));
  expect(waitsMs).toBeGreaterThan(HOUR_MS - 60_000);
  expect(waitsMs).toBeLessThanOrEqual(HOUR_MS);

  await redisForward(HOUR_MS, 'A');

  expect(await run('A')).toBe('accepted');
});
