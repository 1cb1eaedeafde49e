import { CALLS, runOutbox } from '../../jobs/run-outbox';
import { systemClock } from '../../src/platform/clock';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { clientWithToken, useFakeService } from '../service/client-under-test';
import { enveloped, type FakeService } from '../service/fake-service';
import { INVOICE, RULES, START, TESTER, useStores, FAST_RETRIES } from '../support/stores';
import { unstopped } from './run-steps';
import { unobserved } from '../support/unobserved';

const stores = useStores();
let fake: FakeService;
useFakeService((world) => ({ fake } = world));
beforeEach(async () => {
  const amounts = { total_amount: 1, paid_amount: 0, tax: 0 };
  fake.onCall(() => enveloped({ towing_reference_id: 'T1', towing_invoice: amounts }));
});

/** A run whose time does not pass, so that only its steps end it. */
async function run() {
  const world = unobserved({ ...systemClock, monotonicMs: () => 0 });
  const service = await clientWithToken(fake.url, { timeoutMs: 10_000 });
  return runOutbox(
    CALLS.tow,
    'T1',
    { ...stores, service, settings: FAST_RETRIES, claimMaxAgeMs: 5000, ...world },
    unstopped,
  );
}

test('a run sends ten reports of a tow and leaves the others to the next run', async () => {
  const paymentStatuses = Array.from({ length: 10 }, (_, n) => `PART_${n}`);
  const tools = { ...stores.progress, rules: { ...RULES, paymentStatuses } };
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  for (const paymentStatus of paymentStatuses) {
    await recordFact(tools, { ref: 'T1', command: { event: 'payment', paymentStatus }, actor: TESTER });
  }
  const accepted = async () => (await stores.read('T1')).reports.filter(({ state }) => state === 'accepted').length;

  await run();
  expect(await accepted()).toBe(10);

  await run();
  expect(await accepted()).toBe(12);
});
