import { decide, link, openOutbox, report, violationOf } from '../support/violations';
import { rm, truncate } from 'node:fs/promises';
import { filesIn } from '../spool/world';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { readEntry } from '../support/stored-records';
import { KEYS } from '../../src/store/keys';
import { startWorkerFor, TAKEN, type ViolationWorker } from './violation-world';
import { json } from '../service/fake-service';
import { stoppedAfter, unstopped } from './run-steps';

const redis = useRedis();
let worker: ViolationWorker;
beforeEach(async () => {
  worker = await startWorkerFor(redis.url);
});
afterEach(() => worker.stop());

const imagesLeft = async () => (await filesIn(`${worker.dataDir}/spool/violations`)).length;
const dueInMs = async () => Number(await worker.stores.redis.zscore(KEYS.dueViolations, 'U1')) - Date.now();

test.each(['reference', 'guide'] as const)(
  'a worker on another disk does not finish what left images on the shared one (%s)',
  async (api) => {
    await worker.reportWithImage('U1', { api });
    await decide(worker.stores, 'U1', { action: 'waive', reason: 'no' });
    const foreign = await worker.foreignSpool();

    expect(await worker.wake('U1', { spool: foreign })).toBe('images unseen');
    expect(await imagesLeft()).toBe(1);
    // Due again later, for another worker.
    expect(await dueInMs()).toBeGreaterThan(2000);

    expect(await worker.wake()).toBe('finished');
    expect(await imagesLeft()).toBe(0);
    expect(await worker.wake()).toBe('idle');
  },
);

test('any worker finishes a violation without images', async () => {
  await worker.reportWithImage('U1', { images: [] });
  await worker.wake();

  expect(await worker.wake('U1', { spool: await worker.foreignSpool() })).toBe('finished');
});

test.each([
  ['cut off', (path: string) => truncate(path, 10)],
  ['gone', (path: string) => rm(path)],
])('escalates a violation with an image that is %s without counting against the service', async (_what, damage) => {
  for (const id of ['U1', 'U2', 'U3']) {
    await damage(await worker.reportWithImage(id));
    for (let turn = 0; turn < 2; turn += 1) await worker.wake(id);
    const entry = await readEntry(worker.stores.redis, { violationId: id }, 1);
    expect(entry).toMatchObject({ state: 'held', attempts: 0, failures: 0 });
  }

  expect(await worker.tasks()).toEqual(['images_missing', 'images_missing', 'images_missing']);
  expect(await worker.stores.redis.hgetall(KEYS.circuits)).toEqual({});
  expect(worker.fake.calls).toEqual([]);
});

test('the claim of a violation is returned unsent when disk or Redis fails during the image check', async () => {
  await worker.reportWithImage();
  const fails = () => Promise.reject(new Error('EIO'));
  const failing = [
    { ...worker.spool, sourceOf: fails },
    { ...worker.spool, sourceOf: () => Promise.resolve(null), state: fails },
  ];
  for (const spool of failing) {
    expect(await worker.wake('U1', { spool })).toBe('images unseen');
    expect(await worker.read()).toMatchObject({ state: 'pending', attempts: 0, attemptId: null, waitsFor: 'spool' });
    await worker.makeDue();
  }

  expect(await worker.wake()).toBe('accepted');
  expect(worker.fake.calls).toHaveLength(1);
});

test.each([
  ['an image is looked for', (hangs: () => Promise<never>) => ({ sourceOf: hangs })],
  ['an image is missing', (hangs: () => Promise<never>) => ({ sourceOf: () => Promise.resolve(null), state: hangs })],
])('a disk that hangs when %s leaves the violation unsent and without an attempt', async (_when, hanging) => {
  await worker.reportWithImage();
  const spool = { ...worker.spool, ...hanging(() => new Promise(() => {})) };
  // A disk may take a part of the lease.
  const outbox = openOutbox(worker.stores, { leaseMs: 2000 });

  expect(await worker.wake('U1', { spool, outbox })).toBe('images unseen');
  expect(await worker.read()).toMatchObject({ state: 'pending', attempts: 0, attemptId: null, waitsFor: 'spool' });
  expect(worker.fake.calls).toEqual([]);

  await worker.makeDue();
  expect(await worker.wake()).toBe('accepted');
});

test('a violation whose images no worker sees is given up and opens a task', async () => {
  await worker.stop();
  worker = await startWorkerFor(redis.url, { giveUpAfterMs: 1 });
  await worker.reportWithImage();
  const foreign = await worker.foreignSpool();

  expect(await worker.wake('U1', { spool: foreign })).toBe('images unseen');
  expect((await worker.read()).giveUpAtMs).not.toBeNull();
  // It is due at its give-up time, not only for the next attempt.
  await eventually(async () => expect(await dueInMs()).toBeLessThanOrEqual(0));
  await eventually(async () => {
    await worker.wake('U1', { spool: foreign });
    expect(await worker.tasks()).toEqual(['violation_given_up']);
  });

  expect(worker.fake.calls).toEqual([]);
  expect(await worker.stores.redis.zscore(KEYS.dueViolations, 'U1')).toBeNull();
});

test('asks for the images of a violation that is retried after the link by hand that proved it was corrected', async () => {
  worker.fake.onCall(() => ({ status: 502, body: '' }));
  await worker.reportWithImage('U1');
  await report(worker.stores, violationOf('U2'));
  expect(await worker.wake()).toBe('unknown');
  await worker.stores.request('TW-1');
  await link(worker.stores, 'U1', 'TW-1');
  expect(await worker.wake()).toBe('finished');
  expect(await imagesLeft()).toBe(0);

  await link(worker.stores, 'U2', 'TW-1');
  expect(await worker.tasks()).toEqual(['violation_unknown']);
  expect(await decide(worker.stores, 'U1', { action: 'retry' })).toBe('saved');

  expect(await worker.wake()).toBe('images missing');
  expect(await worker.tasks()).toEqual(['images_missing']);
  expect(worker.fake.calls).toHaveLength(1);
});

describe('a run of a violation with a ticket check', () => {
  beforeEach(async () => {
    await worker.stop();
    worker = await startWorkerFor(redis.url, { checksTicket: true });
    worker.fake.onCall(({ url }) => (url.endsWith('/active-ticket') ? json({ hasActiveTicket: false }) : TAKEN));
    const { form } = violationOf('U1');
    await worker.reportWithImage('U1', { form: { ...form, violationType: 'NO_TICKET' } });
  });

  const paths = () => worker.fake.calls.map(({ url }) => url.split('/').at(-1));

  test('a violation run checks the ticket, sends the violation and cleans up', async () => {
    expect(await worker.wake('U1', {}, unstopped)).toBe('finished');

    expect(await worker.read()).toMatchObject({ state: 'accepted', attempts: 1, reference: 'V-1' });
    expect(paths()).toEqual(['active-ticket', 'public']);
    expect(await imagesLeft()).toBe(0);
    expect(await worker.wake()).toBe('idle');
  });

  test('a violation run that must stop ends after its step and continues in another run', async () => {
    expect(await worker.wake('U1', {}, stoppedAfter(2))).toBe('accepted');
    expect(await imagesLeft()).toBe(1);

    expect(await worker.wake('U1', {}, stoppedAfter(2))).toBe('finished');
    expect(await imagesLeft()).toBe(0);
  });
});
