import type { ServerResponse } from 'node:http';
import { asUpload } from '../../src/client';
import { INCOMING_MAX_MS } from '../../src/spool/sweep';
import { startServer } from '../cli/fake-service';

afterEach(() => jest.useRealTimers());

test('the API client waits for an upload for as long as a console may take it', async () => {
  let arrive: (response: ServerResponse) => void = () => {};
  const arrived = new Promise<ServerResponse>((resolve) => {
    arrive = resolve;
  });
  const slow = await startServer((_request, response) => arrive(response));
  try {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'performance'] });
    const upload = asUpload().fetch(new Request(slow.url, { method: 'POST', body: 'images' }));
    const response = await arrived;
    jest.advanceTimersByTime(INCOMING_MAX_MS - 1);
    response.end('{}');

    expect((await upload).status).toBe(200);
  } finally {
    await slow.stop();
  }
});
