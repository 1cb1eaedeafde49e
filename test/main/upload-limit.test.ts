import { Server } from 'node:http';
import { startApp } from '../support/app';
import { useRedis } from '../support/redis';

const redis = useRedis();
afterEach(() => jest.restoreAllMocks());

test.each([
  ['of a small limit for images', 100_000, 120_000],
  ['of the default', 10_000_000, 400_000],
  // Less than the hour after which the spool takes an upload for abandoned.
  ['of the largest limit for images', 100_000_000, 3_240_000],
])('a console gives an upload the time %s at 25 kB/s', async (_what, totalBytesMax, limitMs) => {
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
