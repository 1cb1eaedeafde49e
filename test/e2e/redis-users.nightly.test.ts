import { spawn } from 'node:child_process';
import { startEnvironment } from '../../src/demo/environment';
import { faultsFor } from '../../src/demo/plan';
import { playTows } from '../../src/demo/play';
import { RESTRICTED, startTestRedis } from '../support/redis-server';
import { PROJECT } from '../support/project';

jest.setTimeout(300_000);

test('the whole demo runs as the user of deploy/redis/users.acl, and Redis denies it nothing', async () => {
  process.env[RESTRICTED] = 'true';
  const redis = await startTestRedis();
  delete process.env[RESTRICTED];
  expect(new URL(redis.url).username).toBe('towhook');

  const environment = await startEnvironment({ REDIS_URL: redis.url });
  const played = await playTows(environment, {
    tows: 12,
    violations: 4,
    paceMs: 100,
    faults: faultsFor(12),
    timeLimitMs: 200_000,
  });
  await environment.resources.closeAll();

  expect(played.finished).toBe(12);
  expect(played.findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0 });
  // Rejects with the commands that were denied.
  await redis.stop();
});

test('the tests of whole processes pass as that user, and Redis denies it nothing', async () => {
  const words = ['node_modules/jest/bin/jest.js', '--runInBand', 'test/e2e', 'test/operator/queues'];
  const child = spawn(process.execPath, words, { cwd: PROJECT, env: { ...process.env, [RESTRICTED]: 'true' } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exitCode = await new Promise((resolve) => child.once('exit', resolve));
  expect({ exitCode, output: exitCode === 0 ? '' : output.slice(-5000) }).toEqual({ exitCode: 0, output: '' });
});
