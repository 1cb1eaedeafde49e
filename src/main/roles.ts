import type { HeartbeatRole, ProcessDocument } from '../contracts/ops/metrics';
import { systemClock } from '../platform/clock';
import {
  ConfigurationError,
  localAddress,
  requireService,
  serviceAccess,
  type Config,
} from '../platform/config/config';
import type { Listener, ReadinessCheck } from '../platform/http';
import { errorMessage } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { describeProcess } from '../platform/process';
import { createResources, type Resources } from '../platform/resources';
import { workerCheck } from '../queue/supervise';
import { requireVerification } from '../receiver/secrets';
import { accessDigests } from '../service/addresses';
import type * as simulatorModule from '../simulator';
import { createProcessStore } from '../store/ops/processes';
import { knownSchema } from '../store/ops/schema';
import { createSendingStore } from '../store/service/sending';
import { createTaskStore } from '../store/ops/tasks';
import { createHeartbeatSender, sampleGauges, type HeartbeatSender } from '../workflow/ops/heartbeat';
import type * as consoleModule from './console';
import { dataKeysCheck, missingDataKeys } from './data-keys';
import { openFoundation, type Foundation } from './foundation';
import { watchIdentity } from './gauges';
import {
  clockCheck,
  healthOf,
  noticesCheck,
  recentSpoolCheck,
  redisCheck,
  spoolCheck,
  startOps,
  webhookCheck,
} from './health';
import { modeCheck } from './mode';
import { startNotifications } from './notifications';
import type * as receiverModule from './receiver';
import type * as workerModule from './worker';

/** The roles of a process. `all` is receiver, worker and console in one. */
export const PROCESS_ROLES = ['receiver', 'worker', 'console', 'simulator', 'all'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

/** Each role loads only its own modules: those of the console take most of the memory and of the start. */
declare const require: {
  (module: './receiver'): typeof receiverModule;
  (module: './worker'): typeof workerModule;
  (module: './console'): typeof consoleModule;
  (module: '../simulator'): typeof simulatorModule;
};

export interface RoleTools {
  readonly config: Config;
  readonly log: Log;
  /** Called when the worker stalls, in the role `all` when it was rebuilt in vain; the caller ends the process. */
  readonly onStall: () => void;
}

/**
 * Starts a role; the returned resources close everything that it opened.
 *
 * @throws ConfigurationError when the role lacks a setting.
 */
export async function startRole(role: ProcessRole, { config, log, onStall }: RoleTools): Promise<Resources> {
  if (role === 'simulator') return startSimulatorRole(config, log);
  if (role === 'worker' || role === 'all') requireService(config);
  if (role === 'receiver' || role === 'all') requireVerification(config);
  const foundation = await openFoundation({ config, log });
  foundation.metrics.watchProcess();
  try {
    await startParts(foundation, role, onStall);
    return foundation.resources;
  } catch (error) {
    await foundation.resources.closeAll();
    throw error;
  }
}

/** The listeners of a role, and its heartbeat. */
export interface RoleParts {
  readonly receiver: Listener | null;
  readonly console: Listener | null;
  /** The private listener of receiver and worker. */
  readonly ops: Listener | null;
  readonly heartbeat: HeartbeatSender;
}

/** Starts the parts of a role on an open foundation. A failure leaves the foundation to the caller. */
export async function startParts(
  foundation: Foundation,
  role: HeartbeatRole,
  onStall = (): void => {},
): Promise<RoleParts> {
  // Opened first, so that it is closed last and stores what the other parts counted until their end.
  const heartbeat = openHeartbeat(foundation, role);
  watchIdentity(foundation, role);
  const has = (part: HeartbeatRole) => role === part || role === 'all';
  // Loaded before any part starts: a command to Redis that is under way while modules are loaded would time out.
  const parts = {
    worker: has('worker') ? require('./worker') : null,
    receiver: has('receiver') ? require('./receiver') : null,
    console: has('console') ? require('./console') : null,
  };
  const worker =
    parts.worker?.startWorker(foundation, heartbeat.firstStored, { rebuildsOnce: role === 'all', onStall }) ?? null;
  const receiver = (await parts.receiver?.startReceiver(foundation)) ?? null;
  const listener = (await parts.console?.startConsole(foundation)) ?? null;
  // Not in a receiver: it faces the internet, and should know no password.
  if (worker || listener) startNotifications(foundation);
  const checks: ReadinessCheck[] = [
    modeCheck(foundation),
    dataKeysCheck(foundation),
    noticesCheck(foundation),
    clockCheck(heartbeat),
  ];
  if (worker) checks.push(recentSpoolCheck(foundation), workerCheck(worker));
  if (receiver) checks.push(webhookCheck(foundation));
  const ops = worker || receiver ? await startOps(foundation, healthOf(foundation, ...checks)) : null;
  const listeners = [receiver, listener, ops];
  heartbeat.start({
    checks: {
      connections: async () => ({ ready: !listeners.some((each) => each?.isCrowded()), details: {} }),
      redis: redisCheck(foundation),
      ...(worker || listener ? { spool: spoolCheck(foundation) } : {}),
      ...(worker ? { worker: workerCheck(worker) } : {}),
    },
    missingDataKeys: () => missingDataKeys(foundation),
    queues: () => worker?.queues() ?? [],
  });
  return { receiver, console: listener, ops, heartbeat };
}

function openHeartbeat(
  { config, clock, redis, resources, counters, heartbeatGaps, backlogOf, troubleLog }: Foundation,
  role: HeartbeatRole,
) {
  const tasks = createTaskStore(redis);
  const sending = createSendingStore(redis, config.budgetsPerMinute);
  const heartbeat = createHeartbeatSender({
    store: createProcessStore(redis),
    process: {
      role,
      mode: config.service.mode,
      service: calledService(config, role),
      schema: knownSchema(),
      ...describeProcess(),
    },
    counters,
    gaps: heartbeatGaps,
    sample: () => sampleGauges({ counters, tasks, sending, backlogOf }),
    clock,
    log: troubleLog,
  });
  return resources.add('heartbeat', heartbeat, (opened) => opened.stop());
}

/** The service that a role calls; null for a receiver, which calls none, and for a console without access. */
function calledService(config: Config, role: HeartbeatRole): ProcessDocument['service'] {
  const access = role === 'receiver' ? null : serviceAccess(config);
  return access && accessDigests(access);
}

async function startSimulatorRole(config: Config, log: Log): Promise<Resources> {
  const { clientId, clientSecret } = config.service;
  const { host, port } = config.receiver;
  const resources = createResources(log);
  const { readProfile, startSimulator } = require('../simulator');
  const profile = await readProfile(config.simulator.profile).catch((error: unknown) => {
    throw new ConfigurationError([{ variable: 'SIMULATOR_PROFILE', rule: errorMessage(error) }]);
  });
  const simulator = await startSimulator({
    ...config.simulator,
    profile,
    webhookUrl: config.simulator.webhookUrl ?? localAddress(host, port),
    webhookSecrets: config.webhook.secrets,
    ...(clientId !== null && clientSecret !== null ? { credentials: { clientId, clientSecret } } : {}),
    clock: systemClock,
    log,
  });
  resources.add('simulator', simulator, (opened) => opened.stop(config.stopGraceMs));
  log.info('simulator.listening', { host: simulator.host, port: simulator.port });
  return resources;
}
