import { loadConfig } from '../../src/platform/config/config';
import { KEYS } from '../../src/store/keys';
import { createSendingStore } from '../../src/store/service/sending';
import { FAILING } from '../support/exchanges';
import { changeCircuits, setCircuit } from '../support/stored-records';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';

const stores = useStores();

const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const { budgetsPerMinute } = loadConfig({});

const shownFailures = async () => (await createSendingStore(stores.redis, budgetsPerMinute).read()).service.failures;
const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;

async function fail(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(FAILED, { exchange: FAILING }));
  }
}

beforeEach(async () => {
  for (const ref of ['A', 'B']) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
});

test('failures in a row are shown for 15 minutes after the last one, and again after the next', async () => {
  await fail('A', 'B', 'A', 'B');
  expect(await shownFailures()).toBe(4);
  await changeCircuits(stores.redis, { lastFailureMs: minutesAgo(14) });
  expect(await shownFailures()).toBe(4);

  await changeCircuits(stores.redis, { lastFailureMs: minutesAgo(16) });

  expect(await shownFailures()).toBe(0);
  await fail('A');
  expect(await shownFailures()).toBe(5);
});

test('an answer ends the failures in a row, and nothing about circuits stays stored', async () => {
  await fail('A', 'A');

  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(ACCEPTED));

  expect(await shownFailures()).toBe(0);
  expect(await stores.redis.exists(KEYS.circuits)).toBe(0);
});

test('an outage shows its failures however long ago its last probe was', async () => {
  await changeCircuits(stores.redis, { failures: 9, lastFailureMs: minutesAgo(50) });
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + 60_000 });

  expect(await shownFailures()).toBe(9);
});

test('failures that an earlier version counted, without a time, are not shown as recent', async () => {
  await changeCircuits(stores.redis, { failures: 7 });

  expect(await shownFailures()).toBe(0);
});
