import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFoundation } from '../../src/main/foundation';
import { startRole } from '../../src/main/roles';
import { loadConfig } from '../../src/platform/config/config';
import { silentLog } from '../../src/platform/log/log';

describe('in production without REDIS_URL', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towhook-production-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const production = () => loadConfig({ NODE_ENV: 'production', DATA_DIR: folder, SIMULATOR_PORT: '0' });

  test('a role that needs Redis does not start in production without REDIS_URL and starts no embedded Redis', async () => {
    await expect(openFoundation({ config: production(), log: silentLog })).rejects.toMatchObject({
      name: 'ConfigurationError',
      faults: [{ variable: 'REDIS_URL', rule: 'is required when NODE_ENV is production' }],
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('the simulator starts in production without REDIS_URL', async () => {
    const resources = await startRole('simulator', { config: production(), log: silentLog, onStall: () => {} });

    await resources.closeAll();
    expect(await readdir(folder)).toEqual([]);
  });
});
