import type { CircuitName } from '../../src/domain/vocabulary';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { FAILING, PAGE } from '../support/exchanges';
import { ACCEPTED, INVOICE, mustClaim, result, START, useStores } from '../support/stores';
import { mustClaimViolation, openOutbox, outcome, readViolation, reportViolations } from '../support/violations';
import { letTry, readCircuits } from '../support/stored-records';
import { reportProbe } from '../../src/workflow/outbox/prove-connection';

/** Something answers with 2xx in place of the service: a login or maintenance page. */

const stores = useStores({ leaseMs: 60_000 });

/** Long enough that nothing becomes due during a test. */
const LATER_MS = 60_000;
const HELD = { next: 'hold', delayMs: LATER_MS, because: 'connection' } as const;
const UNKNOWN = { next: 'unknown', delayMs: 0, connectionDelayMs: LATER_MS } as const;
const page = { exchange: PAGE };

async function tow(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

async function towAtInvoice(ref: string): Promise<void> {
  await tow(ref);
  await stores.say(ref, INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
}

const claim = (ref: string) => stores.outbox.claim(ref);
const openTasks = () => stores.redis.hkeys(KEYS.tasks);
const circuits = () => readCircuits(stores.redis);
const mayTry = (name: CircuitName) => letTry(stores.redis, name);

describe('create answered by a web page', () => {
  test('the outcome of a create answered by a web page is unknown, and the calls of all other tows are blocked', async () => {
    await towAtInvoice('A');
    await tow('B');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(UNKNOWN, page));

    expect((await stores.read('A')).reports[1]).toMatchObject({ state: 'unknown', possibleEffects: 1 });
    expect((await claim('B')).kind).toBe('wait');
    expect((await stores.read('B')).reports[0]).toMatchObject({ state: 'pending', waitsFor: 'connection' });
    expect(await openTasks()).toEqual(['connection']);
  });

  test('an idempotent report probes the connection instead of a create that a web page answered', async () => {
    await towAtInvoice('A');
    await tow('B');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(UNKNOWN, page));
    await claim('B');
    await mayTry('connection');

    expect((await claim('A')).kind).toBe('wait');
    expect(await claim('B')).toMatchObject({ kind: 'send', entry: { kind: 'started' } });
  });

  test('the token call probes the connection when no blocked report is idempotent', async () => {
    await towAtInvoice('A');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(UNKNOWN, page));
    await mayTry('connection');

    expect(await claim('A')).toEqual({ kind: 'probe', failedProbes: 1 });
    await reportProbe(stores.records, { service: 'silent', delayMs: LATER_MS });
    expect((await claim('A')).kind).toBe('wait');
    await mayTry('connection');
    expect(await claim('A')).toEqual({ kind: 'probe', failedProbes: 2 });
    await reportProbe(stores.records, { service: 'alive', delayMs: LATER_MS });

    await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(ACCEPTED));
    expect(await stores.states('A')).toEqual(['started accepted', 'invoice accepted']);
    expect(await openTasks()).toEqual([]);
  });

  test('a create answered by a web page is sent once more after the page is gone, and then escalated', async () => {
    await towAtInvoice('A');
    for (const _ of [1, 2]) {
      await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(UNKNOWN, page));
      await mayTry('connection');
      await reportProbe(stores.records, { service: 'alive', delayMs: 0 });
    }

    expect(await claim('A')).toMatchObject({ kind: 'escalated', why: 'unknown' });
  });
});

test('a violation answered by a web page waits for proof, and later violations are not sent to that page', async () => {
  const outbox = openOutbox(stores, { graceMs: LATER_MS });
  await reportViolations(stores, 'U1', 'U2');
  await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome({ ...UNKNOWN, delayMs: LATER_MS }, page));

  expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'unknown', waitsFor: null });
  expect((await outbox.claim('U2')).kind).toBe('wait');
  await mayTry('connection');
  expect(await outbox.claim('U2')).toEqual({ kind: 'probe', failedProbes: 1 });
  await reportProbe(stores.records, { service: 'alive', delayMs: 0 });
  await mustClaimViolation(outbox, 'U2');
});

test('a successful token call lets one create probe the connection, and the others continue only after its answer', async () => {
  const outbox = openOutbox(stores, { graceMs: LATER_MS });
  await reportViolations(stores, 'U1', 'U2', 'U3');
  await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome({ ...UNKNOWN, delayMs: LATER_MS }, page));
  expect((await outbox.claim('U3')).kind).toBe('wait');
  await mayTry('connection');
  expect((await outbox.claim('U2')).kind).toBe('probe');
  await reportProbe(stores.records, { service: 'alive', delayMs: 0 });

  const tried = await mustClaimViolation(outbox, 'U2');
  expect(tried.connectionFailures).toBe(1);
  expect((await outbox.claim('U3')).kind).toBe('wait');
  expect(await openTasks()).toEqual(['connection']);

  await outbox.settle(tried, outcome(ACCEPTED));
  await mustClaimViolation(outbox, 'U3');
  expect(await openTasks()).toEqual([]);
});

test('a report answered by a web page is sent again with the mark that its first attempt may have taken effect', async () => {
  await tow('A');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result({ ...HELD, delayMs: 0 }, page));
  await mayTry('connection');

  expect(await eventually(() => mustClaim(stores.outbox, 'A'))).toMatchObject({
    entry: { unanswered: 1, attempts: 1 },
  });
});

test('an answer by a web page neither closes the service circuit nor resets its failure count', async () => {
  for (const ref of ['A', 'B', 'C']) await tow(ref);
  const failed = { next: 'retry', delayMs: 0, because: 'failed' } as const;
  const failing = { exchange: FAILING, outageDelayMs: LATER_MS };
  for (const ref of ['A', 'B', 'C', 'A']) {
    await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(failed, failing));
  }
  await stores.outbox.settle(await mustClaim(stores.outbox, 'B'), result(HELD, page));
  expect(await circuits()).toMatchObject({ failures: 4 });
  await mayTry('connection');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'C'), result(failed, failing));
  expect(await openTasks()).toEqual(['outage']);

  await mayTry('outage');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(HELD, page));
  expect((await openTasks()).toSorted()).toEqual(['connection', 'outage']);

  await mayTry('outage');
  await mayTry('connection');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'C'), result(ACCEPTED));
  expect(await circuits()).toMatchObject({ open: {}, failures: 0 });
  expect(await openTasks()).toEqual([]);
});
