import { useOwnRedis } from '../support/redis';
import { startTestRedis, type TestRedis } from '../support/redis-server';
import { makeReplica, MASTER_NAME, startSentinels, type Sentinels } from '../support/sentinels';
import { eventually } from '../support/eventually';
import { buildTown } from '../support/town';

// Without the usual wait for further replicas.
const master = useOwnRedis({ 'repl-diskless-sync-delay': '0' });
let replica: TestRedis;
let sentinels: Sentinels;

beforeAll(async () => {
  replica = await startTestRedis();
  // No failover, however busy the machine is.
  sentinels = await startSentinels(master.port, 1, null, 60_000);
});
afterAll(async () => {
  replica.thaw();
  await Promise.all([sentinels.stop(), replica.stop()]);
});

test('a webhook is acknowledged only when a replica has it, and a repeated one counts once', async () => {
  await makeReplica(replica, master.port);
  const town = await buildTown(`redis://${MASTER_NAME}`);
  const app = await town.startInProcess({
    REDIS_SENTINELS: sentinels.list,
    REDIS_MIN_REPLICAS: '1',
    RECEIVER_PORT: '0',
    CONSOLE_PORT: '0',
  });
  const send = async (id: string) => {
    const body = { towing_reference_id: id, any: 'body that is kept' };
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${app.receiverUrl}/tow-request`, { method: 'POST', headers, body: JSON.stringify(body) }))
      .status;
  };
  const deliveries = () => master.ask('ZCARD', '{towhook-main}:index:deliveries');
  const readiness = async () => (await fetch(`${app.receiverUrl}/readyz`)).status;

  await eventually(async () => expect(await readiness()).toBe(200));
  await eventually(async () => expect(await send('TW-1')).toBe(200));

  replica.freeze();
  expect(await send('TW-2')).toBe(503);
  // The master has it, and the repeated call finds it there: without a confirmation it is refused again.
  expect(await deliveries()).toBe(2);
  expect(await send('TW-2')).toBe(503);
  expect(await readiness()).toBe(503);

  replica.thaw();
  await eventually(async () => expect(await send('TW-2')).toBe(200));
  expect(await deliveries()).toBe(2);
  expect(await replica.ask('ZCARD', '{towhook-main}:index:deliveries')).toBe(2);
  await eventually(async () => expect(await readiness()).toBe(200));
});
