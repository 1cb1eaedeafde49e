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

const redis = useRedis();

test('nothing rests on the deduplication of jobs: with it off every tow still finishes, in order', async () => {
  let receiverUrl = '';
  const town = await buildTown(redis.url, { webhookUrl: () => receiverUrl });
  const config = loadConfig({ ...town.environment, RECEIVER_PORT: '0', CONSOLE_PORT: '0' });
  const foundation = await openFoundation({ config, log: silentLog, deduplicate: false });
  startWorker(foundation);
  receiverUrl = (await startReceiver(foundation)).url;
  const { url: consoleUrl } = await startConsole(foundation);

  const { findings, finished } = await playTows(
    { consoleUrl, simulatorUrl: town.simulator.url, apiKey: API_KEY },
    { tows: 60, faults: faultsFor(60), paceMs: 5, timeLimitMs: 60_000 },
  );

  await foundation.resources.closeAll();
  expect(finished).toBe(60);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
});
