import { carryOutRun } from '../../jobs/carry-out-run';
import { WEBHOOK_READERS, type WebhookReaders } from '../../src/contracts/webhook/read-webhook';
import { towRequestWebhook } from '../../src/contracts/webhook/webhooks';
import { createDifferenceStore } from '../../src/store/service/differences';
import { differingDeliveriesKey, KEYS } from '../../src/store/keys';
import { createRunStore } from '../../src/store/ops/runs';
import { createTaskStore } from '../../src/store/ops/tasks';
import { expectDifference } from '../../src/workflow/service/differences';
import { previewRun, runViewOf, startRun } from '../../src/workflow/run/runs';
import type { JsonObject } from '../../src/domain/vocabulary';
import { standings } from '../support/conservation';
import { eventually } from '../support/eventually';
import { deliveryTools, TESTER, towInvoice, towRequest, useStores } from '../support/stores';

/** Webhooks that break the contract: kept, one task per kind, and judged again once the contract is wider. */

const stores = useStores();

/** Metadata as a list: no version of the contract allows it yet. */
const odd = (ref: string, violation = `V-${ref}`) => ({
  ...towRequest(ref),
  violation_reference_id: violation,
  metadata: [ref],
});

/** A later contract, which ignores metadata that is a list. */
const WIDER: WebhookReaders = {
  ...WEBHOOK_READERS,
  tow_request: (rawBody) => {
    const read = WEBHOOK_READERS.tow_request(rawBody);
    const parsed = towRequestWebhook.safeParse({ ...JSON.parse(rawBody), metadata: null });
    return parsed.success ? { kind: 'message', message: parsed.data, tolerated: [] } : read;
  },
};

/** The only kind of difference. */
async function kind() {
  const [found, ...others] = await createDifferenceStore(stores.redis).all();
  if (!found || others.length > 0) throw new Error('not one kind of difference');
  return found;
}

async function accept(ref: string, body: JsonObject = odd(ref), id = `odd-${ref}`): Promise<string> {
  await stores.accept('tow_request', body, id);
  return stores.process(id);
}

async function stateOf(id: string) {
  const delivery = await stores.deliveries.read(id);
  return delivery && [delivery.state, delivery.verdict];
}

/** Previews a run over the deliveries of the kind, by this contract. */
async function preview(readers: WebhookReaders) {
  const runs = createRunStore(stores.redis);
  const tools = { runs, tasks: createTaskStore(stores.redis), readers };
  const result = await previewRun(
    { ...tools, ...unchanged(), deliveries: stores.deliveries, differences: createDifferenceStore(stores.redis) },
    { asked: { action: 'replay', difference_id: (await kind()).id }, actor: TESTER, idempotency: undefined },
  );
  if (result.kind !== 'done') throw new Error(result.kind === 'refused' ? result.refusal.code : result.kind);
  return result.value;
}

const unchanged = () => ({ clock: deliveryTools(stores.redis).clock });

/** Judges all deliveries of the kind again by this contract, and processes them. */
async function judge(readers: WebhookReaders) {
  const runs = createRunStore(stores.redis);
  const { id } = await preview(readers);
  await startRun({ runs }, { id, actor: TESTER, idempotency: undefined });
  const { clock, log, isTransient } = deliveryTools(stores.redis);
  await carryOutRun(
    { run_id: id },
    {
      runs,
      facts: stores.progress,
      tasks: createTaskStore(stores.redis),
      readers,
      holder: (actor) => Promise.resolve(actor),
      isTransient,
      clock,
      log,
    },
  );
  for (const due of await stores.schedules.deliveries.pollDue(100, 1000)) await stores.process(due, { readers });
  const run = await runs.read(id);
  return run && runViewOf(run);
}

test('100 webhooks that break the contract in one way are kept and open one task, and others are acted on', async () => {
  const refs = Array.from({ length: 100 }, (_, at) => `T${at}`);
  await Promise.all(refs.map((ref) => accept(ref)));
  // A hundred decisions on one kind at a time may come in each other's way; the schedule repeats what failed.
  for (const ref of refs) await eventually(async () => expect(await stores.process(`odd-${ref}`)).toBe('differs'));
  await stores.request('T-other');

  expect(await stores.generalTasks()).toMatchObject([{ type: 'webhook_differs', difference_id: (await kind()).id }]);
  expect(await kind()).toMatchObject({ source: 'webhook', name: 'tow_request', count: 100, waiting: 100 });
  expect(await stateOf('odd-T7')).toEqual(['differs', null]);
  expect(await stores.tows.read('T7')).toBeNull();
  // Nothing is due: a run every 500 ms would look at them again and again.
  expect(await stores.redis.zcard(KEYS.dueDeliveries)).toBe(0);
  expect((await stores.deliveries.list({ cursor: null, limit: 200 })).items).toHaveLength(101);
});

