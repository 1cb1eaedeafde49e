import { KEYS } from '../../src/store/keys';
import { createArchiveWriter } from '../../src/archive/write';
import { jsonObject } from '../../src/contracts/common';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createRetentionStore } from '../../src/store/ops/retention';
import { isTransient } from '../../src/store/redis/until-answered';
import { sweep, type RetentionTools, type Swept } from '../../src/workflow/ops/retention';
import { useDataDir } from '../archive/folder';
import { ACCEPTED, INVOICE, result, START, towInvoice, useStores, type Stores } from './stores';

/** Retention times of zero. */
export const KEEP_NOTHING = { deliveriesMs: 0, towsMs: 0, violationsMs: 0, auditMs: 0, changesMs: 10 ** 12 } as const;

/** Sweeps stores into an archive folder, as one process. */
export function openRetention(stores: Stores, dataDir: string, epoch = 1) {
  const archive = createArchiveWriter({ dataDir, epoch, clock: systemClock });
  const tools: RetentionTools = {
    tows: stores.tows,
    deliveries: stores.deliveries,
    violations: stores.violations,
    retention: createRetentionStore(stores.redis),
    archive,
    keep: KEEP_NOTHING,
    isTransient,
    log: silentLog,
  };
  return {
    tools,
    sweep: (also: Partial<RetentionTools> = {}): Promise<Swept> => sweep({ ...tools, ...also }),
    /** Sweeps until nothing more can be archived. */
    async sweepAll(also: Partial<RetentionTools> = {}): Promise<void> {
      while ((await sweep({ ...tools, ...also })).more);
    },
    close: () => archive.close(),
  };
}

export type Retention = ReturnType<typeof openRetention>;

/** Opens stores and their retention before each test, and closes them after it. Returns the folder of the archive. */
export function useRetention(
  opened: (tools: { stores: Stores; retention: Retention }) => void,
): ReturnType<typeof useDataDir> {
  const dataDir = useDataDir();
  let retention: Retention | undefined;
  const stores = useStores();
  beforeEach(() => {
    retention = openRetention(stores, dataDir.path);
    opened({ stores, retention });
  });
  afterEach(() => retention?.close());
  return dataDir;
}

/** Sends all reports of a tow. The service accepts them and answers an invoice with the posted one. */
export async function sendAll(stores: Stores, ref: string): Promise<void> {
  const { towing_invoice, delay_invoice } = towInvoice(ref);
  const answer = jsonObject.parse({ towing_reference_id: ref, towing_invoice, delay_invoice });
  for (;;) {
    const claim = await stores.outbox.claim(ref);
    if (claim.kind === 'idle') return;
    if (claim.kind === 'send') await stores.outbox.settle(claim, result(ACCEPTED, { answer }));
    else throw new Error(`expected to send, but: ${JSON.stringify(claim)}`);
  }
}

/** A complete tow: requested, started, detained, invoiced, paid and released, all of it accepted. */
export async function createReleasedTow(stores: Stores, ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  await stores.say(ref, { event: 'detained' });
  await stores.say(ref, INVOICE);
  await sendAll(stores, ref);
  await stores.acceptInvoice(ref);
  await stores.process(`invoice-${ref}`);
  await stores.say(ref, { event: 'payment' });
  await stores.say(ref, { event: 'released' });
  await sendAll(stores, ref);
}

/** The shortest tow: requested and canceled, accepted by the service. */
export async function createCanceledTow(stores: Stores, ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, { event: 'canceled', cancellationReason: 'Gone on arrival' });
  await sendAll(stores, ref);
}

/** A key of Redis and its size. */
export interface KeySize {
  readonly key: string;
  readonly size: number;
}

const SIZE_COMMANDS: Readonly<Record<string, string>> = {
  hash: 'HLEN',
  zset: 'ZCARD',
  set: 'SCARD',
  list: 'LLEN',
  string: 'STRLEN',
  stream: 'XLEN',
};

/** Every key without a lifetime, by name. */
export async function lastingKeys({ redis }: Stores): Promise<KeySize[]> {
  // Changes are kept for a time of their own.
  const keys = (await redis.keys('*')).filter((key) => !key.startsWith(KEYS.changes));
  const sizes = await Promise.all(
    keys.toSorted().map(async (key) => {
      const [type, ttl] = await Promise.all([redis.type(key), redis.ttl(key)]);
      const command = SIZE_COMMANDS[type];
      if (command === undefined) throw new Error(`${key} is of an unknown type: ${type}`);
      return { key, size: Number(await redis.call(command, key)), isLasting: ttl === -1 };
    }),
  );
  return sizes.filter(({ isLasting }) => isLasting).map(({ key, size }) => ({ key, size }));
}
