import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../src/main/foundation';
import { loadConfig } from '../../src/platform/config/config';
import { startApp, type App, type AppOptions } from './app';
import { eventually } from './eventually';

const LAST = 'test.finished';

/**
 * Starts a process that logs at the lowest level, runs `doing` and stops it. Returns every line of its log. `doing` is also
 * given a function that reads the lines so far: the line of a streamed response may follow the response, and is not
 * written at all when the process stops in between.
 */
export async function linesOf(
  options: AppOptions,
  doing: (app: App, linesSoFar: () => Promise<string[]>) => Promise<unknown>,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-log-'));
  const file = join(folder, 'towhook.log');
  const log = openLog(loadConfig({ REDIS_URL: options.redisUrl, LOG_LEVEL: 'silly' }), file);
  const app = await startApp({ ...options, log });
  const linesSoFar = async () => (await readFile(file, 'utf8')).trim().split('\n');
  try {
    try {
      await doing(app, linesSoFar);
    } finally {
      await app.stop();
    }
    // Lines are written in order: when this one is in the file, all others are.
    log.info(LAST);
    return await eventually(async () => {
      const lines = await linesSoFar();
      if (!lines.at(-1)?.includes(LAST)) throw new Error('the log is not written to its end');
      return lines;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
