import type { Socket } from 'node:net';
import type { Uploads } from '../../jobs/renew-lease';
import type { StoredViolation } from '../../src/domain/outbox/outbox-record';
import type { Outbox } from '../../src/workflow/outbox/outbox-port';
import { clientWithToken, closeClients } from '../service/client-under-test';
import { startRawServer, type RawServer } from '../service/fake-service';
import { useRedis } from '../support/redis';
import { openOutbox } from '../support/violations';
import { startWorkerFor, TAKEN, type ViolationWorker } from './violation-world';

const redis = useRedis();
/** Long enough for a busy machine to renew it in time. */
const LEASE_MS = 6000;

let worker: ViolationWorker;
let server: RawServer;
const sockets: Socket[] = [];
beforeEach(async () => {
  worker = await startWorkerFor(redis.url);
  server = await startRawServer(
    () => {},
    (socket) => void sockets.push(socket),
  );
});
afterEach(async () => {
  closeClients();
  sockets.length = 0;
  await server.stop();
  await worker.stop();
});

/** Sends the violation to a service that answers when the test does, through an outbox that can be changed. */
async function send(
  also: (outbox: Outbox<StoredViolation>) => Partial<Outbox<StoredViolation>> = () => ({}),
  uploads: Partial<Uploads> = {},
) {
  const outbox = openOutbox(worker.stores, { leaseMs: LEASE_MS });
  const service = await clientWithToken(server.url, { upload: { silenceMs: 60_000 } });
  await worker.reportWithImage();
  return worker.wake('U1', {
    service,
    outbox: { ...outbox, ...also(outbox) },
    uploads: { maxMs: Infinity, onRenewed: () => {}, ...uploads },
  });
}

function answer(): void {
  const body = TAKEN.body ?? '';
  for (const socket of sockets) {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
}

describe('an upload that takes longer than its lease', () => {
  test('renews the lease, so that no other worker sends the violation too', async () => {
    const ends: boolean[] = [];
    const claims: string[] = [];
    const other = openOutbox(worker.stores, { leaseMs: LEASE_MS });
    const outcome = await send((outbox) => ({
      async renew(claimed) {
        ends.push(await outbox.renew(claimed));
        claims.push((await other.claim('U1')).kind);
        // Four renewals take the call past the end of its first lease.
        if (ends.length === 4) answer();
        return true;
      },
    }));

    expect(outcome).toBe('accepted');
    expect(ends).toEqual([true, true, true, true]);
    expect(claims).toEqual(['busy', 'busy', 'busy', 'busy']);
    expect(await worker.read()).toMatchObject({ state: 'accepted', attempts: 1 });
    expect(server.received).toHaveLength(1);
  });

  test.each([
    ['counts each renewal within its time limit as progress of the worker', Infinity, true],
    ['counts no renewal beyond its time limit as progress of the worker', 0, false],
  ])('%s', async (_behaviour, maxMs, isCounted) => {
    let [renewals, progress] = [0, 0];
    const renew = (outbox: Outbox<StoredViolation>) => ({
      async renew(claimed: Parameters<typeof outbox.renew>[0]) {
        renewals += 1;
        if (renewals === 3) answer();
        return outbox.renew(claimed);
      },
    });

    const onRenewed = () => {
      progress += 1;
    };
    expect(await send(renew, { maxMs, onRenewed })).toBe('accepted');
    expect(progress > 0).toBe(isCounted);
  });

  test('ends when the renewal is refused', async () => {
    const outcome = await send(() => ({ renew: () => Promise.resolve(false) }));

    expect(outcome).toBe('unknown');
    await server.closed(1);
  });

  test('keeps an answer that arrives while the process is frozen beyond the lease', async () => {
    const freeze = new Int32Array(new SharedArrayBuffer(4));
    const outcome = await send(() => ({
      renew: () => {
        // After immediates, timers run before sockets are read.
        setImmediate(() => {
          answer();
          Atomics.wait(freeze, 0, 0, LEASE_MS);
        });
        return new Promise(() => {});
      },
    }));

    expect(outcome).toBe('accepted');
    expect(await worker.read()).toMatchObject({ state: 'accepted', attempts: 1 });
  });

  test('ends before the end of the lease when the renewal has no answer', async () => {
    const startedMs = Date.now();
    await send(() => ({ renew: () => new Promise(() => {}) }));

    await server.closed(1);
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(LEASE_MS * 0.3);
    expect(await worker.read()).toMatchObject({ state: 'unknown', attempts: 1 });
  });
});
