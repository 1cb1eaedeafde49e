import { launchChromium, type RunningChromium } from './browser/chromium';
import { startTestRedis, type TestRedis } from './redis-server';

/** What the test files of one jest worker share. Each is started by the first file that asks for it. */
export interface WorkerResources {
  redis(): Promise<TestRedis>;
  chromium(): Promise<RunningChromium>;
  stop(): Promise<void>;
}

/** Starts nothing by itself. What is started ends with this process at the latest. */
export function createWorkerResources(): WorkerResources {
  let redis: Promise<TestRedis> | undefined;
  let chromium: Promise<RunningChromium> | undefined;
  return {
    redis: () => (redis ??= startTestRedis()),
    async chromium() {
      const running = await chromium;
      // A test that kills the browser, or a crash, must not fail the files after it.
      if (running === undefined || !running.browser.isConnected()) chromium = launchChromium();
      return chromium ?? launchChromium();
    },
    async stop() {
      await (await chromium)?.close();
      await (await redis)?.stop();
    },
  };
}
