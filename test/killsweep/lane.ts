import { processDeliveries } from '../../jobs/process-delivery';
import { CALLS, sendEntry } from '../../jobs/send-entry';
import { deliveryJob } from '../../src/contracts/jobs';
import { systemClock } from '../../src/platform/clock';
import { listen } from '../../src/platform/http';
import { silentLog } from '../../src/platform/log';
import { createMetrics } from '../../src/platform/metrics';
import { createReceiver } from '../../src/receiver';
import { createMemoryTokenCache, createServiceClient } from '../../src/service';
import { startSimulator } from '../../src/simulator';
import { createIntake, createSettling } from '../../src/store/deliveries';
import { createTowOutbox } from '../../src/store/outbox';
import type { Wake } from '../../src/workflow/ports';
import { openRecord, type ServiceRecord } from '../chaos/record';
import { NO_LIMITS, noBudgets } from '../support/budgets';
import { LEASE_MS, openStores, type Stores } from '../support/stores';
import type { InterruptibleWorker } from './interruptible-worker';

/** A database, a simulated service and a receiver. A lane plays one run after the other. */
export interface Lane {
  readonly stores: Stores;
  readonly service: ServiceRecord;
  readonly settings: { graceMs: number };
  /** Processes a delivery with the calls of the given worker. */
  processDelivery(id: string, worker: InterruptibleWorker): Promise<void>;
  /** Sends reports of a tow with the calls of the given worker, until none can be sent at once. */
  sendReports(ref: string, worker: InterruptibleWorker): Promise<void>;
  /** Empties the database. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Delay of the invoice webhook after the create. */
const WEBHOOK_DELAY_MS = 20;
const POLICY = { retryBaseMs: 20, retryCapMs: 100, notFoundRetries: 2, notFoundRetryMs: 20, giveUpAfterMs: 3_600_000 };
const world = { clock: systemClock, log: silentLog };
const noWake: Wake = { delivery: () => {}, tow: () => {}, violation: () => {} };

export async function openLane(redisUrl: string): Promise<Lane> {
  const stores = await openStores(redisUrl);
  const metrics = createMetrics();
  const unsigned = { secrets: [], sharedSecret: null };
  const receiver = await listen(
    createReceiver({
      ...world,
      troubleLog: silentLog,
      metrics,
      intake: createIntake(stores.redis, systemClock),
      verify: { tow_request: unsigned, tow_invoice: unsigned },
      bodyLimitBytes: 100_000,
      ratePerMinute: 0,
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
    // The receiver is always reachable: an undelivered webhook is one that a fault dropped.
    retryDelaysMs: [],
  });
  const service = createServiceClient({
    ...world,
    baseUrl: `${simulator.url}/prefix`,
    clientId: 'client',
    clientSecret: 'secret',
    // No fault of a scenario hangs: the time limit must never expire, however busy the machine is.
    timeoutMs: 60_000,
    tokens: createMemoryTokenCache(systemClock),
    budgets: noBudgets,
  });
  const settings = { graceMs: 0 };
  const settling = createSettling(stores.redis, { baseMs: 20, capMs: 100 });
  const { redis, tows, deliveries, violations } = stores;
  return {
    stores,
    service: openRecord(simulator.url),
    settings,
    async processDelivery(id, worker) {
      await processDeliveries(deliveryJob.parse({ delivery_ids: [id] }), {
        ...world,
        metrics,
        ...worker.wrap('settling', settling),
        tows: worker.wrap('tows', tows),
        deliveries: worker.wrap('deliveries', deliveries),
        violations: worker.wrap('violations', violations),
        wake: worker.wrap('wake', noWake),
      });
    },
    async sendReports(ref, worker) {
      const { graceMs } = settings;
      const outbox = createTowOutbox(redis, systemClock, {
        leaseMs: LEASE_MS,
        unknownGraceMs: graceMs,
        ...NO_LIMITS,
      });
      const tools = {
        ...world,
        clock: worker.clock,
        metrics,
        outbox: worker.wrap('outbox', outbox),
        service: worker.wrap('service', service),
        settings: { ...POLICY, unknownGraceMs: graceMs },
        claimMaxAgeMs: 600_000,
      };
      while ((await sendEntry(CALLS.tow, ref, tools)).kind === 'more');
    },
    clear: async () => {
      await redis.flushdb();
    },
    async close() {
      service.close();
      await Promise.all([simulator.stop(0), receiver.stop(0)]);
      stores.close();
    },
  };
}
