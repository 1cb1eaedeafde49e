import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { readEntry } from '../support/stored-records';
import { decide, report, violationOf } from '../support/violations';
import { json } from '../service/fake-service';
import { startWorkerFor, TAKEN, type ViolationWorker } from './violation-world';

const redis = useRedis();
let worker: ViolationWorker;
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
  await report(worker.stores, { ...violation, form: { ...violation.form, violationType: 'NO_TICKET' } });
}

const entry = () => readEntry(worker.stores.redis, { violationId: 'U1' }, 1);
const retry = () => decide(worker.stores, 'U1', { action: 'retry' });
const sentViolations = () => worker.fake.calls.filter(({ url }) => url.endsWith('/violations/public')).length;
const ticketCalls = () => worker.fake.calls.length - sentViolations();

/** A failed check that was made between `earliestMs` and `latestMs`. */
interface FailedCheck {
  readonly earliestMs: number;
  readonly latestMs: number;
  readonly nextMs: number;
}

/** Makes checks that fail. Returns when each was made and when the next one is due. */
async function failChecks(times: number): Promise<FailedCheck[]> {
  ticket = FAILS;
  const checks: FailedCheck[] = [];
  for (let nth = 0; nth < times; nth += 1) {
    if (nth > 0) await worker.makeDue();
    const earliestMs = Date.now();
    expect(await worker.wake()).toBe('ticket check unavailable');
    const latestMs = Date.now();
    checks.push({ earliestMs, latestMs, nextMs: (await worker.read()).nextAtMs ?? 0 });
  }
  return checks;
}

test('a failed ticket check is repeated with growing delays, stores its error and sets the time of giving up', async () => {
  const checks = await failChecks(10);
  const delays = checks.map(({ earliestMs, nextMs }) => nextMs - earliestMs);

  expect(await entry()).toMatchObject({
    state: 'pending',
    attempts: 0,
    failures: 0,
    waitsFor: 'ticket_check',
    error: { http_status: 500, message: 'Internal Server Error' },
  });
  const { giveUpAtMs } = await worker.read();
  expect(giveUpAtMs).toBeLessThanOrEqual(Date.now() + GIVE_UP_MS);
  expect(delays[0]).toBeGreaterThanOrEqual(5000);
  expect(delays[6]).toBeGreaterThan(60_000);
  expect(delays[9]).toBeGreaterThan(295_000);
  expect(Math.max(...checks.map(({ latestMs, nextMs }) => nextMs - latestMs))).toBeLessThanOrEqual(375_000);
  expect(ticketCalls()).toBe(10);
});

test('a ticket check is not repeated before the Retry-After time of the service', async () => {
  ticket = { ...json({ message: 'Too Many Requests' }, 429), headers: { 'retry-after': '900' } };
  const earliestMs = Date.now();
  await worker.wake();

  const { nextAtMs } = await worker.read();
  // The service asks for whole seconds from its answer on.
  expect(nextAtMs).toBeGreaterThanOrEqual(earliestMs + 900_000);
});

test('a violation whose ticket check failed for too long opens a task, and its manual retry sends it without the check', async () => {
  await worker.stop();
  await redis.ask('FLUSHALL');
  await open(1);
  await failChecks(1);

  await eventually(async () => expect(await worker.wake()).toBe('unchecked'));
  expect(await worker.tasks()).toEqual(['ticket_unknown']);
  expect(await worker.read()).toMatchObject({ state: 'held', waitsFor: null, nextAtMs: null });
  expect(await worker.wake()).toBe('needs_action');

  await retry();
  expect(await worker.wake()).toBe('accepted');
  expect(await worker.read()).toMatchObject({ state: 'accepted', ticketOverruled: true, waitsFor: null });
  expect([ticketCalls(), await worker.tasks()]).toEqual([1, []]);
});

test('a manual retry of a violation that waits for its ticket check overrules the check', async () => {
  await failChecks(2);
  await retry();
  expect(await worker.read()).toMatchObject({ ticketOverruled: true, giveUpAtMs: null, waitsFor: null });

  expect(await worker.wake()).toBe('accepted');
  expect(ticketCalls()).toBe(2);
});

test('a manual retry before the first ticket check does not overrule the check', async () => {
  await retry();
  ticket = json({ hasActiveTicket: true });

  expect(await worker.wake()).toBe('held for a ticket');
});

test('an answered ticket check clears the count, the error and the time of giving up of earlier failures', async () => {
  await failChecks(3);
  ticket = json({ hasActiveTicket: false });
  await worker.makeDue();
  expect(await worker.wake()).toBe('no ticket');

  const after = { state: 'pending', ticketFailures: 0, giveUpAtMs: null, error: null, waitsFor: null };
  expect(await entry()).toMatchObject(after);
  expect(await worker.wake()).toBe('accepted');
});

test('an active ticket found after failed ticket checks leaves the violation waiting for a decision only', async () => {
  await failChecks(2);
  ticket = json({ hasActiveTicket: true });
  await worker.makeDue();
  await worker.wake();

  expect(await worker.read()).toMatchObject({ state: 'held', waitsFor: null });
});

test('a ticket check that the service forbids opens a task at once and is not repeated', async () => {
  ticket = json({ message: 'Access denied' }, 403);
  expect(await worker.wake()).toBe('ticket check refused');

  expect(await worker.tasks()).toEqual(['ticket_check_refused']);
  expect(await worker.read()).toMatchObject({ state: 'held', waitsFor: null });
  await retry();
  expect(await worker.wake()).toBe('accepted');
  expect(ticketCalls()).toBe(1);
});
