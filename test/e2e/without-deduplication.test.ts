import { playTows } from '../../src/main/demo/play';
import { faultsFor } from '../../src/main/demo/plan';
import { startConsole } from '../../src/main/console';
import { openFoundation } from '../../src/main/foundation';
import { startReceiver } from '../../src/main/receiver';
import { startWorker } from '../../src/main/worker';
import { loadConfig } from '../../src/platform/config';
import { silentLog } from '../../src/platform/log';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';

jest.setTimeout(240_000);
const redis = useRedis();

test('every tow finishes in order and without a second invoice when jobs are not deduplicated', async () => {
  let receiverUrl = '';
  const town = await buildTown(redis.url, { webhookUrl: () => receiverUrl });
  const config = loadConfig({ ...town.environment, RECEIVER_PORT: '0', CONSOLE_PORT: '0', RETRY_BASE_MS: '100' });
  const foundation = await openFoundation({ config, log: silentLog, deduplicate: false });
  startWorker(foundation);
  receiverUrl = (await startReceiver(foundation)).url;
  const { url: consoleUrl } = await startConsole(foundation);

  const { findings, finished } = await playTows(
    { consoleUrl, simulatorUrl: town.simulator.url, apiKey: API_KEY },
    { tows: 24, faults: faultsFor(24), paceMs: 5, timeLimitMs: 240_000 },
  );

  await foundation.resources.closeAll();
  expect(finished).toBe(24);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
});
