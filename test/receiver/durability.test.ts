import { createDeliveryStore } from '../../src/store/webhook/deliveries';
import { KEYS } from '../../src/store/keys';
import { startApp, type App } from '../support/app';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { deliver, towInvoice, towRequest } from './calls';

/** Redis writes each command to disk before it replies, as docs/operations/data.md#redis requires. */
const redis = useOwnRedis({ appendfsync: 'always' });

const SENDERS = 40;
const ACCEPTED_BEFORE_A_KILL = 400;
const KILLS = 3;

let app: App;
beforeEach(async () => {
  app = await startApp({ redisUrl: redis.url, role: 'receiver' });
});
afterEach(() => app.stop());

/** Delivers distinct webhooks from many concurrent senders until `stop` is called. */
function startLoad() {
  const accepted: string[] = [];
  const statuses = new Map<number, number>();
  const ending = new AbortController();
  let count = 0;
  const sender = async () => {
    while (!ending.signal.aborted) {
      count += 1;
      const ref = `TW-${count}`;
      const [path, body] =
        count % 2 === 0 ? (['/tow-request', towRequest] as const) : (['/tow/invoice', towInvoice] as const);
      const { status } = await deliver(app.receiverUrl, path, body({ towing_reference_id: ref }));
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

test('keeps every webhook answered with 200 when Redis with appendfsync=always is killed with SIGKILL under load', async () => {
  const load = startLoad();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = load.accepted.length;
    await eventually(() => expect(load.accepted.length).toBeGreaterThan(before + ACCEPTED_BEFORE_A_KILL));
    const refused = load.statuses.get(503) ?? 0;
    await redis.kill();
    await eventually(() => expect(load.statuses.get(503) ?? 0).toBeGreaterThan(refused));
    await redis.start();
  }
  const before = load.accepted.length;
  await eventually(() => expect(load.accepted.length).toBeGreaterThan(before));
  await load.stop();

  expect(new Set(load.statuses.keys())).toEqual(new Set([200, 503]));
  const stored = await storedRefs();
  expect(load.accepted.filter((ref) => !stored.has(ref))).toEqual([]);
  // Each stored delivery is scheduled for a worker.
  const due = await redis.ask('ZCARD', KEYS.dueDeliveries);
  expect(due).toBe(stored.size);
});
