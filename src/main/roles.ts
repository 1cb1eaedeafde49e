import type { BeatingRole } from '../contracts/figures';
import { requireService, type Config } from '../platform/config';
import type { Log } from '../platform/log';
import { systemClock } from '../platform/clock';
import { createResources, type Resources } from '../platform/resources';
import type * as simulatorModule from '../simulator';
import { openBeats, standingOf, type Standing } from './beats';
import type * as consoleModule from './console';
import { openFoundation, type Foundation } from './foundation';
import { healthOf, recentSpoolCheck } from './health';
import { startOps } from './ops';
import { requireWebhookProof, webhookCheck } from './webhook-proof';
import type * as workerModule from './worker';
import type * as receiverModule from './receiver';
import { workerHealth } from './supervise';

/** The roles a process can take. `all` is receiver, worker and console in one. */
export const PROCESS_ROLES = ['receiver', 'worker', 'console', 'simulator', 'all'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

export interface RoleTools {
  readonly config: Config;
  readonly log: Log;
  /** Called by the role `worker` when it stands still: whoever runs the process starts it anew. */
  readonly onStandstill: () => void;
}

/** A role loads its own modules only: a receiver needs none of the console, which is most of the memory and of the start. */
declare const require: {
  (module: './receiver'): typeof receiverModule;
  (module: './worker'): typeof workerModule;
  (module: './console'): typeof consoleModule;
  (module: '../simulator'): typeof simulatorModule;
};

/** Starts a role; the returned resources close everything it opened. */
export async function startRole(role: ProcessRole, tools: RoleTools): Promise<Resources> {
  const { config, log, onStandstill } = tools;
  switch (role) {
    case 'simulator':
      return startSimulatorRole(config, log);
    case 'receiver':
      requireWebhookProof(config);
      return withFoundation({ config, log, role }, async (foundation) => {
        const { startReceiver } = require('./receiver');
        await startReceiver(foundation);
        await startOps(foundation, healthOf(foundation, webhookCheck(config)));
        return standingOf(foundation, { hasSpool: false, worker: null });
      });
    case 'worker':
      requireService(config);
      return withFoundation({ config, log, role }, async (foundation) => {
        const { startWorker } = require('./worker');
        const worker = startWorker(foundation, onStandstill);
        await startOps(
          foundation,
          healthOf(foundation, recentSpoolCheck(foundation), () => workerHealth(worker)),
        );
        return standingOf(foundation, { hasSpool: true, worker });
      });
    case 'console':
      return withFoundation({ config, log, role }, async (foundation) => {
        const { startConsole } = require('./console');
        await startConsole(foundation);
        return standingOf(foundation, { hasSpool: true, worker: null });
      });
    case 'all':
      requireService(config);
      requireWebhookProof(config);
      return withFoundation({ config, log, role }, async (foundation) => {
        const { startReceiver } = require('./receiver');
        const { startWorker } = require('./worker');
        const { startConsole } = require('./console');
        // Receiver and console must not end with a worker that stands still.
        const worker = startWorker(foundation, 'rebuild');
        await startReceiver(foundation);
        await startConsole(foundation);
        await startOps(
          foundation,
          healthOf(foundation, recentSpoolCheck(foundation), webhookCheck(config), () => workerHealth(worker)),
        );
        return standingOf(foundation, { hasSpool: true, worker });
      });
  }
}

/** Opens the foundation, starts a role on it and its heartbeat. Closes what was opened when a later step fails. */
async function withFoundation(
  { role, ...options }: { config: Config; log: Log; role: BeatingRole },
  start: (foundation: Foundation) => Promise<Standing>,
): Promise<Resources> {
  const foundation = await openFoundation(options);
  foundation.metrics.watchProcess();
  try {
    const beats = openBeats(foundation, role);
    beats.begin(await start(foundation));
    return foundation.resources;
  } catch (error) {
    await foundation.resources.closeAll();
    throw error;
  }
}

async function startSimulatorRole(config: Config, log: Log): Promise<Resources> {
  const { clientId, clientSecret } = config.service;
  const { host, port } = config.receiver;
  const resources = createResources(log);
  const { startSimulator } = require('../simulator');
  const simulator = await startSimulator({
    ...config.simulator,
    webhookUrl: config.simulator.webhookUrl ?? `http://${host}:${port}`,
    webhookSecrets: config.webhook.secrets,
    ...(clientId !== null && clientSecret !== null ? { credentials: { clientId, clientSecret } } : {}),
    clock: systemClock,
    log,
  });
  resources.add('simulator', simulator, (opened) => opened.stop(config.stopGraceMs));
  log.info('simulator.listening', { host: simulator.host, port: simulator.port });
  return resources;
}
