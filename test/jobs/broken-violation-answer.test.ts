import { useRedis } from '../support/redis';
import { towRequest } from '../support/stores';
import { json } from '../service/fake-service';
import { filesIn } from '../spool/world';
import { startWorkerFor, type ViolationWorker } from './violation-world';

/** A violation whose answer breaks the contract. */

const redis = useRedis();
let worker: ViolationWorker;
beforeEach(async () => {
  worker = await startWorkerFor(redis.url);
});
afterEach(() => worker.stop());

const imagesLeft = async () => (await filesIn(`${worker.dataDir}/spool/violations`)).length;

test.each([
  ['a JSON object that breaks the contract', { done: true }],
  ['an empty body', null],
] as const)(
  'a violation is accepted by %s, counted under one task, and its images are removed',
  async (_what, body) => {
    worker.fake.onCall(() => (body === null ? { status: 204 } : json(body)));
    await worker.reportWithImage();

    expect(await worker.wake()).toBe('accepted');
    expect(await worker.wake()).toBe('finished');
    expect(await worker.wake()).toBe('idle');

    expect(await worker.read()).toMatchObject({ state: 'accepted' });
    expect(await worker.tasks()).toEqual(['answer_differs']);
    expect(await imagesLeft()).toBe(0);
  },
);

test('a broken answer after a tow request with the metadata id of the violation is counted', async () => {
  worker.fake.onCall(async () => {
    await worker.stores.accept('tow_request', { ...towRequest('TW-1'), metadata: { id: 'own-U1' } }, 'request-1');
    expect(await worker.stores.process('request-1')).toBe('created');
    return json({ done: true });
  });
  await worker.reportWithImage();

  expect(await worker.wake()).toBe('accepted');

  expect(await worker.tasks()).toEqual(['answer_differs']);
  expect(await worker.read()).toMatchObject({ state: 'accepted', tows: ['TW-1'] });
});
