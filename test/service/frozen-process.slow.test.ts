import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Exchange } from '../../src/domain/service/policy';
import { eventually } from '../support/eventually';
import { certificate } from './connect-proxy';
import { clientWithToken, closeClients, REQUESTS } from './client-under-test';
import { enveloped } from './fake-service';

/**
 * A service that answers in a thread of its own, once this thread is frozen. `early` is sent before, and announces what
 * `late` completes.
 */
const SERVICE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { secure, early, late, requestEnds } = workerData;
  const gate = new Int32Array(workerData.gate);
  const { createServer } = require(secure ? 'node:tls' : 'node:net');
  const server = createServer(secure ?? {}, (socket) => {
    let request = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      request += chunk.toString('latin1');
      if (!request.endsWith(requestEnds)) return;
      socket.write(early, () => {
        parentPort.postMessage('received');
        Atomics.wait(gate, 0, 0);
        socket.write(late, () => {
          Atomics.store(gate, 1, 1);
          Atomics.notify(gate, 1);
        });
      });
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** The deadline of the first call. */
const LIMIT_MS = 800;
/** The process is frozen for longer than the deadline by this. */
const FROZEN_LONGER_MS = 100;

let service: Worker | null = null;
/** When this thread froze, by `performance.now()`; Infinity until then. */
let frozenAtMs = Infinity;
afterEach(async () => {
  closeClients();
  await service?.terminate();
  service = null;
});

interface ServiceFacts {
  readonly secure?: { readonly cert: string; readonly key: string };
  readonly early?: string;
  readonly late: string;
  readonly requestEnds: string;
}

/** Starts the service. When it has a whole call, this thread freezes until the answer came and every limit has passed. */
async function freezingService(facts: ServiceFacts, limitMs: number): Promise<number> {
  const gate = new Int32Array(new SharedArrayBuffer(12));
  const worker = new Worker(SERVICE, { eval: true, workerData: { early: '', ...facts, gate: gate.buffer } });
  service = worker;
  frozenAtMs = Infinity;
  const [port] = z.tuple([z.number()]).parse(await once(worker, 'message'));
  worker.once('message', () => {
    frozenAtMs = performance.now();
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    Atomics.wait(gate, 1, 0);
    Atomics.wait(gate, 2, 0, limitMs + FROZEN_LONGER_MS);
  });
  return port;
}

/**
 * Makes the call until this thread froze before the deadline, and returns the exchange of that call. On a slow machine the
 * deadline may pass before the service has the request, and then there is no answer to read. Each deadline is twice as long
 * as the one before.
 */
async function callUntilFrozen(
  facts: ServiceFacts,
  call: (port: number, limitMs: number) => Promise<{ readonly exchange: Exchange }>,
): Promise<Exchange> {
  let nextLimitMs = LIMIT_MS;
  return eventually(async () => {
    const limitMs = nextLimitMs;
    nextLimitMs *= 2;
    await service?.terminate();
    const port = await freezingService(facts, limitMs);
    const startedMs = performance.now();
    const { exchange } = await call(port, limitMs);
    // A service that received the call too late must freeze nothing.
    service?.removeAllListeners('message');
    expect(frozenAtMs - startedMs).toBeLessThan(limitMs);
    return exchange;
  });
}

const headOf = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
const amounts = { total_amount: 1, paid_amount: 0, tax: 0 };
const INVOICE =
  enveloped({ towing_reference_id: 'TW-1', towing_invoice: amounts, delay_invoice: amounts, metadata: { id: 'm-1' } })
    .body ?? '';
const PADDED = INVOICE.padEnd(100_000);
const SECURE = {
  cert: readFileSync(certificate('server'), 'utf8'),
  key: readFileSync(certificate('server-key'), 'utf8'),
};
const WAY_OUT = { proxyUrl: null, caFile: certificate('ca'), clientCertFile: null, clientKeyFile: null };

describe('an answer that arrives while the process is frozen beyond the deadline', () => {
  it.each<[string, Pick<ServiceFacts, 'early' | 'late' | 'secure'>]>([
    ['in one piece', { late: headOf(INVOICE) + INVOICE }],
    ['in more than one piece', { late: headOf(PADDED) + PADDED }],
    ['when its head came before the freeze', { early: headOf(INVOICE), late: INVOICE }],
    ['over TLS', { late: headOf(INVOICE) + INVOICE, secure: SECURE }],
    ['in more than one piece over TLS', { late: headOf(PADDED) + PADDED, secure: SECURE }],
    ['over TLS when its head came before the freeze', { early: headOf(PADDED), late: PADDED, secure: SECURE }],
  ])('is read %s', async (_, facts) => {
    const exchange = await callUntilFrozen({ ...facts, requestEnds: '}' }, async (port, limitMs) => {
      const url = `${facts.secure ? 'https' : 'http'}://127.0.0.1:${port}`;
      const client = await clientWithToken(url, { timeoutMs: limitMs, outbound: WAY_OUT });
      return client.call('invoice', REQUESTS.invoice);
    });
    expect(exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
  });

  it('is read too by a call with images whose time without progress is over', async () => {
    const body = enveloped({ violation_reference_id: 'V-1', status: 'PENDING', metadata: { id: 'm-1' } }).body ?? '';
    const image = { open: () => Readable.from([Buffer.alloc(100)]), fileName: 'a.jpg', contentType: 'image/jpeg' };
    const facts = { late: headOf(body) + body, requestEnds: '--\r\n' };
    const exchange = await callUntilFrozen(facts, async (port, limitMs) => {
      const client = await clientWithToken(`http://127.0.0.1:${port}`, { upload: { silenceMs: limitMs } });
      const images = [{ ...image, sizeBytes: 100 }];
      return client.submitViolation('violation', { form: REQUESTS.violation, images });
    });
    expect(exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
  });
});
