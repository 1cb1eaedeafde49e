import { eventually } from '../support/eventually';
import { TIMED_OUT, FAILING } from '../support/exchanges';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';
import { letTry, readCircuits, setCircuit } from '../support/stored-records';

const stores = useStores({ leaseMs: 60_000 });

const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const BROKEN = { next: 'hold', delayMs: 1000, because: 'connection' } as const;
const claim = (ref: string) => stores.outbox.claim(ref);
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** Tows that owe their start. */
async function starting(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

/** Tows that owe their detention. */
async function detained(...refs: string[]): Promise<void> {
  await starting(...refs);
  for (const ref of refs) {
    await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
    await stores.say(ref, { event: 'detained' });
  }
}

/** Pauses the start reports and lets these tows wait for that. */
async function pauseStarts(refs: readonly string[]): Promise<void> {
  await starting(...refs);
  await setCircuit(stores.redis, 'paused.started', { untilMs: Date.now() + 300_000 });
  for (const ref of refs) expect((await claim(ref)).kind).toBe('wait');
}

const failing = (outageDelayMs: number) => result(FAILED, { exchange: FAILING, outageDelayMs });

async function breakDown(outageDelayMs: number): Promise<void> {
  for (const ref of ['A', 'B', 'C', 'A', 'B']) {
    await stores.outbox.settle(await mustClaim(stores.outbox, ref), failing(outageDelayMs));
  }
}

async function dueWithin(ms: number): Promise<string[]> {
  const { readAtMs } = await stores.read('A');
  return stores.redis.zrangebyscore('{towhook-main}:due:tows', '-inf', readAtMs + ms);
}

test('many tows blocked by a pause do not prevent probes of an outage', async () => {
  await detained('A', 'B', 'C');
  await pauseStarts(names('P', 8));
  await breakDown(1000);
  for (const ref of ['A', 'B', 'C']) await claim(ref);

  expect((await dueWithin(5000)).filter((ref) => ['A', 'B', 'C'].includes(ref))).not.toHaveLength(0);
});

test('many tows blocked by a pause do not prevent probes of a broken connection', async () => {
  await detained('A', 'B', 'C');
  await pauseStarts(names('P', 40));
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(BROKEN));
  for (const ref of ['B', 'C']) await claim(ref);

  expect((await dueWithin(5000)).filter((ref) => ['A', 'B', 'C'].includes(ref))).not.toHaveLength(0);
});

test('a tow blocked by a pause does not probe an outage; the token call does', async () => {
  await detained('A', 'B', 'C');
  await pauseStarts(names('P', 3));
  await breakDown(60_000);
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  for (const ref of ['B', 'C']) await stores.decide(ref, 'detained-2', { action: 'waive', reason: 'seen' });
  await setCircuit(stores.redis, 'outage', { untilMs: 1, lastProbe: 'A' });

  expect((await claim('A')).kind).toBe('probe');
});

test('concurrent calls with the same connection failure count as one failure', async () => {
  const refs = names('T', 10);
  await starting('A', ...refs);
  const underWay = await Promise.all(refs.map((ref) => mustClaim(stores.outbox, ref)));
  for (const claimed of underWay) await stores.outbox.settle(claimed, result({ ...BROKEN, delayMs: 0 }));

  const next = await eventually(() => mustClaim(stores.outbox, 'A'));

  expect(next.connectionFailures).toBe(1);
});

test('a probe runs within an hour however long the service asks to wait', async () => {
  await starting('A', 'B', 'C', 'D');
  const year = 31_536_000_000;
  await breakDown(year);

  const closed = await claim('D');

  const waitMs = closed.kind === 'wait' ? closed.untilMs - (await stores.read('A')).readAtMs : 0;
  expect(waitMs).toBeGreaterThan(3_500_000);
  expect(waitMs).toBeLessThanOrEqual(3_600_000);
});

test('a broken connection is probed within five minutes however long the service asks to wait', async () => {
  await starting('A', 'B');
  const claimed = await mustClaim(stores.outbox, 'A');
  await stores.outbox.settle(claimed, result({ ...BROKEN, delayMs: 2_592_000_000 }));

  const closed = await claim('B');

  const waitMs = closed.kind === 'wait' ? closed.untilMs - (await stores.read('B')).readAtMs : 0;
  expect(waitMs).toBeGreaterThan(250_000);
  expect(waitMs).toBeLessThanOrEqual(300_000);
});

test('another failure does not shorten the wait of a broken connection', async () => {
  await starting('A', 'B', 'C');
  const underWay = await mustClaim(stores.outbox, 'B');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result({ ...BROKEN, delayMs: 280_000 }));

  await stores.outbox.settle(underWay, { ...failing(1000), exchange: TIMED_OUT });

  const closed = await claim('C');
  expect(closed.kind === 'wait' ? closed.untilMs - (await stores.read('A')).readAtMs : 0).toBeGreaterThan(250_000);
});

test('probes of a broken connection without an answer come later each time', async () => {
  await starting('A', 'B');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result({ ...BROKEN, delayMs: 0 }));
  const waits: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    await letTry(stores.redis, 'connection');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'B'), { ...failing(1000), exchange: TIMED_OUT });
    const until = (await readCircuits(stores.redis)).open.connection?.untilMs ?? 0;
    waits.push(until - (await stores.read('A')).readAtMs);
  }

  for (const [turn, wait] of waits.slice(1).entries()) expect(wait).toBeGreaterThan((waits[turn] ?? 0) * 1.5);
});

test('a probe of a paused operation that fails otherwise is repeated after five minutes', async () => {
  await pauseStarts(['A', 'B']);
  await letTry(stores.redis, 'paused.started');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), failing(1000));

  const closed = await claim('B');

  expect(closed.kind === 'wait' ? closed.untilMs - (await stores.read('A')).readAtMs : 0).toBeGreaterThan(290_000);
});
