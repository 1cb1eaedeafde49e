import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import request from 'supertest';
import { startRole } from '../../src/main/roles';
import { loadConfig } from '../../src/platform/config/config';
import { silentLog } from '../../src/platform/log/log';

const hasIpv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === '::1'));
const describeWithIpv6 = hasIpv6 ? describe : describe.skip;

const stopping: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0).toReversed()) await stop();
});

/** A receiver on a free port of a host, and the paths that are posted to it. */
async function startReceiver(host: string): Promise<{ server: Server; port: number }> {
  const server = createServer((_request, response) => response.end('{}'));
  server.listen(0, host);
  await once(server, 'listening');
  stopping.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port };
}

describeWithIpv6('a simulator without SIMULATOR_WEBHOOK_URL', () => {
  test.each(['::', '::1'])(
    'a simulator without SIMULATOR_WEBHOOK_URL posts to the receiver on this machine with HOST=%s',
    async (host) => {
      const { server, port } = await startReceiver(host);
      const posted = once(server, 'request');
      const listening: Record<string, unknown>[] = [];
      const log = { ...silentLog, info: (_event: string, facts: object = {}) => listening.push({ ...facts }) };
      const config = loadConfig({ HOST: host, RECEIVER_PORT: String(port), SIMULATOR_PORT: '0', STOP_GRACE_MS: '500' });
      const simulator = await startRole('simulator', { config, log, onStall: () => {} });
      stopping.push(() => simulator.closeAll());

      await request(`http://[::1]:${String(listening[0]?.['port'])}`)
        .post('/simulator/tow-requests')
        .send({})
        .expect(201);

      expect(await posted).toMatchObject([{ url: '/tow-request' }, expect.anything()]);
    },
  );
});
