import { createServer } from 'node:net';
import { startProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

/** What a receiver prints that ends before it has started, with its exit code. */
async function endedStart(environment: Readonly<Record<string, string>>): Promise<[number | 'started', string]> {
  const role = await startProcess('receiver', { REDIS_URL: redis.url, ...environment });
  const end = await Promise.race([role.exited, role.logged('process.started').then(() => 'started' as const)]);
  return [end ?? 'started', role.problems()];
}

// 192.0.2.0/24 is for documentation: no machine has an address of it.
test.each(['no host.invalid', '192.0.2.1'])(
  'a role that cannot listen on the host "%s" names the variables',
  async (host) => {
    const [exitCode, problems] = await endedStart({ RECEIVER_HOST: host });

    expect(exitCode).toBe(1);
    expect(problems).toContain('set HOST, RECEIVER_HOST or CONSOLE_HOST');
  },
);

test('a role whose port is taken names the variables of the ports', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');

  const [exitCode, problems] = await endedStart({ RECEIVER_PORT: String(address.port) });
  await new Promise((resolve) => other.close(resolve));

  expect(exitCode).toBe(1);
  expect(problems).toContain('set RECEIVER_PORT, CONSOLE_PORT, SIMULATOR_PORT or OPS_PORT');
});
