import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../src/main/foundation';
import { loadConfig } from '../../src/platform/config';
import { startApp, type App, type AppOptions } from './app';
import { eventually } from './eventually';

const LAST = 'test.finished';

/**
 * Every line that a process writes to its log at the most talkative level, from its start to its end after what is done
 * with it.
 */
export async function linesOf(options: AppOptions, doing: (app: App) => Promise<unknown>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-log-'));
  const file = join(folder, 'towhook.log');
  const log = openLog(loadConfig({ REDIS_URL: options.redisUrl, LOG_LEVEL: 'silly' }), file);
  const app = await startApp({ ...options, log });
  try {
    // A request may be answered before its line is written; once the process has stopped, all are.
    try {
      await doing(app);
    } finally {
      await app.stop();
    }
    // Lines are written in order: what stands before this one is all there once it is.
    log.info(LAST);
    return await eventually(async () => {
      const lines = (await readFile(file, 'utf8')).trim().split('\n');
      if (!lines.at(-1)?.includes(LAST)) throw new Error('the log is not written to its end');
      return lines;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
