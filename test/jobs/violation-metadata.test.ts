import { useRedis } from '../support/redis';
import { report, violationOf } from '../support/violations';
import { startWorkerFor, type Worker } from './violation-world';

const redis = useRedis();
let worker: Worker;
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

test('a violation goes out with its metadata as it was entered', async () => {
  const metadataText = '{ "id":"own-U1", "big":12345678901234567890, "price":1.50, "__proto__":[] }';
  expect(await sentMetadata({ metadataText })).toBe(metadataText);
});

test('a record that has no text of its metadata goes out with its value', async () => {
  expect(await sentMetadata({ metadata: { id: 'own-U1', cars: 2 } })).toBe('{"id":"own-U1","cars":2}');
});
