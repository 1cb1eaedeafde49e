import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startArchiver } from '../../src/archive/archiver';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createMetrics } from '../../src/platform/metrics';
import { createLocks } from '../../src/store/locks';
import { createCanceledTow, useRetention, type Retention } from '../support/retention';
import type { Stores } from '../support/stores';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
});

test('a failing archive is logged even if its task cannot be opened', async () => {
  const logged: string[] = [];
  const log = {
    ...silentLog,
    error: (event: string) => logged.push(event),
    warn: (event: string) => logged.push(event),
  };
  await createCanceledTow(stores, 'T1');
  const blocked = join(dataDir.path, 'a-file');
  await writeFile(blocked, '');

  // The first run begins at once, and `stop` waits for its end.
  await startArchiver({
    ...retention.tools,
    locks: createLocks(stores.redis, systemClock),
    task: { open: () => Promise.reject(new Error('OOM played by a test')), close: () => Promise.resolve() },
    dataDir: blocked,
    keys: null,
    clock: systemClock,
    log,
    metrics: createMetrics(),
  }).stop();

  expect(logged).toEqual(['archive.failed', 'retention.failed']);
});
