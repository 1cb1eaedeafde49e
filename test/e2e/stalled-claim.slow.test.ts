import { createOperatorClient } from '../../src/demo/client';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { startWire, type RedisWire } from '../support/wire';
import { createPatrol, FORM, picture } from './patrol';
import { callsOf, requestTow } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();
let wire: RedisWire;
beforeEach(async () => (wire = await startWire(redis.port)));
afterEach(() => wire.stop());

/** As a commit that grants a lease has it. */
const GRANTS_LEASE = '"lease","{';
/** Longer than a claim may be old before its call leaves. */
const STALL_MS = 7000;
/** Long before the lease of a lost worker expires, after which the outcome counts as unknown. */
const SENT_WITHIN_MS = 15_000;

async function startStallingTown() {
  const town = await buildTown(redis.url);
  const console = await town.start('console');
  await town.start('receiver');
  const worker = await town.start('worker', { REDIS_URL: `redis://127.0.0.1:${wire.port}` });
  return { town, worker, consoleUrl: await console.url('console') };
}

test('a violation whose claim is stored while Redis stalls was not sent, and is sent once after it', async () => {
  const { town, consoleUrl } = await startStallingTown();
  const { report, violation } = createPatrol(consoleUrl);
  const stalled = wire.holdRepliesFrom(GRANTS_LEASE, STALL_MS);
  const { id } = await report(FORM, [picture(5000)]);
  await stalled;

  await eventually(async () => expect((await violation(id)).state).toBe('accepted'), SENT_WITHIN_MS);
  expect(await callsOf(town, 'violation')).toHaveLength(1);
  expect((await violation(id)).attempts).toBe(1);
});

test('an invoice whose claim is stored while Redis stalls was not requested, and keeps its one repetition', async () => {
  const { town, consoleUrl } = await startStallingTown();
  const client = createOperatorClient(consoleUrl, API_KEY);
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  await client.recordFact(ref, 'started', { plate_number: 'ABC 1', ...place });
  await eventually(async () => expect((await client.tow(ref))?.reports[0]?.state).toBe('accepted'));
  const stalled = wire.holdRepliesFrom(GRANTS_LEASE, STALL_MS);
  await client.recordFact(ref, 'invoice', { vehicle_type: 'HEAVY' });
  await stalled;

  await eventually(async () => {
    expect((await client.tow(ref))?.reports[1]).toMatchObject({ state: 'accepted', attempts: 1 });
  }, SENT_WITHIN_MS);
  expect(await callsOf(town, 'invoice')).toHaveLength(1);
});
