import { createClient } from '../../src/client';
import { ROUTES } from '../../src/contracts/operator-routes';
import { INCOMING_MAX_MS } from '../../src/spool/sweep';
import { startServer } from '../cli/fake-service';

afterEach(() => jest.restoreAllMocks());

test('the API client waits for an upload for as long as a console may take it', async () => {
  const other = await startServer((_request, response) => response.end('{}'));
  // Fake timers would also be those of Node's fetch, which has shorter limits of its own.
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const longestWait = async (call: Promise<unknown>) => {
    await expect(call).rejects.toThrow('does not match');
    return Math.max(...timers.mock.calls.splice(0).map(([, ms = 0]) => ms));
  };
  try {
    const client = createClient({ baseUrl: other.url, apiKey: 'a-key', timeoutMs: 400_000 });
    const body = { images: [new Blob(['image'])] };
    expect(await longestWait(client.call(ROUTES.listQueues))).toBe(400_000);
    expect(
      await longestWait(client.call(ROUTES.addPhotos, { params: { towing_reference_id: 'TW-1' }, body })),
    ).toBeGreaterThanOrEqual(INCOMING_MAX_MS);
  } finally {
    await other.stop();
  }
});
