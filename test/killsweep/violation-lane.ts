import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { createSpool } from '../../src/spool';
import { createIntake, createSettling } from '../../src/store/deliveries';
import type { TicketCheck } from '../../src/workflow/lookups';
import type { SpoolPlace } from '../../src/workflow/spool-port';
import type { Wake } from '../../src/workflow/ports';
import { openRecord, type ServiceRecord } from '../chaos/record';
import { noBudgets } from '../support/budgets';
import { LEASE_MS, openStores, type Stores } from '../support/stores';
import { openOutbox } from '../support/violations';
import type { InterruptibleWorker } from './interruptible-worker';

/** A database, a disk, a simulated service and a receiver, for one violation at a time. */
export interface ViolationLane {
  readonly stores: Stores;
  readonly service: ServiceRecord;
  readonly settings: { proofMs: number; hasActiveTicket: boolean };
  readonly place: SpoolPlace;
  /** Puts an image into the spool; returns its name there. */
  keepImage(): Promise<{ file: string; sizeBytes: number; sha256: string }>;
  hasImage(file: string): Promise<boolean>;
  processDelivery(id: string): Promise<void>;
  /** Submits a violation with the calls of the given worker, until no step can be taken at once. */
  submit(id: string, worker: InterruptibleWorker): Promise<void>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** The one violation of a lane. */
export const VIOLATION_ID = 'U1';
/** Delay of the tow request after the violation. */
const ASSESS_AFTER_MS = 20;
const POLICY = { retryBaseMs: 20, retryCapMs: 100, notFoundRetries: 2, notFoundRetryMs: 20, unknownGraceMs: 20 };
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const world = { clock: systemClock, log: silentLog };
const noWake: Wake = { delivery: () => {}, tow: () => {}, violation: () => {} };

export async function openViolationLane(redisUrl: string): Promise<ViolationLane> {
  const stores = await openStores(redisUrl);
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-violations-'));
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
    assessAfterMs: ASSESS_AFTER_MS,
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
  // There is only one disk.
  const marker = {
    read: () => Promise.resolve(null),
    claim: (id: string) => Promise.resolve(id),
    alarmMs: () => Promise.resolve(null),
  };
  const spool = createSpool({ dataDir, marker, keepMs: 0, ...world });
  const settings = { proofMs: 0, hasActiveTicket: false };
  const tickets: TicketCheck = {
    checkTicket: () => Promise.resolve({ kind: 'answered', hasActiveTicket: settings.hasActiveTicket }),
  };
  const settling = createSettling(stores.redis, { baseMs: 20, capMs: 100 });
  const { tows, deliveries, violations, redis } = stores;
  const place: SpoolPlace = { kind: 'violation', id: VIOLATION_ID };
  return {
    stores,
    service: openRecord(simulator.url),
    settings,
    place,
    async keepImage() {
      const upload = await spool.begin();
      const kept = await upload.write(
        (async function* () {
          yield await Promise.resolve(PIXEL);
        })(),
      );
      await upload.keep(place);
      return kept;
    },
    hasImage: async (file) => (await spool.pathOf(place, { file, sizeBytes: PIXEL.length })) !== null,
    async processDelivery(id) {
      const tools = { ...world, metrics, ...settling, tows, deliveries, violations, wake: noWake };
      await processDeliveries(deliveryJob.parse({ delivery_ids: [id] }), tools);
    },
    async submit(id, worker) {
      const { proofMs } = settings;
      const outbox = openOutbox(stores, { leaseMs: LEASE_MS, proofMs, checksTicket: true });
      const tools = {
        ...world,
        clock: worker.clock,
        metrics,
        outbox: worker.wrap('outbox', outbox),
        tows: worker.wrap('tows', tows),
        violations: worker.wrap('violations', violations),
        service: worker.wrap('service', service),
        spool: worker.wrap('spool', spool),
        tickets: worker.wrap('tickets', tickets),
        settings: POLICY,
        proofMs,
        claimMaxAgeMs: 600_000,
      };
      while ((await sendEntry(CALLS.violation, id, tools)).kind === 'more');
    },
    clear: async () => {
      await redis.flushdb();
      await spool.drop(place);
    },
    async close() {
      service.close();
      await Promise.all([simulator.stop(0), receiver.stop(0)]);
      stores.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
