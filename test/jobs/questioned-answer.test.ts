import { decide } from '../support/violations';
import { useRedis } from '../support/redis';
import { towRequest } from '../support/stores';
import { json } from '../service/fake-service';
import { filesIn } from '../spool/world';
import { startWorkerFor, TAKEN, type ViolationWorker } from './violation-world';

/** The images of a violation that was accepted with a broken answer. */

const redis = useRedis();
let worker: ViolationWorker;
beforeEach(async () => {
  worker = await startWorkerFor(redis.url);
});
afterEach(() => worker.stop());

const imagesLeft = async () => (await filesIn(`${worker.dataDir}/spool/violations`)).length;

/** Reports a violation with one image, which is accepted with a broken answer; nothing is left to do for the worker. */
async function acceptedWithDrift(body: object | null = { done: true }): Promise<void> {
  worker.fake.onCall(() => (body === null ? { status: 204 } : json(body)));
  await worker.reportWithImage();
  expect(await worker.wake()).toBe('accepted');
  expect(await worker.wake()).toBe('finished');
  expect(await worker.wake()).toBe('idle');
}

async function declareExpected(): Promise<void> {
  await worker.stores.expect((await worker.read())?.openDifferenceId ?? '');
}

/** A tow request with the metadata id of the violation: the service has it. */
async function requestTow(): Promise<void> {
  await worker.stores.accept('tow_request', { ...towRequest('TW-1'), metadata: { id: 'own-U1' } }, 'request-1');
  expect(await worker.stores.process('request-1')).toBe('created');
}

const sendAgain = () => decide(worker.stores, 'U1', { action: 'retry' });

test.each([
  ['a JSON object that breaks the contract', { done: true }],
  ['an empty body', null],
] as const)(
  'the images of a violation are kept after %s until a person declares such answers expected',
  async (_what, body) => {
    await acceptedWithDrift(body);
    const violation = await worker.read();
    expect(violation?.state).toBe('accepted');
    expect(violation?.openDifferenceId).toMatch(/^answer\.violation\./);
    expect(await worker.tasks()).toEqual(['answer_differs']);
    expect(await imagesLeft()).toBe(1);

    await declareExpected();
    expect(await worker.wake()).toBe('finished');
    expect(await imagesLeft()).toBe(0);
    expect(await worker.read()).toMatchObject({ state: 'accepted', openDifferenceId: null });
    expect(await worker.wake()).toBe('idle');
  },
);

test('resends a questioned violation with its image and removes the image after a documented answer', async () => {
  await acceptedWithDrift();
  await sendAgain();
  worker.fake.onCall(() => TAKEN);

  expect(await worker.wake()).toBe('accepted');
  const [first, second] = worker.fake.calls.map(({ body }) => body.toString('latin1'));
  const withoutBoundary = (text = '') => text.replaceAll(/--[\w-]+/g, '');
  expect(withoutBoundary(second)).toBe(withoutBoundary(first));
  expect(await worker.wake()).toBe('finished');
  expect(await imagesLeft()).toBe(0);
  expect(await worker.read()).toMatchObject({
    state: 'accepted',
    reference: 'V-1',
    rawBody: null,
    openDifferenceId: null,
  });
});

test('escalates a resent violation without an answer or proof instead of sending it a third time', async () => {
  await acceptedWithDrift();
  await sendAgain();
  worker.fake.onCall(() => ({ status: 502, body: '' }));

  expect(await worker.wake()).toBe('unknown');
  await worker.makeDue();
  expect(await worker.wake()).toBe('unknown');
  expect(worker.fake.calls).toHaveLength(2);
  expect(await worker.tasks()).toEqual(['answer_differs', 'violation_unknown']);
  expect(await imagesLeft()).toBe(1);
});

test('keeps the images, and still one task, when the answer breaks the contract again', async () => {
  await acceptedWithDrift();
  await sendAgain();

  expect(await worker.wake()).toBe('accepted');
  expect(await worker.wake()).toBe('finished');
  expect(await imagesLeft()).toBe(1);
  expect(await worker.tasks()).toEqual(['answer_differs']);
});

test('a tow request with its metadata id answers the question: it is not sent again, and its image is removed', async () => {
  await acceptedWithDrift();

  await requestTow();

  expect(await worker.read()).toMatchObject({ state: 'accepted', openDifferenceId: null, tows: ['TW-1'] });
  expect(await sendAgain()).toBe('violation_settled');
  expect(await worker.wake()).toBe('finished');
  expect(await imagesLeft()).toBe(0);
});

test('a broken answer after such a tow request is counted and leaves no question', async () => {
  worker.fake.onCall(async () => {
    await requestTow();
    return json({ done: true });
  });
  await worker.reportWithImage();

  expect(await worker.wake()).toBe('accepted');

  expect(await worker.tasks()).toEqual(['answer_differs']);
  expect(await worker.read()).toMatchObject({ state: 'accepted', openDifferenceId: null });
  expect(await sendAgain()).toBe('violation_settled');
});
