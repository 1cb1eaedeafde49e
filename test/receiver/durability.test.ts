import { createDeliveryStore } from '../../src/store/deliveries';
import { KEYS } from '../../src/store/keys';
import { startApp, type App } from '../support/app';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { post, towInvoice, towRequest } from './calls';

jest.setTimeout(60_000);
/** What Redis has answered is on the disk, as the README asks for. */
const redis = useRedis({ appendfsync: 'always' });

const SENDERS = 40;
const ANSWERED_BEFORE_A_KILL = 400;
const KILLS = 3;

let app: App;
beforeEach(async () => {
  app = await startApp({ redisUrl: redis.url, role: 'receiver' });
});
afterEach(() => app.stop());

/** Posts calls that all differ, from many senders at once, until it is told to stop. */
function startLoad() {
  const accepted: string[] = [];
  const statuses = new Map<number, number>();
  const ending = new AbortController();
  let calls = 0;
  const sender = async () => {
    while (!ending.signal.aborted) {
      calls += 1;
      const ref = `TW-${calls}`;
      const [path, body] =
        calls % 2 === 0 ? (['/tow-request', towRequest] as const) : (['/tow/invoice', towInvoice] as const);
      const { status } = await post(app.receiverUrl, path, body({ towing_reference_id: ref }));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) accepted.push(ref);
    }
  };
  const senders = Array.from({ length: SENDERS }, sender);
  return {
    accepted,
    statuses,
    async stop() {
      ending.abort();
      await Promise.all(senders);
    },
  };
}

async function storedRefs(): Promise<Set<string>> {
  const store = createDeliveryStore(app.foundation.redis);
  const refs = new Set<string>();
  let page = await store.list({ cursor: null, limit: 200 });
  for (;;) {
    for (const { towingReferenceId } of page.items) refs.add(towingReferenceId);
    if (page.nextCursor === null) return refs;
    page = await store.list({ cursor: page.nextCursor, limit: 200 });
  }
}

test('with appendfsync always every call answered 200 is there after Redis was killed with -9 under load', async () => {
  const load = startLoad();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = load.accepted.length;
    await eventually(() => expect(load.accepted.length).toBeGreaterThan(before + ANSWERED_BEFORE_A_KILL), 20_000);
    const refused = load.statuses.get(503) ?? 0;
    await redis.kill();
    await eventually(() => expect(load.statuses.get(503) ?? 0).toBeGreaterThan(refused));
    await redis.start();
  }
  const before = load.accepted.length;
  await eventually(() => expect(load.accepted.length).toBeGreaterThan(before), 20_000);
  await load.stop();

  expect(new Set(load.statuses.keys())).toEqual(new Set([200, 503]));
  const stored = await storedRefs();
  expect(load.accepted.filter((ref) => !stored.has(ref))).toEqual([]);
  // Each of them waits for a worker.
  const due = await redis.ask('ZCARD', KEYS.dueDeliveries);
  expect(due).toBe(stored.size);
});
