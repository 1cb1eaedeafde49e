import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../platform/clock';
import { loadConfig, machineEnvironment } from '../platform/config/config';
import type { Resources } from '../platform/resources';
import { startSimulator } from '../simulator';
import { openFoundation, openLog, type Foundation } from '../main/foundation';
import { startParts } from '../main/roles';

/** The environment of the demo: an embedded Redis in a temporary folder, the simulator, and all roles of towhook. */
export interface DemoEnvironment {
  readonly receiverUrl: string;
  readonly consoleUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
  readonly logFile: string;
  readonly foundation: Foundation;
  readonly resources: Resources;
}

/**
 * Starts everything on free ports of this machine. Closing its resources leaves nothing behind. With `redis`, variables
 * REDIS_*, the demo plays on that Redis, which must be empty.
 */
export async function startEnvironment(redis: Readonly<Record<string, string>> = {}): Promise<DemoEnvironment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-demo-'));
  const apiKey = `demo-${systemClock.id()}`;
  const credentials = { clientId: 'demo-client', clientSecret: systemClock.id() };
  const logFile = join(dataDir, 'towhook.log');
  let receiverUrl = '';
  const settings = (serviceUrl: string) =>
    loadConfig({
      ...machineEnvironment(),
      ...redis,
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
  const parts = await startParts(foundation, 'all');
  receiverUrl = parts.receiver?.url ?? '';
  return {
    receiverUrl,
    consoleUrl: parts.console?.url ?? '',
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
