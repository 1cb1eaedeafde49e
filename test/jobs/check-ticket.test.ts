import { entryOf } from '../support/audit';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { report, violationOf } from '../support/violations';
import { json } from '../service/fake-service';
import { startWorkerFor, TAKEN, type Worker } from './violation-world';

const redis = useRedis();
let worker: Worker;
let ticket = json({ hasActiveTicket: false });
const GIVE_UP_MS = 3_600_000;
const FAILS = json({ message: 'Internal Server Error' }, 500);

beforeEach(async () => {
  await open();
});
afterEach(() => worker.stop());

async function open(giveUpAfterMs = GIVE_UP_MS): Promise<void> {
  worker = await startWorkerFor(redis.url, { checksTicket: true, giveUpAfterMs });
  worker.fake.onCall(({ url }) => (url.endsWith('/active-ticket') ? ticket : TAKEN));
  const violation = violationOf('U1', { images: [] });
  await report(worker.stores.violations, { ...violation, form: { ...violation.form, violationType: 'NO_TICKET' } });
}

const retry = async () =>
  worker.stores.violations.decide(await worker.read(), { action: 'retry', audit: entryOf('violation.retried') });
const sentViolations = () => worker.fake.calls.filter(({ url }) => url.endsWith('/violations/public')).length;
const ticketCalls = () => worker.fake.calls.length - sentViolations();

/** Wakes the worker as often as it takes until it has made that many checks. */
async function failChecks(times: number): Promise<number[]> {
  ticket = FAILS;
  const delays: number[] = [];
  for (let nth = 0; nth < times; nth += 1) {
    if (nth > 0) await worker.makeDue();
    expect(await worker.wake()).toBe('ticket check unavailable');
    const { nextAttemptAtMs } = await worker.read();
    delays.push((nextAttemptAtMs ?? 0) - Date.now());
  }
  return delays;
}

test('a check that fails is made again more and more rarely, its error is shown, and the clock of giving up runs', async () => {
  const delays = await failChecks(10);

  expect(await worker.read()).toMatchObject({
    state: 'pending',
    attempts: 0,
    failures: 0,
    waitsFor: 'ticket_check',
    lastError: { http_status: 500, message: 'Internal Server Error' },
  });
  const { giveUpAtMs } = await worker.read();
  expect(giveUpAtMs).toBeLessThanOrEqual(Date.now() + GIVE_UP_MS);
  expect(delays[0]).toBeGreaterThan(4500);
  expect(delays[6]).toBeGreaterThan(60_000);
  expect(delays[9]).toBeGreaterThan(295_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(375_000);
  expect(ticketCalls()).toBe(10);
});

test('no check is made before the moment the service asked for', async () => {
  ticket = { ...json({ message: 'Too Many Requests' }, 429), headers: { 'retry-after': '900' } };
  await worker.wake();

  const { nextAttemptAtMs } = await worker.read();
  expect((nextAttemptAtMs ?? 0) - Date.now()).toBeGreaterThan(890_000);
});

test('what nobody could tell about for too long is held with a question of its own; "again" sends it without the check', async () => {
  await worker.stop();
  await redis.ask('FLUSHALL');
  await open(1);
  await failChecks(1);

  await eventually(async () => expect(await worker.wake()).toBe('unchecked'));
  expect(await worker.tasks()).toEqual(['ticket_unknown']);
  expect(await worker.read()).toMatchObject({ state: 'held', waitsFor: null, nextAttemptAtMs: null });
  expect(await worker.wake()).toBe('held');

  await retry();
  expect(await worker.wake()).toBe('accepted');
  expect(await worker.read()).toMatchObject({ state: 'accepted', ticketOverruled: true, waitsFor: null });
  expect([ticketCalls(), await worker.tasks()]).toEqual([1, []]);
});

test('a person who says "again" while it waits for the check overrules the check', async () => {
  await failChecks(2);
  await retry();
  expect(await worker.read()).toMatchObject({ ticketOverruled: true, giveUpAtMs: null, waitsFor: null });

  expect(await worker.wake()).toBe('accepted');
  expect(ticketCalls()).toBe(2);
});

test('a person who says "again" before anything was asked does not overrule the check', async () => {
  await retry();
  ticket = json({ hasActiveTicket: true });

  expect(await worker.wake()).toBe('held for a ticket');
});

test('an answer after failed checks ends their count, their error and their clock', async () => {
  await failChecks(3);
  ticket = json({ hasActiveTicket: false });
  await worker.makeDue();
  expect(await worker.wake()).toBe('no ticket');

  const after = { state: 'pending', ticketFailures: 0, giveUpAtMs: null, lastError: null, waitsFor: null };
  expect(await worker.read()).toMatchObject(after);
  expect(await worker.wake()).toBe('accepted');
});

test('a ticket that is found after failed checks holds it, and it waits for nothing but a person', async () => {
  await failChecks(2);
  ticket = json({ hasActiveTicket: true });
  await worker.makeDue();
  await worker.wake();

  expect(await worker.read()).toMatchObject({ state: 'held', waitsFor: null });
});

test('a check that the service forbids is a question for a person at once, and is not made again', async () => {
  ticket = json({ message: 'Access denied' }, 403);
  expect(await worker.wake()).toBe('ticket check refused');

  expect(await worker.tasks()).toEqual(['ticket_check_refused']);
  expect(await worker.read()).toMatchObject({ state: 'held', waitsFor: null });
  await retry();
  expect(await worker.wake()).toBe('accepted');
  expect(ticketCalls()).toBe(1);
});
