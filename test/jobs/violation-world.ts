import { CALLS, runOutbox, type RunOutboxTools } from '../../jobs/run-outbox';
import type { ViolationCallTools } from '../../jobs/violation-calls';
import type { StoredViolation } from '../../src/domain/outbox/outbox-record';
import { systemClock } from '../../src/platform/clock';
import { createMemoryTokenCache, createServiceClient } from '../../src/service';
import { createSpool } from '../../src/spool';
import { createBudgets } from '../../src/store/service/budgets';
import { createLookupCache } from '../../src/store/service/lookups';
import { KEYS } from '../../src/store/keys';
import type { ClaimSettings } from '../../src/store/outbox/claims';
import { createLookups } from '../../src/workflow/service/lookups';
import type { SpoolPlace } from '../../src/workflow/ops/spool-port';
import { enveloped, startFakeService } from '../service/fake-service';
import { KEEP_MS, newFolder, pieces, sharedMarker } from '../spool/world';
import { PNG } from '../support/images';
import { openStores, type Stores } from '../support/stores';
import { openOutbox, readViolation, report, violationOf } from '../support/violations';
import { changeEntry } from '../support/stored-records';
import { stoppedAfter } from './run-steps';
import { unobserved } from '../support/unobserved';

/** A worker with its own database, disk and service. */

const POLICY = { retryBaseMs: 1000, retryCapMs: 300_000, notFoundRetries: 2, notFoundRetryMs: 20, unknownGraceMs: 20 };
const NO_BUDGETS = { auth: 0, site: 0, violations: 0, tickets: 0, tow: 0 };
export const TAKEN = enveloped({ violation_reference_id: 'V-1', status: 'PENDING', metadata: { id: 'own-U1' } });

type Tools = ViolationCallTools & RunOutboxTools<StoredViolation>;

export interface ViolationWorker {
  readonly stores: Stores;
  readonly fake: Awaited<ReturnType<typeof startFakeService>>;
  /** The shared disk and its path. */
  readonly spool: Tools['spool'];
  readonly dataDir: string;
  /** Runs the worker for a violation, with other tools if given. */
  wake(id?: string, also?: Partial<Tools>, isStopping?: () => boolean): Promise<string>;
  /** Makes everything due that waits. */
  makeDue(id?: string): Promise<void>;
  read(id?: string): ReturnType<typeof readViolation>;
  tasks(): Promise<string[]>;
  /** A spool on another disk than the shared one. */
  foreignSpool(): Promise<Tools['spool']>;
  /** Reports a violation with one image. Returns the path of the image. */
  reportWithImage(id?: string, also?: Parameters<typeof violationOf>[1]): Promise<string>;
  stop(): Promise<void>;
}

export async function startWorkerFor(
  redisUrl: string,
  settings: Partial<ClaimSettings> = {},
): Promise<ViolationWorker> {
  const [stores, fake, dataDir, marker] = [
    await openStores(redisUrl),
    await startFakeService(),
    await newFolder(),
    sharedMarker(),
  ];
  fake.onCall(() => TAKEN);
  const world = unobserved();
  const keepMs = KEEP_MS;
  const service = createServiceClient({
    ...world,
    baseUrl: fake.url,
    clientId: 'client',
    clientSecret: 'secret',
    timeoutMs: 3000,
    tokens: createMemoryTokenCache(systemClock),
    budgets: createBudgets(stores.redis, { ...NO_BUDGETS, violations: settings.rateLimit?.limit ?? 0 }),
  });
  const spool = createSpool({ dataDir, marker, keepMs, ...world });
  await spool.state();
  const cache = createLookupCache(stores.redis, { ...world, keptMs: 0 });
  const tools: Tools = {
    ...world,
    outbox: openOutbox(stores, { leaseMs: 60_000, graceMs: 60_000, ...settings }),
    tows: stores.tows,
    records: stores.records,
    service,
    spool,
    tickets: createLookups({ service, cache, clock: systemClock }),
    settings: POLICY,
    claimMaxAgeMs: 30_000,
  };
  return {
    stores,
    fake,
    spool,
    dataDir,
    async wake(id = 'U1', also = {}, isStopping = stoppedAfter(1)) {
      const outcome = await runOutbox(CALLS.violation, id, { ...tools, ...also }, isStopping);
      return outcome.what;
    },
    async makeDue(id = 'U1') {
      await changeEntry(stores.redis, { violationId: id }, 1, { nextAtMs: 1 });
    },
    read: (id = 'U1') => readViolation(stores, id),
    tasks: async () =>
      (await stores.redis.hvals(KEYS.tasks)).map((json) => /"type":"(\w+)"/.exec(json)?.[1] ?? json).toSorted(),
    async foreignSpool() {
      const foreign = createSpool({ dataDir: await newFolder(), marker, keepMs, ...world });
      expect(await foreign.state()).toBe('foreign');
      return foreign;
    },
    async reportWithImage(id = 'U1', also = {}) {
      const place: SpoolPlace = { kind: 'violation', id };
      const upload = await spool.begin();
      const stored = await upload.write(pieces(PNG));
      await upload.keep(place);
      const images = [{ ...stored, name: 'front.png', contentType: 'image/png' }];
      await report(stores, violationOf(id, { images, ...also }));
      return (await spool.pathOf(place, stored)) ?? '';
    },
    async stop() {
      service.close();
      await fake.stop();
      stores.close();
    },
  };
}
