import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { requestInvoice } from './invoice';
import { callsOf, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

/** A claim expires 20 s after its worker died. */
const CLAIM_EXPIRES_WITHIN_MS = 120_000;

test('a worker killed with SIGKILL between an invoice request and storing its answer causes no second request', async () => {
  const town = await buildTown(redis.url);
  const [worker, console] = await Promise.all([town.start('worker'), town.start('console'), town.start('receiver')]);
  await setFaults(town, [{ operation: 'invoice', fault: 'late', times: 1, ms: 60_000 }]);
  const { client, ref } = await requestInvoice(town, await console.url('console'));
  await eventually(async () => expect(await callsOf(town, 'invoice')).toMatchObject([{ effect: true, status: null }]));

  worker.kill('SIGKILL');
  await worker.exited;
  await town.start('worker');
  await eventually(
    async () => expect((await client.tow(ref))?.reports[1]?.state).toBe('accepted'),
    CLAIM_EXPIRES_WITHIN_MS,
  );

  expect(await callsOf(town, 'invoice')).toHaveLength(1);
  const tow = await client.tow(ref);
  expect(tow?.reports[1]?.log).toMatchObject([{ outcome: 'worker_lost' }]);
  expect(tow?.tasks).toEqual([]);
});
