import { launchChromium, type RunningChromium } from './browser/chromium';
import { startTestRedis, type TestRedis } from './redis-server';

/** Resources that the test files of one jest worker share; each is started by the first file that needs it. */
export interface WorkerResources {
  redis(): Promise<TestRedis>;
  /** Whether this is the address of the Redis of `redis()`. Starts none. */
  hasRedisAt(url: string): Promise<boolean>;
  chromium(): Promise<RunningChromium>;
  stop(): Promise<void>;
}

/** Starts nothing by itself. What is started ends with this process at the latest. */
export function createWorkerResources(): WorkerResources {
  let redis: Promise<TestRedis> | undefined;
  let chromium: Promise<RunningChromium> | undefined;
  return {
    redis: () => (redis ??= startTestRedis()),
    hasRedisAt: async (url) => (await redis)?.url === url,
    async chromium() {
      // A browser that was killed or crashed must not fail later files.
      if (chromium === undefined || !(await chromium).browser.isConnected()) chromium = launchChromium();
      return chromium;
    },
    async stop() {
      await (await chromium)?.close();
      await (await redis)?.stop();
    },
  };
}
