import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { CONNECT_ATTEMPT_MS } from '../../src/platform/process-defaults';
import { clientWithToken, REQUESTS, useFakeService } from './client-under-test';
import type { FakeService } from './fake-service';
import { PROJECT } from '../support/project';

let fake: FakeService;
useFakeService((world) => ({ fake } = world));
afterEach(() => jest.restoreAllMocks());

test.each(['main/index.ts', 'main/towhook.ts', 'demo/index.ts'])(
  '%s gives each address of a name half a second before it connects anywhere',
  async (program) => {
    const source = await readFile(join(PROJECT, 'src', program), 'utf8');
    expect(source.split('\n')[0]).toBe("import '../platform/process-defaults';");
    expect(net.getDefaultAutoSelectFamilyAttemptTimeout()).toBe(CONNECT_ATTEMPT_MS);
  },
);

test('a call gives each address of the service a quarter of the time for a connect', async () => {
  const connect = jest.spyOn(net.Socket.prototype, 'connect');
  const client = await clientWithToken(fake.url);
  await client.call('capacity', REQUESTS.capacity);
  expect(JSON.stringify(connect.mock.calls)).toContain('"autoSelectFamilyAttemptTimeout":1250');
});
