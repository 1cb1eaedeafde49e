import type { Redis } from 'ioredis';
import type { ProcessDocument } from '../../src/contracts/ops/metrics';
import { checkWorkers } from '../../src/doctor/workers';
import { KEYS } from '../../src/store/keys';
import { createProcessStore } from '../../src/store/ops/processes';
import { beatingProcess, NOTHING } from '../support/processes';
import { useConnection, useRedis } from '../support/redis';

let connection: Redis;
useConnection(useRedis(), (opened) => {
  connection = opened;
});

/** A process whose last heartbeat came `ageMs` ago. */
async function beat(id: string, document: Partial<ProcessDocument>, ageMs = 0): Promise<void> {
  await createProcessStore(connection).beat(beatingProcess(id, document), NOTHING);
  await connection.zincrby(KEYS.heartbeats, -ageMs, id);
}

const SILENT_MS = 30_000;
const queues = [
  { name: 'reports' as const, lastTookMs: 45_000, isStalled: true },
  { name: 'violations' as const, lastTookMs: 45_000, isStalled: false },
];

test('the doctor reports a fault when only receivers and consoles run', async () => {
  await beat('receiver', { role: 'receiver' });
  await beat('console', { role: 'console' });
  expect(await checkWorkers(connection)).toMatchObject({ check: 'worker', state: 'fault', code: 'worker_missing' });
});

test.each(['worker', 'all'] as const)(
  'the doctor reports a fault when the only process of the role %s is silent',
  async (role) => {
    await beat('receiver', { role: 'receiver' });
    await beat('silent', { role }, SILENT_MS);
    const finding = await checkWorkers(connection);
    expect(finding).toMatchObject({ state: 'fault', code: 'worker_silent' });
    expect(finding.what).toContain('process 17 on host-of-the-tests');
  },
);

test('the doctor reports a fault when every worker is silent or stalled', async () => {
  await beat('silent', { role: 'worker' }, SILENT_MS);
  await beat('stalled', { role: 'worker', queues });
  expect(await checkWorkers(connection)).toMatchObject({ state: 'fault', code: 'worker_stalled' });
});

test('the doctor reports no fault while one of several workers makes progress', async () => {
  await beat('silent', { role: 'worker' }, SILENT_MS);
  await beat('stalled', { role: 'worker', queues });
  await beat('working', { role: 'all' });
  expect(await checkWorkers(connection)).toMatchObject({ state: 'fine', code: 'worker_runs' });
});
