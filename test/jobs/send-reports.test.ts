import { sendReports } from '../../jobs/run-outbox';
import { reportJob, towsOfJob } from '../../src/contracts/ops/jobs';
import { systemClock, type Clock } from '../../src/platform/clock';
import type { ServiceClient } from '../../src/service';
import { enveloped, type FakeService } from '../service/fake-service';
import type { TowOutbox } from '../support/outboxes';
import { FAST_RETRIES, START, towRequest, useStores } from '../support/stores';
import { unobserved } from '../support/unobserved';
import { clientFor, useFakeService } from '../service/client-under-test';

const stores = useStores();
const JOB = reportJob.parse({ towing_reference_ids: ['T1', 'T2', 'T3'] });

let fake: FakeService;
let service: ServiceClient;
let called: string[];
useFakeService((world) => ({ fake } = world));
beforeEach(async () => {
  called = [];
  fake.onCall(({ body }) => {
    const [, ref = ''] = /"towing_reference_id":"([^"]+)"/.exec(body.toString()) ?? [];
    if (ref !== '') called.push(ref);
    return enveloped({ towing_reference_id: ref, token: 'a token' });
  });
  service = clientFor(fake.url, { timeoutMs: 5000 });
  for (const [place, ref] of towsOfJob(JOB).entries()) {
    // oxlint-disable-next-line eslint/no-await-in-loop
    await oweStart(ref, `d${place}`);
  }
});

/** A tow that has started; the report is owed. */
async function oweStart(ref: string, delivery: string): Promise<void> {
  await stores.accept('tow_request', towRequest(ref), delivery);
  await stores.process(delivery);
  await stores.say(ref, START);
}

const run = (
  isStopping: () => boolean,
  { outbox = stores.outbox, clock = systemClock }: { outbox?: TowOutbox; clock?: Clock } = {},
) =>
  sendReports(
    JOB,
    {
      outbox,
      records: stores.records,
      service,
      settings: FAST_RETRIES,
      claimMaxAgeMs: 5000,
      ...unobserved(clock),
    },
    isStopping,
  );

test('a job of several tows sends their reports in the order of the job', async () => {
  expect(await run(() => false)).toEqual({ kind: 'done', what: 'accepted' });

  expect(called).toEqual(['T1', 'T2', 'T3']);
});

test('a tow whose run fails does not keep the other tows of its job from their runs', async () => {
  const failing: TowOutbox = {
    ...stores.outbox,
    claim: (id) => (id === 'T1' ? Promise.reject(new Error('this tow cannot be read')) : stores.outbox.claim(id)),
  };

  await expect(run(() => false, { outbox: failing })).rejects.toThrow('this tow cannot be read');

  expect(called).toEqual(['T2', 'T3']);
});

test('a job begins no further tow once its worker stops', async () => {
  expect(await run(() => called.length > 0)).toEqual({ kind: 'done', what: 'accepted' });

  expect(called).toEqual(['T1']);
  expect(await stores.states('T2')).toEqual(['started pending']);
});

test('a tow sends no further report once its worker stops, and is due for another one', async () => {
  await stores.say('T1', { event: 'detained' });

  await run(() => called.length > 0);

  expect(called).toEqual(['T1']);
  expect(await stores.states('T1')).toEqual(['started accepted', 'detained pending']);
  expect((await stores.outbox.claim('T1')).kind).toBe('send');
});

test('a job begins no further tow after five seconds', async () => {
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + called.length * 5000 };

  expect(await run(() => false, { clock })).toEqual({ kind: 'done', what: 'accepted' });

  expect(called).toEqual(['T1']);
});
