import { parkedInvoiceTask } from '../../src/domain/ops/tasks';
import { deliveryKey } from '../../src/store/keys';
import { commandsOf } from '../support/command-counts';
import { walk } from '../support/conservation';
import { towInvoice, towRequest, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

const PARKED_MAX = 100;
/** Commands for each parked invoice; far less than the number of parked invoices. */
const PER_INVOICE_MAX = 12;
const FIXED_MAX = 60;

const idsOf = (count: number, ref: string) => Array.from({ length: count }, (_, index) => `${ref}-i${index}`);
const verdictOf = async (id: string) => (await stores.deliveries.read(id))?.verdict;

/** Processes different invoices for a reference that was never requested; returns their verdicts. */
async function invoices(count: number, ref: string): Promise<string[]> {
  const verdicts: string[] = [];
  for (const [index, id] of idsOf(count, ref).entries()) {
    await stores.accept('tow_invoice', towInvoice(ref, 100 + index), id);
    verdicts.push(await stores.process(id));
  }
  return verdicts;
}

/** Opens the task about parked invoices, as 24 hours later. */
async function askAboutParked(count: number, ref: string): Promise<void> {
  for (const id of idsOf(Math.min(count, PARKED_MAX), ref)) {
    await stores.redis.hset(deliveryKey(id), 'parkedAtMs', 1);
    expect(await stores.process(id)).toBe('parked');
  }
}

async function resolveParked(ref: string): Promise<void> {
  expect(await stores.resolve(`${parkedInvoiceTask.subject}.${ref}`)).toBe('done');
}

test('at most 100 of 300 invoices for an unknown tow are parked, and the others are set aside with one task', async () => {
  const verdicts = await invoices(300, 'T1');

  expect(verdicts.filter((verdict) => verdict === 'parked')).toHaveLength(PARKED_MAX);
  expect(verdicts.filter((verdict) => verdict === 'set_aside')).toHaveLength(200);
  expect(await stores.redis.hkeys('{towhook-main}:tasks')).toEqual(['invoices_set_aside.T1']);
});

test('resolving the task about parked invoices sets each aside with a bounded number of commands', async () => {
  await invoices(200, 'T1');
  await askAboutParked(200, 'T1');

  const commands = await commandsOf(redis, () => resolveParked('T1'));

  expect(commands).toBeLessThanOrEqual(FIXED_MAX + PER_INVOICE_MAX * PARKED_MAX);
  expect(await Promise.all(idsOf(200, 'T1').map(verdictOf))).toEqual(Array.from({ length: 200 }, () => 'set_aside'));
});

test('creating a tow schedules each parked invoice with a bounded number of commands', async () => {
  await invoices(200, 'T1');
  await stores.accept('tow_request', towRequest('T1'), 'd1');

  const commands = await commandsOf(redis, () => stores.process('d1'));

  expect(commands).toBeLessThanOrEqual(FIXED_MAX + PER_INVOICE_MAX * PARKED_MAX);
  expect((await stores.schedules.deliveries.pollDue(500, 1000)).length).toBe(PARKED_MAX);
});

test('a conservation scan checks each parked invoice with a bounded number of commands', async () => {
  await invoices(200, 'T1');

  let found: Awaited<ReturnType<typeof walk>> | undefined;
  const commands = await commandsOf(redis, async () => {
    found = await walk(stores.redis, { namesPerStep: 1000 });
  });

  expect(found?.deliveries).toMatchObject({ acknowledged: 200, parked: PARKED_MAX, finished: 100, lost: 0 });
  expect(commands).toBeLessThanOrEqual(FIXED_MAX + PER_INVOICE_MAX * 200);
});
