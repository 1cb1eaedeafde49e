import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEAD_ADDRESS, startService } from '../cli/fake-service';
import { startProcess } from '../support/process';

const DEAD_REDIS = DEAD_ADDRESS.replace('http:', 'redis:');

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-stop-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Loaded before the program: each listener takes a second to open, so that a signal arrives during the start. */
const SLOW_LISTENERS = `
const { Server } = require('node:net');
const { listen } = Server.prototype;
Server.prototype.listen = function (...words) {
  setTimeout(() => listen.apply(this, words), 1000);
  return this;
};
`;

test('a SIGTERM after the worker has started and before the start has ended closes everything in order', async () => {
  const preloaded = join(folder, 'slow-listeners.cjs');
  await writeFile(preloaded, SLOW_LISTENERS);
  const server = process.env['REDIS_SERVER_BIN'];
  const started = await startProcess('all', {
    ...(server === undefined ? {} : { REDIS_SERVER_BIN: server }),
    NODE_OPTIONS: `--require ${preloaded}`,
    SERVICE_BASE_URL: DEAD_ADDRESS,
    SERVICE_CLIENT_ID: 'client',
    SERVICE_CLIENT_SECRET: 'secret',
  });
  await started.logged('worker.started');
  started.kill('SIGTERM');

  expect(await started.exited).toBe(0);
  // The embedded Redis is opened first, so it is closed last.
  const steps = ['process.stopping', 'process.started', 'embedded_redis.stopped', 'process.stopped'];
  expect(started.log.map(({ message }) => message).filter((message) => steps.includes(String(message)))).toEqual(steps);
});

test('a second SIGTERM during the start ends the process at once with exit code 1', async () => {
  const preloaded = join(folder, 'hanging-listeners.cjs');
  await writeFile(preloaded, SLOW_LISTENERS.replace('1000', '60_000'));
  const started = await startProcess('receiver', {
    REDIS_URL: DEAD_REDIS,
    NODE_OPTIONS: `--require ${preloaded}`,
  });
  await started.logged('redis.unreachable');
  started.kill('SIGTERM');
  await started.logged('process.stopping');
  await new Promise((resolve) => setTimeout(resolve, 1100));
  started.kill('SIGTERM');

  expect(await started.exited).toBe(1);
  expect(started.log).not.toContainEqual(expect.objectContaining({ message: 'process.stopped' }));
});

test('a SIGTERM during a start that fails leaves the exit code to the failure', async () => {
  const other = await startService();
  try {
    const { port } = new URL(other.url);
    const started = await startProcess('receiver', { REDIS_URL: DEAD_REDIS, RECEIVER_PORT: port });
    await started.logged('process.starting');
    started.kill('SIGTERM');

    expect(await started.exited).toBe(1);
    expect(started.problems()).toContain('EADDRINUSE');
  } finally {
    await other.stop();
  }
});