test('a webhook that breaks the contract counts once, however often it is processed', async () => {
  await accept('T1');
  expect(await stores.process('odd-T1')).toBe('differs');
  await stores.replay('odd-T1');
  expect(await stores.process('odd-T1')).toBe('differs');

  expect(await kind()).toMatchObject({ count: 1, waiting: 1 });
});

test('after the contract is widened all deliveries of the kind are judged in order of receipt, each acted on once', async () => {
  // Two requests of one tow: the first one that was received makes the tow.
  for (const [at, violation] of ['V-first', 'V-second'].entries()) {
    await accept('T1', odd('T1', violation), `odd-${at}`);
    await stores.redis.zincrby(differingDeliveriesKey((await kind()).id), at, `odd-${at}`);
  }
  await stores.acceptInvoice('T2');
  await stores.process('invoice-T2');
  await accept('T2');
  for (let at = 3; at < 30; at += 1) await accept(`T${at}`);

  expect(await judge(WIDER)).toMatchObject({ state: 'done', total: 30, counts: { done: 30 } });

  const { tow, tasks } = await stores.read('T1');
  expect([tow.violationReferenceId, tow.rivalRequests.length]).toEqual(['V-first', 1]);
  expect(tasks.map(({ type }) => type)).toEqual(['rival_request']);
  expect((await stores.read('T29')).tow.state).toBe('requested');
  // The parked invoice became due.
  expect(await stores.process('invoice-T2')).toBe('attached');
  expect((await kind()).waiting).toBe(0);
  await expect(judge(WIDER)).rejects.toThrow('nothing_found');
});

test('the preview refuses what would differ again, with the rules that it breaks, and the run leaves it', async () => {
  await accept('T1');

  const { id, counts } = await preview(WEBHOOK_READERS);

  expect(counts).toMatchObject({ waiting: 0, refused: 1 });
  const page = await createRunStore(stores.redis).items(id, { outcome: 'refused', cursor: null, limit: 10 });
  const reason = { code: 'still_differs', message: 'metadata: must be an object' };
  expect(page?.items).toMatchObject([{ id: 'odd-T1', type: 'tow_request', towing_reference_id: 'T1', ...reason }]);
  expect(await stateOf('odd-T1')).toEqual(['differs', null]);
  expect([(await kind()).count, (await stores.generalTasks()).length]).toEqual([1, 1]);
});

describe('an expected difference', () => {
  const expecting = async () =>
    expectDifference(
      { records: stores.records },
      { id: (await kind()).id, reason: 'known', actor: TESTER, idempotency: undefined },
    );

  test('is acted on without the part that differs, now by judging again and later at once', async () => {
    await accept('T1');
    await expecting();
    expect(await judge(WEBHOOK_READERS)).toMatchObject({ counts: { done: 1 } });
    expect(await accept('T2')).toBe('created');

    for (const ref of ['T1', 'T2']) expect((await stores.read(ref)).tow.metadata).toBeNull();
    expect([(await kind()).count, await stores.generalTasks()]).toEqual([2, []]);
  });

  test('is closed without effect when the part that differs is needed', async () => {
    const nameless = { towing_reference_id: 'T1', violation_reference_id: ['V'] };
    await accept('T1', nameless, 'nameless');
    await expecting();
    await judge(WEBHOOK_READERS);

    expect(await stateOf('nameless')).toEqual(['processed', 'not_acted_on']);
    expect(await stores.tows.read('T1')).toBeNull();
  });
});

test('tolerated differences are acted on, counted once per delivery, and open no task', async () => {
  await stores.accept('tow_invoice', { ...towInvoice('T1'), metadata: '{"id":"own"}' }, 'invoice');
  expect(await stores.process('invoice')).toBe('parked');
  await stores.request('T1');
  expect(await stores.process('invoice')).toBe('attached');

  expect(await kind()).toMatchObject({ name: 'tow_invoice', isTolerated: true, count: 1 });
  expect(await stores.generalTasks()).toEqual([]);
});

test('the conservation check counts a delivery that differs as one with a person, and restores its place in the list', async () => {
  await accept('T1');
  const { id } = await kind();
  expect((await standings(stores.redis)).deliveries).toEqual({ with_a_person: 1 });
  await stores.redis.zrem(differingDeliveriesKey(id), 'odd-T1');

  expect((await standings(stores.redis)).deliveries).toEqual({ lost: 1, repaired: 1 });
  expect((await standings(stores.redis)).deliveries).toEqual({ with_a_person: 1 });
  expect((await kind()).waiting).toBe(1);
});
