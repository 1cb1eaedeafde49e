import { Server } from 'node:http';
import { startApp } from '../support/app';
import { useRedis } from '../support/redis';

const redis = useRedis();
afterEach(() => jest.restoreAllMocks());

test.each([
  [100_000, 120_000],
  [10_000_000, 400_000],
  // 10 MiB: Node takes no part of a millisecond.
  [10_485_760, 419_431],
  // Less than the hour after which the spool takes an upload for abandoned.
  [100_000_000, 3_240_000],
])('a console that takes %i bytes of images ends a request after %i ms', async (totalBytesMax, limitMs) => {
  const listening = jest.spyOn(Server.prototype, 'listen');
  const environment = { IMAGES_TOTAL_BYTES_MAX: String(totalBytesMax) };

  const app = await startApp({ redisUrl: redis.url, role: 'console', environment });

  try {
    const servers = listening.mock.contexts.filter((server) => server instanceof Server);
    expect(servers.map(({ requestTimeout }) => requestTimeout)).toEqual([limitMs]);
  } finally {
    await app.stop();
  }
});
