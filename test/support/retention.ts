import { createArchiveWriter } from '../../src/archive/write';
import { jsonObject } from '../../src/contracts/common';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createRetentionStore } from '../../src/store/retention';
import { sweep, type RetentionTools, type Swept } from '../../src/workflow/retention';
import { ACCEPTED, INVOICE, result, START, towInvoice, type Stores } from './stores';

/** Nothing that is finished stays. */
export const KEEP_NOTHING = { deliveriesMs: 0, towsMs: 0, violationsMs: 0, auditMs: 0 } as const;

/** Sweeps over stores into the archive of a folder, as one process. */
export function openRetention(stores: Stores, dataDir: string, epoch = 1) {
  const archive = createArchiveWriter({ dataDir, epoch, clock: systemClock });
  const tools: RetentionTools = {
    tows: stores.tows,
    deliveries: stores.deliveries,
    violations: stores.violations,
    retention: createRetentionStore(stores.redis),
    archive,
    keep: KEEP_NOTHING,
    log: silentLog,
  };
  return {
    tools,
    sweep: (also: Partial<RetentionTools> = {}): Promise<Swept> => sweep({ ...tools, ...also }),
    /** Sweeps until nothing more would leave. */
    async sweepAll(also: Partial<RetentionTools> = {}): Promise<void> {
      while ((await sweep({ ...tools, ...also })).more);
    },
    close: () => archive.close(),
  };
}

/** Sends everything a tow owes; the service accepts it all, and answers an invoice with the one it posts. */
export async function sendAll(stores: Stores, ref: string): Promise<void> {
  const { towing_invoice, delay_invoice } = towInvoice(ref);
  const answer = jsonObject.parse({ towing_reference_id: ref, towing_invoice, delay_invoice });
  for (;;) {
    const claim = await stores.outbox.claim(ref);
    if (claim.kind === 'idle') return;
    if (claim.kind === 'send') await stores.outbox.ack(claim, result(ACCEPTED, { answer }));
    else throw new Error(`expected to send, but: ${JSON.stringify(claim)}`);
  }
}

/** A whole life: requested, started, detained, invoiced, paid and released, all of it accepted by the service. */
export async function liveAndBeReleased(stores: Stores, ref: string): Promise<void> {
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

/** The shortest life: requested and canceled, and the service knows. */
export async function liveAndBeCanceled(stores: Stores, ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, { event: 'canceled', cancellationReason: 'Gone on arrival' });
  await sendAll(stores, ref);
}

/** A key of Redis and how much is in it. */
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

/** Every key that stays until somebody deletes it, by name. */
export async function lastingKeys({ redis }: Stores): Promise<KeySize[]> {
  const keys = await redis.keys('*');
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
