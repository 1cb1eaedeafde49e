import { NO_TOKEN } from '../support/exchanges';
import { changeEntry, letTry } from '../support/stored-records';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';

const stores = useStores({ leaseMs: 60_000 });

const HOUR_MS = 3_600_000;
const MONTH_MS = 30 * 24 * HOUR_MS;
/** The connection fails, and something asks to be left alone for 30 days. */
const leaveAlone = () =>
  result(
    { next: 'hold', delayMs: MONTH_MS, because: 'connection' },
    { exchange: { ...NO_TOKEN, notBeforeMs: Date.now() + MONTH_MS } },
  );

async function heldTow(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), leaveAlone());
}

/** Another tow finds the connection restored. */
async function restore(): Promise<void> {
  await stores.request('T2');
  await stores.say('T2', START);
  await letTry(stores.redis, 'connection');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T2'), result(ACCEPTED));
}

test('a report blocked by a connection with a wait of 30 days is scheduled within an hour', async () => {
  await heldTow('T1');

  const nowMs = Date.now();
  expect(await stores.dueAt('T1')).toBeLessThanOrEqual(nowMs + HOUR_MS);
  expect((await stores.read('T1')).reports[0]?.nextAtMs).toBeLessThanOrEqual(nowMs + HOUR_MS);
});

test('the task of a broken connection names the report that met it first', async () => {
  await heldTow('T1');

  const [task] = await stores.generalTasks();
  expect(task?.type).toBe('connection');
  expect(task?.message).toContain('first met by the started report of T1)');
});

test('a report blocked for 30 days stays scheduled within an hour after another tow closed the connection circuit', async () => {
  await heldTow('T1');
  await restore();

  expect(await stores.schedules.reports.pollDue(10, 1000)).toContain('T1');
  const claim = await stores.outbox.claim('T1');

  // The service asked not to be called earlier; it is bothered once an hour at most.
  expect(claim.kind).toBe('wait');
  expect(await stores.dueAt('T1')).toBeLessThanOrEqual(Date.now() + HOUR_MS);
  expect(await stores.redis.hkeys('{towhook-main}:tasks')).toEqual([]);
  await changeEntry(stores.redis, { ref: 'T1' }, 1, { nextAtMs: 1 });
  expect((await stores.outbox.claim('T1')).kind).toBe('send');
});
