import { decide } from '../support/violations';
import { useRedis } from '../support/redis';
import { json } from '../service/fake-service';
import { filesIn } from '../spool/world';
import { startWorkerFor, TAKEN, type Worker } from './violation-world';

/** The images of a violation that was accepted with a broken answer. */

const redis = useRedis();
let worker: Worker;
beforeEach(async () => {
  worker = await startWorkerFor(redis.url);
});
afterEach(() => worker.stop());

const imagesLeft = async () => (await filesIn(`${worker.dataDir}/spool/violations`)).length;

/** Reported with one image, and accepted with a broken answer; the worker has nothing more to do. */
async function acceptedWithDrift(body: object | null = { done: true }): Promise<void> {
  worker.fake.onCall(() => (body === null ? { status: 204 } : json(body)));
  await worker.reportWithImage();
  expect(await worker.wake()).toBe('accepted');
  expect(await worker.wake()).toBe('finished');
  expect(await worker.wake()).toBe('idle');
}

async function resolve(): Promise<void> {
  expect(await worker.stores.resolve('violation_contract.U1')).toBe('done');
}

const sendAgain = () => decide(worker.stores, 'U1', { action: 'retry' });

test.each([
  ['a JSON object that breaks the contract', { done: true }],
  ['an empty body', null],
] as const)('after %s the images stay until a person resolves the task', async (_what, body) => {
  await acceptedWithDrift(body);
  expect(await worker.read()).toMatchObject({ state: 'accepted', isAnswerQuestioned: true });
  expect(await worker.tasks()).toEqual(['answer_broken']);
  expect(await imagesLeft()).toBe(1);

  await resolve();
  expect(await worker.wake()).toBe('finished');
  expect(await imagesLeft()).toBe(0);
  expect(await worker.read()).toMatchObject({ state: 'accepted', isAnswerQuestioned: false });
  expect(await worker.wake()).toBe('idle');
});

test('the form is sent again with its image, and the image goes once the answer is as documented', async () => {
  await acceptedWithDrift();
  await sendAgain();
  worker.fake.onCall(() => TAKEN);

  expect(await worker.wake()).toBe('accepted');
  const [first, second] = worker.fake.calls.map(({ body }) => body.toString('latin1'));
  const withoutBoundary = (text = '') => text.replaceAll(/--[\w-]+/g, '');
  expect(withoutBoundary(second)).toBe(withoutBoundary(first));
  expect(await worker.wake()).toBe('finished');
  expect(await imagesLeft()).toBe(0);
  expect(await worker.tasks()).toEqual([]);
  expect(await worker.read()).toMatchObject({ state: 'accepted', reference: 'V-1', brokenAnswer: null });
});

test('sent again and left without an answer, it waits for proof and then for a person, and is not sent a third time', async () => {
  await acceptedWithDrift();
  await sendAgain();
  worker.fake.onCall(() => ({ status: 502, body: '' }));

  expect(await worker.wake()).toBe('unknown');
  await worker.makeDue();
  expect(await worker.wake()).toBe('unknown');
  expect(worker.fake.calls).toHaveLength(2);
  expect(await worker.tasks()).toEqual(['violation_unknown']);
  expect(await imagesLeft()).toBe(1);
});

test('accepted with drift again, the images stay and the task is open again', async () => {
  await acceptedWithDrift();
  await sendAgain();
  expect(await worker.tasks()).toEqual([]);

  expect(await worker.wake()).toBe('accepted');
  expect(await worker.wake()).toBe('finished');
  expect(await imagesLeft()).toBe(1);
  expect(await worker.tasks()).toEqual(['answer_broken']);
});
