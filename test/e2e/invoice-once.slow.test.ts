import { simulatorCalls, simulatorOrders } from '../../src/contracts/simulator';
import { createOperatorClient } from '../../src/main/demo/client';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';

jest.setTimeout(90_000);
const redis = useRedis();

/** Longer than a lost claim takes to run out. */
const CLAIM_LOST_MS = 40_000;

const invoiceCalls = async (town: Town) => {
  const calls = simulatorCalls.parse(await (await fetch(`${town.simulator.url}/simulator/calls`)).json()).items;
  return calls.filter(({ operation }) => operation === 'invoice');
};

async function simulate(town: Town, method: 'PUT' | 'POST', path: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${town.simulator.url}/simulator/${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  return response.json();
}

/** A town whose invoice call has this fault, and a tow in it whose invoice is requested. */
async function requestInvoice(fault: object) {
  const town = await buildTown(redis.url);
  await town.start('receiver');
  const client = createOperatorClient(await (await town.start('console')).url('console'), API_KEY);
  const worker = await town.start('worker');
  await simulate(town, 'PUT', 'faults', [{ operation: 'invoice', times: 1, ...fault }]);
  const { items } = simulatorOrders.parse(await simulate(town, 'POST', 'tow-requests', {}));
  const ref = items[0]?.towing_reference_id ?? '';
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  await client.say(ref, 'started', { plate_number: 'ABC 1', ...place });
  await client.say(ref, 'invoice', { vehicle_type: 'HEAVY' });
  return { town, client, worker, ref };
}

test('an invoice answer that is lost while the invoice exists leads to no second request', async () => {
  const { town, client, ref } = await requestInvoice({ fault: 'lost_answer' });

  const tow = await eventually(async () => {
    const found = await client.tow(ref);
    expect(found?.reports[1]?.state).toBe('accepted');
    return found;
  });

  expect(await invoiceCalls(town)).toMatchObject([{ effect: true, status: null }]);
  expect(tow?.timeline).toContainEqual(
    expect.objectContaining({ type: 'report.accepted', report_id: 'invoice-2', how: 'proved_by_webhook' }),
  );
});

test('a worker killed with -9 between the invoice request and its ack leads to no second request', async () => {
  const { town, client, worker, ref } = await requestInvoice({ fault: 'late', ms: 8000 });
  await eventually(async () => expect(await invoiceCalls(town)).toMatchObject([{ effect: true }]));

  worker.kill('SIGKILL');
  await worker.exited;
  await town.start('worker');
  await eventually(async () => expect((await client.tow(ref))?.reports[1]?.state).toBe('accepted'), CLAIM_LOST_MS);

  expect(await invoiceCalls(town)).toHaveLength(1);
  const tow = await client.tow(ref);
  expect(tow?.reports[1]?.log).toMatchObject([{ outcome: 'worker_lost' }]);
  expect(tow?.tasks).toEqual([]);
});
