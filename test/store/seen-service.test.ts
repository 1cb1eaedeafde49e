import { KEYS } from '../../src/store/keys';
import { createSeenServiceStore } from '../../src/store/service/seen-service';
import { openStores, useStores, type Stores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

const open = (by: Pick<Stores, 'redis'> = stores) => createSeenServiceStore(by.redis);
const SEEN = {
  messages: { 'answer.started': { samples: 1, fields: { 'code string': 1 } } },
  calls: { started: { statuses: { '200': 1 }, steps: { '3': 1 } } },
};

/** The samples of answers to `started`, the times its field was seen, and its calls. */
async function counted() {
  const { messages, calls } = (await open().read()).stored;
  const started = messages['answer.started'];
  const slots = Object.values(calls['started'] ?? {});
  const made = slots.reduce((sum, { statuses }) => sum + (statuses['200'] ?? 0), 0);
  return [started?.samples, started?.fields['code string']?.count, made];
}

test('processes that add at the same time what they have seen lose nothing', async () => {
  const processes = await Promise.all(Array.from({ length: 4 }, () => openStores(redis.url)));
  try {
    const rounds = Array.from({ length: 10 }, () => SEEN);
    await Promise.all(processes.flatMap((process) => rounds.map((seen) => open(process).add(seen))));
    expect(await counted()).toEqual([40, 40, 40]);
  } finally {
    processes.forEach((process) => process.close());
  }
});

test('what was seen is counted from the start after what was stored about it was damaged', async () => {
  await open().add(SEEN);
  await stores.redis.hset(KEYS.seenService, 'messages:answer.started', '{"samples":', 'calls:started', '[1]');
  expect(await counted()).toEqual([undefined, undefined, 0]);

  await open().add(SEEN);

  expect(await counted()).toEqual([1, 1, 1]);
});
