import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFoundation } from '../../src/main/foundation';
import { systemClock } from '../../src/platform/clock';
import { loadConfig, type Config } from '../../src/platform/config/config';
import { listen } from '../../src/platform/http';
import { silentLog } from '../../src/platform/log/log';
import { createReceiver } from '../../src/receiver';
import { createAnswerTally } from '../../src/receiver/record-answer';
import { createRefusedCalls } from '../../src/receiver/refused-calls';
import { startSimulator } from '../../src/simulator';
import { createIntake } from '../../src/store/webhook/deliveries';
import { createCallCounter } from '../../src/store/person/source-limits';
import { openRecord, type RecordedCall, type RecordedWebhook, type ServiceRecord } from '../chaos/record';
import { withoutTimeouts, type TestRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';
import type { WorkerSetup } from './worker';
import { unobserved } from '../support/unobserved';

/** A database, a disk, a simulated service and a receiver. A test bed has one run after the other. */
export interface TestBed {
  readonly stores: Stores;
  readonly service: Pick<ServiceRecord, 'setFaults' | 'orderTow'>;
  /** What the service has seen since the test bed was cleared. */
  seen(): Promise<{ calls: RecordedCall[]; webhooks: RecordedWebhook[] }>;
  readonly foundation: WorkerSetup['foundation'];
  readonly dataDir: string;
  /** What a worker of this test bed needs, with these settings. */
  workerSetup(settings: TestBedSettings): WorkerSetup;
  /** Kills the server of the database, and starts it again on the same data; for test beds with a server of their own. */
  killRedis(): Promise<void>;
  startRedis(): Promise<void>;
  /** Empties the database and the disk. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export interface TestBedSettings {
  /** How long an unknown outcome waits for proof, ms. */
  readonly graceMs?: number;
  /** How long a report may keep failing before a person must decide, ms. */
  readonly giveUpAfterMs?: number;
  /** The first wait before a repeated call, ms. */
  readonly retryBaseMs?: number;
  /** Calls about tows, and violations, per minute; 0 = any number. */
  readonly callsPerMinute?: number;
}

/** Delay of an invoice webhook after the create, and of a tow request after the violation. */
const WEBHOOK_DELAY_MS = 20;
const world = unobserved();

/** Waits before the service sends a webhook again that a receiver without Redis could not take. */
const WEBHOOK_RETRIES_MS = [50, 100, 200, 400, 800, 1600, 3200];

/** `server`: the server behind `redisUrl`, when it may be killed. Without it no webhook is sent twice. */
export async function openTestBed(
  redisUrl: string,
  server: Pick<TestRedis, 'kill' | 'start'> | null = null,
): Promise<TestBed> {
  const stores = await openStores(redisUrl);
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-killsweep-'));
  const unsigned = { secrets: [], sharedSecret: null };
  const receiver = await listen(
    createReceiver({
      ...world,
      troubleLog: silentLog,
      proxyNote: (_request, _response, next) => next(),
      tally: createAnswerTally({ add: () => Promise.resolve() }),
      refusedCalls: createRefusedCalls({ keep: () => Promise.resolve() }, systemClock),
      intake: createIntake(stores.redis, { ...systemClock, monotonicMs: () => 0 }),
      verify: () => ({ tow_request: unsigned, tow_invoice: unsigned }),
      bodyLimitBytes: 100_000,
      ratePerMinute: 0,
      callCounter: createCallCounter(stores.redis),
      trustProxy: 0,
    }),
    { ready: () => Promise.resolve({ ready: true, details: {} }) },
    { host: '127.0.0.1', port: 0 },
  );
  const simulator = await startSimulator({
    ...world,
    host: '127.0.0.1',
    port: 0,
    webhookUrl: receiver.url,
    invoiceWebhookDelayMs: WEBHOOK_DELAY_MS,
    assessAfterMs: WEBHOOK_DELAY_MS,
    retryDelaysMs: server ? WEBHOOK_RETRIES_MS : [],
  });
  const config = loadConfig({
    REDIS_URL: redisUrl,
    DATA_DIR: dataDir,
    SERVICE_BASE_URL: `${simulator.url}/prefix`,
    SERVICE_CLIENT_ID: 'client-of-the-sweep',
    SERVICE_CLIENT_SECRET: 'secret-of-the-sweep',
    BUDGET_AUTH_PER_MINUTE: '0',
    BUDGET_TICKETS_PER_MINUTE: '0',
    VIOLATION_TICKET_CHECK: 'true',
  });
  const foundation = await openFoundation({ config, log: silentLog });
  withoutTimeouts(foundation.redis);
  const service = openRecord(simulator.url);
  return {
    stores,
    service,
    async seen() {
      const [calls, webhooks] = await Promise.all([service.calls(), service.webhooks()]);
      return { calls, webhooks };
    },
    foundation,
    dataDir,
    workerSetup: (settings) => ({
      foundation,
      redisUrl,
      serviceUrl: `${simulator.url}/prefix`,
      config: configWith(config, settings),
    }),
    killRedis: async () => {
      if (!server) throw new Error('this Redis is shared');
      await server.kill();
    },
    startRedis: async () => server?.start(),
    async clear() {
      // All calls of the last run were looked at. Kept, they would be read again with every look at this one.
      await service.clear();
      await stores.redis.flushdb();
      await rm(dataDir, { recursive: true, force: true });
    },
    async close() {
      await foundation.resources.closeAll();
      await Promise.all([simulator.stop(0), receiver.stop(0)]);
      stores.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function configWith(config: Config, settings: TestBedSettings): Config {
  const { graceMs = 150, giveUpAfterMs = 3_600_000, retryBaseMs = 20, callsPerMinute = 0 } = settings;
  const waits = { retryBaseMs, retryCapMs: Math.max(100, retryBaseMs), notFoundRetries: 2, notFoundRetryMs: 20 };
  return {
    ...config,
    policy: { ...config.policy, ...waits, unknownGraceMs: graceMs, giveUpAfterMs },
    violations: { ...config.violations, proofMs: graceMs },
    budgetsPerMinute: { ...config.budgetsPerMinute, tow: callsPerMinute, violations: callsPerMinute },
  };
}
