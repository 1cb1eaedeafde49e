import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { createPatrol, FORM, picture } from './patrol';
import { acceptedReference, callsOf, requestTow, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

/** A claim expires 20 s after its worker died. */
const CLAIM_EXPIRES_WITHIN_MS = 120_000;

test('a worker killed with SIGKILL between sending a violation and storing the answer causes no second request', async () => {
  const town = await buildTown(redis.url);
  const [worker, console] = await Promise.all([town.start('worker'), town.start('console'), town.start('receiver')]);
  const { report, violation } = createPatrol(await console.url('console'));
  await setFaults(town, [{ operation: 'violation', fault: 'late', times: 1, ms: 60_000 }]);

  const { id } = await report(FORM, [picture(2000)]);
  // A call is listed when it arrives. It has no effect before its last byte has arrived.
  await eventually(async () =>
    expect(await callsOf(town, 'violation')).toMatchObject([{ effect: true, status: null }]),
  );
  worker.kill('SIGKILL');
  await worker.exited;
  await town.start('worker');
  await eventually(async () => expect((await violation(id)).state).toBe('unknown'), CLAIM_EXPIRES_WITHIN_MS);
  await requestTow(town, { violation_reference_id: await acceptedReference(town) });

  await eventually(async () => expect((await violation(id)).state).toBe('accepted'));
  expect(await callsOf(town, 'violation')).toHaveLength(1);
});
