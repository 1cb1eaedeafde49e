import { processDelivery } from '../../jobs/process-delivery';
import { sendReport } from '../../jobs/send-report';
import { deliveryJob, reportJob } from '../../src/contracts/jobs';
import { systemClock } from '../../src/platform/clock';
import { listen } from '../../src/platform/http';
import { silentLog } from '../../src/platform/log';
import { createMetrics } from '../../src/platform/metrics';
import { createReceiver } from '../../src/receiver';
import { createMemoryTokenCache, createServiceClient } from '../../src/service';
import { startSimulator } from '../../src/simulator';
import { createIntake, createSettling } from '../../src/store/deliveries';
import { createOutboxStore } from '../../src/store/outbox';
import type { Wake } from '../../src/workflow/ports';
import { openRecord, type ServiceRecord } from '../chaos/record';
import { NO_LIMITS, noBudgets } from '../support/budgets';
import { LEASE_MS, openStores, type Stores } from '../support/stores';
import type { Life } from './mortal-worker';

/** A database, a service and a receiver of its own: what one run after the other of the sweep stands on. */
export interface Lane {
  readonly stores: Stores;
  readonly service: ServiceRecord;
  readonly settings: { graceMs: number };
  /** Does what a woken worker does with a delivery; its calls are those of the given life. */
  processDelivery(id: string, life: Life): Promise<void>;
  /** Does what a woken worker does with a tow, until there is no more to do at once. */
  sendReports(ref: string, life: Life): Promise<void>;
  /** Empties the database. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** How soon the invoice webhook follows its create. */
const WEBHOOK_DELAY_MS = 20;
const POLICY = { retryBaseMs: 20, retryCapMs: 100, notFoundRetries: 2, notFoundRetryMs: 20, giveUpAfterMs: 3_600_000 };
const world = { clock: systemClock, log: silentLog };
const nobody: Wake = { delivery: () => {}, tow: () => {}, violation: () => {} };

export async function openLane(redisUrl: string): Promise<Lane> {
  const stores = await openStores(redisUrl);
  const metrics = createMetrics();
  const anybody = { secrets: [], sharedSecret: null };
  const receiver = await listen(
    createReceiver({
      ...world,
      troubleLog: silentLog,
      metrics,
      intake: createIntake(stores.redis, systemClock),
      wake: nobody,
      verify: { tow_request: anybody, tow_invoice: anybody },
      bodyLimitBytes: 100_000,
      ratePerMinute: 0,
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
    // The receiver is always there: what is not delivered at once is not meant to be.
    retryDelaysMs: [],
  });
  const service = createServiceClient({
    ...world,
    baseUrl: `${simulator.url}/prefix`,
    clientId: 'client',
    clientSecret: 'secret',
    timeoutMs: 2000,
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
    async processDelivery(id, life) {
      await processDelivery(deliveryJob.parse({ delivery_id: id }), {
        ...world,
        metrics,
        ...life.mortal('settling', settling),
        tows: life.mortal('tows', tows),
        deliveries: life.mortal('deliveries', deliveries),
        violations: life.mortal('violations', violations),
        wake: life.mortal('wake', nobody),
      });
    },
    async sendReports(ref, life) {
      const { graceMs } = settings;
      const outbox = createOutboxStore(redis, systemClock, {
        leaseMs: LEASE_MS,
        unknownGraceMs: graceMs,
        ...NO_LIMITS,
      });
      const tools = {
        ...world,
        clock: life.clock,
        metrics,
        outbox: life.mortal('outbox', outbox),
        tows: life.mortal('tows', tows),
        service: life.mortal('service', service),
        settings: { ...POLICY, unknownGraceMs: graceMs },
        claimMaxAgeMs: 5000,
      };
      const payload = reportJob.parse({ towing_reference_id: ref });
      while ((await sendReport(payload, tools)).kind === 'more');
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
