import { KEYS } from '../../src/store/keys';
import { createTaskStore } from '../../src/store/tasks';
import { decideReport } from '../../src/workflow/decisions';
import { recordFact } from '../../src/workflow/progress';
import { verifyArchive } from '../../src/archive/read';
import { useDataDir } from '../archive/folder';
import { walk } from '../support/conservation';
import { useRedis } from '../support/redis';
import { lastingKeys, liveAndBeCanceled, liveAndBeReleased, openRetention, sendAll } from '../support/retention';
import { INVOICE, mustClaim, openStores, result, START, towRequest, type Stores } from '../support/stores';

const redis = useRedis();
const dataDir = useDataDir();
let stores: Stores;
let retention: ReturnType<typeof openRetention>;
beforeEach(async () => {
  stores = await openStores(redis.url);
  retention = openRetention(stores, dataDir.path);
});
afterEach(async () => {
  await retention.close();
  stores.close();
});

const actor = { id: 'k1', name: 'tester', role: 'ops' } as const;
const tools = () => stores.progress;
const REFUSED = { next: 'refused', hint: null } as const;
const RETRY = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;

async function resolveAll(): Promise<void> {
  const tasks = createTaskStore(stores.redis);
  const { items } = await tasks.list({ cursor: null, limit: 200 });
  for (const { id } of items.filter(({ actions }) => actions.includes('resolve'))) await stores.resolve(id);
}

/** How many tows of each story the test lives through. */
const TIMES = 12;

/** Stories of tows, which together leave every kind of data behind. */
const LIVES: readonly ((ref: string) => Promise<unknown>)[] = [
  (ref) => liveAndBeReleased(stores, ref),
  (ref) => liveAndBeCanceled(stores, ref),
  async function invoiceComesFirst(ref) {
    await stores.acceptInvoice(ref);
    await stores.process(`invoice-${ref}`);
    await liveAndBeCanceled(stores, ref);
    await stores.process(`invoice-${ref}`);
  },
  async function towNeverComes(ref) {
    await stores.acceptInvoice(ref);
    await stores.redis.hset(`{p0}:delivery:invoice-${ref}`, 'parked_at', 1);
    await stores.process(`invoice-${ref}`);
    await stores.redis.hset(`{p0}:delivery:invoice-${ref}`, 'parked_at', 1);
    await stores.process(`invoice-${ref}`);
  },
  async function isRequestedTwice(ref) {
    await stores.request(ref);
    await stores.accept('tow_request', { ...towRequest(ref), violation_reference_id: `other-${ref}` }, `rival-${ref}`);
    await stores.process(`rival-${ref}`);
    await stores.say(ref, { event: 'canceled', cancellationReason: 'Gone' });
    await sendAll(stores, ref);
  },
  async function isRefusedAndWaived(ref) {
    await stores.request(ref);
    await stores.say(ref, START);
    await stores.say(ref, INVOICE);
    const claim = await mustClaim(stores.outbox, ref);
    const task = {
      subject: claim.entry.id,
      type: 'report_refused' as const,
      message: 'no',
      actions: ['waive' as const],
    };
    await stores.outbox.ack(claim, result(REFUSED, { task }));
    const command = { action: 'correct', fields: { plate_number: `OLD ${ref}` } } as const;
    await decideReport(tools(), { ref, reportId: claim.entry.id, command, actor });
    await stores.say(ref, { event: 'canceled', cancellationReason: 'Gone' });
    await sendAll(stores, ref);
  },
  async function failsWhileTheServiceIsDown(ref) {
    await stores.request(ref);
    await stores.say(ref, START);
    const claim = await mustClaim(stores.outbox, ref);
    await stores.outbox.ack(claim, result(RETRY, { service: 'failing' }));
    await stores.say(ref, { event: 'canceled', cancellationReason: 'Gone' });
    const command = { action: 'waive', reason: 'told by phone' } as const;
    await decideReport(tools(), { ref, reportId: claim.entry.id, command, actor });
    await sendAll(stores, ref);
  },
  async function isSaidUnderAKey(ref) {
    await stores.request(ref);
    const command = { event: 'canceled', cancellationReason: 'Gone' } as const;
    await recordFact(tools(), { ref, command, actor, remember: { scope: `POST ${ref}`, fingerprint: ref } });
    await sendAll(stores, ref);
  },
  async function deliveryFailsForLong(ref) {
    await stores.accept('tow_request', towRequest(ref), `request-${ref}`);
    for (let failures = 0; failures < 12; failures += 1) await stores.fail(`request-${ref}`);
    await liveAndBeCanceled(stores, ref);
  },
  async function comesBackAfterItLeft(ref) {
    await liveAndBeCanceled(stores, ref);
    await retention.sweepAll();
    await stores.accept('tow_request', towRequest(ref), `again-${ref}`);
    await stores.acceptInvoice(ref);
    await stores.process(`again-${ref}`);
    await stores.process(`invoice-${ref}`);
  },
];

async function live(from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) await LIVES[index % LIVES.length]?.(`T${index}`);
}

/** The keys that remain after all tasks are resolved and all tows archived. Asserts that no delivery or report is lost. */
async function whatIsLeft() {
  await resolveAll();
  expect(await walk(stores.redis)).toMatchObject({ lostNames: [] });
  await retention.sweepAll();
  expect((await walk(stores.redis)).deliveries.acknowledged).toBe(0);
  const left = await lastingKeys(stores);
  return {
    constant: left.filter(({ key }) => key !== KEYS.tombstones),
    tombstones: left.find(({ key }) => key === KEYS.tombstones)?.size,
  };
}

test('the data of archived tows in Redis does not grow with their number, except for the archived markers', async () => {
  const [few, many] = [LIVES.length, TIMES * LIVES.length];
  await live(0, few);
  const afterFew = await whatIsLeft();
  await live(few, many);
  const afterMany = await whatIsLeft();

  expect(afterMany.constant).toEqual(afterFew.constant);
  expect(afterMany.constant.map(({ key }) => key)).toEqual(['{p0}:audit', '{p0}:last-walk', '{p0}:walk']);
  // One kind of story creates no tow.
  expect([afterFew.tombstones, afterMany.tombstones]).toEqual([few - 1, many - TIMES]);
  expect(await verifyArchive(dataDir.path)).toMatchObject({ torn: [], broken: [], records: { tow: many - TIMES } });
}, 60_000);

test('nothing of a tow remains in Redis once its archived marker has expired', async () => {
  await live(0, LIVES.length);
  await whatIsLeft();
  const refs = await stores.redis.zrange(KEYS.tombstones, '0', '-1');
  for (const ref of refs) await stores.redis.zadd(KEYS.tombstones, 1, ref);

  await retention.sweepAll();

  expect(await stores.redis.exists(KEYS.tombstones)).toBe(0);
});
