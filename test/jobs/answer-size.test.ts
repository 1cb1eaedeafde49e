import { CALLS, runOutbox } from '../../jobs/run-outbox';
import type { ServiceClient } from '../../src/service';
import type { FakeService } from '../service/fake-service';
import { START, useStores, FAST_RETRIES } from '../support/stores';
import { readEntry } from '../support/stored-records';
import { unstopped } from './run-steps';
import { unobserved } from '../support/unobserved';
import { clientFor, useFakeService } from '../service/client-under-test';

const stores = useStores();
let fake: FakeService;
let service: ServiceClient;
useFakeService((world) => ({ fake } = world));
beforeEach(async () => {
  service = clientFor(fake.url);
});

/** An answer of almost 256 KiB to a report, with this many fields of the same value. */
function answerOf(fields: number, value: string): string {
  const length = Math.floor((254 * 1024) / fields) - value.length - 4;
  const more = Array.from({ length: fields }, (_, n) => `"${String(n).padEnd(length, 'n')}":${value}`);
  return `{"code":200,"message":"m","data":{"towing_reference_id":"A","metadata":{${more.join(',')}}}}`;
}

/** Starts a tow and sends its report, which is answered with this body. */
async function sendAnsweredWith(body: string) {
  fake.onCall(() => ({ headers: { 'content-type': 'application/json' }, body }));
  await stores.request('A');
  await stores.say('A', START);
  const { outbox, records } = stores;
  const tools = { outbox, records, service, settings: FAST_RETRIES, claimMaxAgeMs: 5000, ...unobserved() };
  await runOutbox(CALLS.tow, 'A', tools, unstopped);
  const { rawBody, ...rest } = await readEntry(stores.redis, { ref: 'A' }, 1);
  const { r1: _, ...record } = await stores.redis.hgetall('{towhook-main}:tow:A');
  const others = [rest, record, await stores.redis.hgetall('{towhook-main}:tasks')];
  return { rawBytes: Buffer.byteLength(rawBody ?? ''), othersLength: JSON.stringify(others).length, state: rest.state };
}

test.each([17, 800, 8000])(
  'an answer of 256 KiB that is broken in %i fields leaves its first 64 KiB and a record of a few KiB',
  async (fields) => {
    const { rawBytes, othersLength } = await sendAnsweredWith(answerOf(fields, '1e999'));
    expect(rawBytes).toBe(64 * 1024);
    expect(othersLength).toBeLessThan(6000);
  },
);

test('a longer accepted answer leaves its first 64 KiB in the record', async () => {
  const { state, rawBytes, othersLength } = await sendAnsweredWith(answerOf(800, '"x"'));
  expect([state, rawBytes]).toEqual(['accepted', 64 * 1024]);
  expect(othersLength).toBeLessThan(6000);
});

test('an accepted answer of less than 64 KiB is kept completely', async () => {
  const body = `{"code":200,"message":"m","data":{"towing_reference_id":"A","more":"${'x'.repeat(60_000)}"}}`;
  const { rawBytes, othersLength } = await sendAnsweredWith(body);
  expect([rawBytes, othersLength > 60_000]).toEqual([0, true]);
});
