import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../platform/clock';
import { loadConfig, machineEnvironment } from '../../platform/config';
import type { Resources } from '../../platform/resources';
import { startSimulator } from '../../simulator';
import { startConsole } from '../console';
import { openBeats, standingOf } from '../beats';
import { openFoundation, openLog, type Foundation } from '../foundation';
import { startReceiver } from '../receiver';
import { startWorker } from '../worker';

/** Everything the demo runs on: an embedded Redis in a folder of its own, the simulator, and all roles of towhook. */
export interface Stage {
  readonly receiverUrl: string;
  readonly consoleUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
  readonly logFile: string;
  readonly foundation: Foundation;
  readonly resources: Resources;
}

/** Sets the stage on free ports of this machine; closing its resources leaves nothing behind. */
export async function setStage(): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-demo-'));
  const apiKey = `demo-${systemClock.id()}`;
  const credentials = { clientId: 'demo-client', clientSecret: systemClock.id() };
  const logFile = join(dataDir, 'towhook.log');
  let receiverUrl = '';
  const settings = (serviceUrl: string) =>
    loadConfig({
      ...machineEnvironment(),
      SERVICE_BASE_URL: `${serviceUrl}/parking/api`,
      SERVICE_CLIENT_ID: credentials.clientId,
      SERVICE_CLIENT_SECRET: credentials.clientSecret,
      DATA_DIR: dataDir,
      RECEIVER_PORT: '0',
      CONSOLE_PORT: '0',
      BOOTSTRAP_API_KEY: apiKey,
      CONSOLE_OPEN_PATHS: 'metrics,docs',
    });
  const log = openLog(settings('http://127.0.0.1'), logFile);
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    webhookUrl: () => receiverUrl,
    credentials,
    clock: systemClock,
    log,
  });
  const foundation = await openFoundation({ config: settings(simulator.url), log });
  const { resources } = foundation;
  const beats = openBeats(foundation, 'all');
  const worker = startWorker(foundation);
  const receiver = await startReceiver(foundation);
  const operator = await startConsole(foundation);
  receiverUrl = receiver.url;
  beats.begin(standingOf(foundation, { hasSpool: true, worker }));
  return {
    receiverUrl,
    consoleUrl: operator.url,
    simulatorUrl: simulator.url,
    apiKey,
    logFile,
    foundation,
    resources: {
      ...resources,
      async closeAll() {
        await simulator.stop(1000);
        await resources.closeAll();
        await rm(dataDir, { recursive: true, force: true });
      },
    },
  };
}
