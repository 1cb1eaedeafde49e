import { KEYS } from '../../src/store/keys';
import { createTaskStore } from '../../src/store/ops/tasks';
import { decideReport } from '../../src/workflow/outbox/decide';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { verifyArchive } from '../../src/archive/read';
import { walk } from '../support/conservation';
import {
  lastingKeys,
  createCanceledTow,
  createReleasedTow,
  useRetention,
  type Retention,
  sendAll,
} from '../support/retention';
import { TIMED_OUT } from '../support/exchanges';
import { INVOICE, mustClaim, result, START, towRequest, type Stores } from '../support/stores';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
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
const STORIES: readonly ((ref: string) => Promise<unknown>)[] = [
  (ref) => createReleasedTow(stores, ref),
  (ref) => createCanceledTow(stores, ref),
  async function invoiceComesFirst(ref) {
    await stores.acceptInvoice(ref);
    await stores.process(`invoice-${ref}`);
    await createCanceledTow(stores, ref);
    await stores.process(`invoice-${ref}`);
  },
  async function towNeverComes(ref) {
    await stores.acceptInvoice(ref);
    await stores.redis.hset(`{towhook-main}:delivery:invoice-${ref}`, 'parkedAtMs', 1);
    await stores.process(`invoice-${ref}`);
    await stores.redis.hset(`{towhook-main}:delivery:invoice-${ref}`, 'parkedAtMs', 1);
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
    await stores.outbox.settle(claim, result(REFUSED, { task }));
    const command = { action: 'correct', fields: { plate_number: `OLD ${ref}` } } as const;
    await decideReport(tools(), { ref, reportId: claim.entry.id, command, actor });
    await stores.say(ref, { event: 'canceled', cancellationReason: 'Gone' });
    await sendAll(stores, ref);
  },
  async function failsWhileTheServiceIsDown(ref) {
    await stores.request(ref);
    await stores.say(ref, START);
    const claim = await mustClaim(stores.outbox, ref);
    await stores.outbox.settle(claim, result(RETRY, { exchange: TIMED_OUT }));
    await stores.say(ref, { event: 'canceled', cancellationReason: 'Gone' });
    const command = { action: 'waive', reason: 'confirmed by phone' } as const;
    await decideReport(tools(), { ref, reportId: claim.entry.id, command, actor });
    await sendAll(stores, ref);
  },
  async function isSaidUnderAKey(ref) {
    await stores.request(ref);
    const command = { event: 'canceled', cancellationReason: 'Gone' } as const;
    await recordFact(tools(), { ref, command, actor, idempotency: { scope: `POST ${ref}`, fingerprint: ref } });
    await sendAll(stores, ref);
  },
  async function deliveryFailsForLong(ref) {
    await stores.accept('tow_request', towRequest(ref), `request-${ref}`);
    for (let failures = 0; failures < 12; failures += 1) await stores.fail(`request-${ref}`);
    await createCanceledTow(stores, ref);
  },
  async function comesBackAfterItLeft(ref) {
    await createCanceledTow(stores, ref);
    await retention.sweepAll();
    await stores.accept('tow_request', towRequest(ref), `again-${ref}`);
    await stores.acceptInvoice(ref);
    await stores.process(`again-${ref}`);
    await stores.process(`invoice-${ref}`);
  },
];

async function live(from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) await STORIES[index % STORIES.length]?.(`T${index}`);
}

/** The keys that remain after all tasks are resolved and all tows archived. Asserts that no delivery or report is lost. */
async function whatIsLeft() {
  await resolveAll();
  expect(await walk(stores.redis)).toMatchObject({ lostNames: [] });
  await retention.sweepAll();
  expect((await walk(stores.redis)).deliveries.acknowledged).toBe(0);
  const left = await lastingKeys(stores);
  return {
    constant: left.filter(({ key }) => key !== KEYS.archivedMarkers),
    tombstones: left.find(({ key }) => key === KEYS.archivedMarkers)?.size,
  };
}

test('the data of archived tows in Redis does not grow with their number, except for the archived markers', async () => {
  const [few, many] = [STORIES.length, TIMES * STORIES.length];
  await live(0, few);
  const afterFew = await whatIsLeft();
  await live(few, many);
  const afterMany = await whatIsLeft();

  expect(afterMany.constant).toEqual(afterFew.constant);
  expect(afterMany.constant.map(({ key }) => key)).toEqual([
    '{towhook-main}:audit',
    '{towhook-main}:check',
    '{towhook-main}:last-check',
  ]);
  // One kind of story creates no tow.
  expect([afterFew.tombstones, afterMany.tombstones]).toEqual([few - 1, many - TIMES]);
  expect(await verifyArchive(dataDir.path)).toMatchObject({ torn: [], broken: [], records: { tow: many - TIMES } });
});

test('Redis keeps no data of a tow once its archived marker has expired', async () => {
  await live(0, STORIES.length);
  await whatIsLeft();
  const refs = await stores.redis.zrange(KEYS.archivedMarkers, '0', '-1');
  for (const ref of refs) await stores.redis.zadd(KEYS.archivedMarkers, 1, ref);

  await retention.sweepAll();

  expect(await stores.redis.exists(KEYS.archivedMarkers)).toBe(0);
});
