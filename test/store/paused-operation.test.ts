import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { createSendingStore } from '../../src/store/service/sending';
import { FORBIDDEN, refusedWith } from '../support/exchanges';
import { reportIn } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';
import { letTry } from '../support/stored-records';

const stores = useStores({ leaseMs: 60_000 });

const BUDGETS = { auth: 0, site: 0, violations: 0, tickets: 0, tow: 0 };
const sending = () => createSendingStore(stores.redis, BUDGETS);
const claim = (ref: string) => stores.outbox.claim(ref);
const openTasks = async () => (await stores.redis.hkeys('{towhook-main}:tasks')).toSorted();

async function tows(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

/** The service forbids the head of this tow's outbox. */
async function forbid(ref: string): Promise<void> {
  const claimed = await mustClaim(stores.outbox, ref);
  const { id, kind } = reportIn(claimed);
  const task = refusedTask({ id, kind, httpStatus: 403, message: 'Access denied', hint: null });
  const refused = { next: 'refused', hint: null } as const;
  await stores.outbox.settle(claimed, result(refused, { exchange: FORBIDDEN, task }));
}

test('a 403 on one or two tows refuses each report and escalates it', async () => {
  await tows('A', 'B', 'C');
  await forbid('A');
  await forbid('B');

  expect(await openTasks()).toEqual(['started-1.A', 'started-1.B']);
  expect((await claim('C')).kind).toBe('send');
});

test('a report that a 403 refused stays refused while its operation is not paused', async () => {
  await tows('A');
  await forbid('A');

  expect((await claim('A')).kind).toBe('needs_action');

  expect((await stores.read('A')).reports[0]).toMatchObject({ state: 'refused', attempts: 1 });
  expect(await openTasks()).toEqual(['started-1.A']);
});

test('a report that the service refused for another reason stays refused while its operation is paused', async () => {
  await tows('A', 'B', 'C', 'X');
  const refusal = { exchange: refusedWith(400, 'Zone not found') };
  await stores.outbox.settle(await mustClaim(stores.outbox, 'X'), result({ next: 'refused', hint: null }, refusal));
  for (const ref of ['A', 'B', 'C']) await forbid(ref);

  expect((await claim('X')).kind).toBe('needs_action');

  expect((await stores.read('X')).reports[0]).toMatchObject({ state: 'refused', attempts: 1 });
});

test('a 403 on a third tow pauses the operation and opens one task for all three tows', async () => {
  await tows('A', 'B', 'C', 'D');
  for (const ref of ['A', 'B', 'C']) await forbid(ref);

  for (const ref of ['A', 'B', 'C', 'D']) expect((await claim(ref)).kind).toBe('wait');

  expect(await openTasks()).toEqual(['paused.started']);
  for (const ref of ['A', 'B', 'C', 'D']) {
    expect((await stores.read(ref)).reports[0]).toMatchObject({ state: 'pending', waitsFor: 'paused.started' });
  }
});

test('other operations continue while one operation is paused', async () => {
  await tows('A', 'B', 'C', 'X');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'X'), result(ACCEPTED));
  await stores.say('X', { event: 'detained' });
  for (const ref of ['A', 'B', 'C']) await forbid(ref);

  expect(await claim('X')).toMatchObject({ kind: 'send', entry: { kind: 'detained' } });
});

test('one tow probes a paused operation every five minutes, and a permitted probe makes all blocked tows due', async () => {
  await tows('A', 'B', 'C', 'D');
  for (const ref of ['A', 'B', 'C']) await forbid(ref);
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);
  const [pause] = (await sending().read()).operations.filter(({ state }) => state === 'paused');
  const nowMs = (await stores.read('A')).readAtMs;
  expect(Date.parse(pause?.next_try_at ?? '') - nowMs).toBeGreaterThan(290_000);
  await letTry(stores.redis, 'paused.started');

  const probe = await mustClaim(stores.outbox, 'A');
  expect((await claim('B')).kind).toBe('wait');
  await stores.outbox.settle(probe, result(ACCEPTED));

  expect(await openTasks()).toEqual([]);
  for (const ref of ['B', 'C', 'D']) expect((await claim(ref)).kind).toBe('send');
});

test('a probe of a paused operation that is forbidden again opens no task, refuses no report and keeps waiting', async () => {
  await tows('A', 'B', 'C');
  for (const ref of ['A', 'B', 'C']) await forbid(ref);
  for (const ref of ['A', 'B', 'C']) await claim(ref);
  await letTry(stores.redis, 'paused.started');

  await forbid('B');

  expect(await openTasks()).toEqual(['paused.started']);
  expect((await claim('B')).kind).toBe('wait');
  expect((await stores.read('B')).reports[0]).toMatchObject({ state: 'pending' });
});

test('resuming a paused operation makes all tows that it blocked due at once', async () => {
  await tows('A', 'B', 'C', 'D');
  for (const ref of ['A', 'B', 'C']) await forbid(ref);
  for (const ref of ['A', 'B', 'C', 'D']) await claim(ref);

  expect(await stores.resume('started')).toBe('done');

  expect(await openTasks()).toEqual([]);
  for (const ref of ['A', 'B', 'C', 'D']) expect((await claim(ref)).kind).toBe('send');
  expect(await stores.resume('started')).toBe('operation_not_paused');
});

test('pausing an operation does not change a report that a person has already waived', async () => {
  await tows('A', 'B', 'C');
  await forbid('A');
  await stores.decide('A', 'started-1', { action: 'waive', reason: 'confirmed by phone' });
  await forbid('B');
  await forbid('C');

  expect((await claim('A')).kind).toBe('idle');
  expect(await stores.states('A')).toEqual(['started waived']);
  expect((await stores.read('A')).tasks).toEqual([]);
});

test('pausing an operation blocks the reports refused before it and closes their tasks', async () => {
  await tows('A', 'B', 'C');
  for (const ref of ['A', 'B', 'C']) await forbid(ref);

  const nowMs = (await stores.read('A')).readAtMs;
  expect(await stores.redis.zrangebyscore('{towhook-main}:due:tows', '-inf', nowMs)).toEqual(
    expect.arrayContaining(['A', 'B']),
  );
  await eventually(async () => expect((await claim('A')).kind).toBe('wait'));
  await claim('B');

  expect((await stores.read('A')).tasks).toEqual([]);
  expect(await openTasks()).toEqual(['paused.started']);
});
