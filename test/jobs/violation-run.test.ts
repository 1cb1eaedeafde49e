import { json } from '../service/fake-service';
import { filesIn } from '../spool/world';
import { useRedis } from '../support/redis';
import { violationOf } from '../support/violations';
import { startWorkerFor, TAKEN, type ViolationWorker } from './violation-world';
import { stoppedAfter, unstopped } from './run-steps';

const redis = useRedis();
let worker: ViolationWorker;
beforeEach(async () => {
  worker = await startWorkerFor(redis.url, { checksTicket: true });
  worker.fake.onCall(({ url }) => (url.endsWith('/active-ticket') ? json({ hasActiveTicket: false }) : TAKEN));
  const { form } = violationOf('U1');
  await worker.reportWithImage('U1', { form: { ...form, violationType: 'NO_TICKET' } });
});
afterEach(() => worker.stop());

const paths = () => worker.fake.calls.map(({ url }) => url.split('/').at(-1));
const imagesLeft = async () => (await filesIn(`${worker.dataDir}/spool/violations`)).length;

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
