import { useRedis } from '../support/redis';
import { report, violationOf } from '../support/violations';
import { startWorkerFor, type ViolationWorker } from './violation-world';

const redis = useRedis();
let worker: ViolationWorker;
beforeEach(async () => {
  worker = await startWorkerFor(redis.url);
});
afterEach(() => worker.stop());

async function sentMetadata(also: Parameters<typeof violationOf>[1]): Promise<string | undefined> {
  await report(worker.stores, violationOf('U1', { images: [], ...also }));
  await worker.wake();
  const body = worker.fake.calls[0]?.body.toString() ?? '';
  return /name="metadata"\r\n\r\n(.*)\r\n--/.exec(body)?.[1];
}

test('sends the metadata of a violation exactly as it was entered', async () => {
  const metadataText = '{ "id":"own-U1", "big":12345678901234567890, "price":1.50, "__proto__":[] }';
  expect(await sentMetadata({ metadataText })).toBe(metadataText);
});
