import type { ViolationApi } from '../../src/domain/vocabulary';
import { enveloped, type FakeReply, json } from '../service/fake-service';
import { useRedis } from '../support/redis';
import { report, violationOf } from '../support/violations';
import { startWorkerFor, type ViolationWorker } from './violation-world';
import { towRequest } from '../support/stores';
import { filesIn } from '../spool/world';

const redis = useRedis();
let worker: ViolationWorker;
beforeEach(async () => {
  worker = await startWorkerFor(redis.url);
});
afterEach(() => worker.stop());

const OF_ANOTHER = { violation_reference_id: 'V-9', status: 'PENDING', metadata: { id: 'own-U2' } };

/** Has a violation accepted with this answer. */
async function acceptedWith(api: ViolationApi, reply: FakeReply) {
  worker.fake.onCall(() => reply);
  await report(worker.stores, violationOf('U1', { api, images: [] }));
  expect(await worker.wake()).toBe('accepted');
  return worker.read();
}

test.each<[ViolationApi, FakeReply]>([
  ['guide', json({ id: 'V-9' })],
  ['guide', enveloped({ id: 'V-9', canTow: 'perhaps' })],
  ['reference', enveloped({ violation_reference_id: 'V-9', metadata: 'x' })],
])(
  'a violation of the %s form keeps the reference of an answer that breaks its contract, and gives its plate to a later tow: %j',
  async (api, reply) => {
    expect(await acceptedWith(api, reply)).toMatchObject({ state: 'accepted', reference: 'V-9' });
    expect(await worker.tasks()).toEqual(['answer_differs']);

    // A request for a tow of V-9.
    const ref = await worker.stores.request('9');
    const { plateNumber } = violationOf('U1').form;
    expect((await worker.stores.read(ref)).tow.plateNumber).toBe(plateNumber);
  },
);

test.each<[ViolationApi, FakeReply, string | null]>([
  ['guide', { body: '{"id":12345678901234567891}' }, '12345678901234567891'],
  ['guide', json({ id: ' ' }), null],
  ['guide', json({ id: { value: 'V-9' } }), null],
  ['guide', json({ id: 'V'.repeat(1000) }), null],
  ['guide', json({ message: 'Zone not found' }), null],
  ['reference', enveloped({ id: 'row-1' }), null],
  ['reference', { status: 204 }, null],
])('of a broken answer to the %s form only a usable reference is kept: %j', async (api, reply, reference) => {
  expect(await acceptedWith(api, reply)).toMatchObject({ state: 'accepted', reference });
});

test.each<[string, FakeReply]>([
  ['as documented', enveloped(OF_ANOTHER)],
  ['without envelope', json(OF_ANOTHER)],
  ['with a numeric id', enveloped({ ...OF_ANOTHER, metadata: { id: 7 } })],
  ['with metadata as JSON text', enveloped({ ...OF_ANOTHER, metadata: '{"id":"own-U2"}' })],
  ['with a numeric id in JSON text', enveloped({ ...OF_ANOTHER, metadata: '{"id":7}' })],
  ['with another broken field', enveloped({ ...OF_ANOTHER, status: {} })],
])('takes no reference from an answer that names another violation in its metadata, %s', async (_how, reply) => {
  const nothingTaken = { state: 'accepted', reference: null, references: [], serviceStatus: null };
  expect(await acceptedWith('reference', reply)).toMatchObject(nothingTaken);
  expect(await worker.tasks()).toEqual(['answer_differs']);
  // The reference stays free for the violation to which it belongs.
  const ref = await worker.stores.request('9');
  expect((await worker.stores.read(ref)).tow.violationId).toBeNull();
});

test.each<[string, FakeReply]>([
  ['is ours', enveloped({ ...OF_ANOTHER, metadata: { id: 'own-U1' } })],
  ['is empty', enveloped({ ...OF_ANOTHER, metadata: { id: '' } })],
  ['is left out', enveloped({ ...OF_ANOTHER, metadata: {} })],
])('takes the reference from an answer whose metadata id %s, without a task', async (_what, reply) => {
  expect(await acceptedWith('reference', reply)).toMatchObject({ reference: 'V-9', serviceStatus: 'PENDING' });
  expect(await worker.tasks()).toEqual([]);
});

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
