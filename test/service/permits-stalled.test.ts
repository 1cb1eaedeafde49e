import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { systemClock } from '../../src/platform/clock';
import { budgetsOf } from '../support/outboxes';
import { clientWithToken, closeClients, REQUESTS } from './client-under-test';

/** A service that accepts no connection while it is frozen: its queue holds two, and all others wait outside. */
const SERVICE = `
  const { createServer } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const gate = new Int32Array(workerData);
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      Atomics.add(gate, 1, 1);
      response.end('{"hasActiveTicket":false}');
    });
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(gate, 0, 0);
  });
`;

const gate = new Int32Array(new SharedArrayBuffer(8));
const LASTS_MS = 300;
const fillers: Socket[] = [];
let service: Worker;
let port: number;

beforeEach(async () => {
  service = new Worker(SERVICE, { eval: true, workerData: gate.buffer });
  port = z.tuple([z.number()]).parse(await once(service, 'message'))[0];
  for (let nth = 0; nth < 6; nth += 1) fillers.push(connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(fillers.slice(0, 2).map((filler) => once(filler, 'connect')));
});
afterEach(async () => {
  closeClients();
  openGate();
  await service.terminate();
});

/** Lets the service accept connections. The others make way, so that the one of the call is not turned away again. */
function openGate(): void {
  for (const filler of fillers.splice(0)) filler.destroy();
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

it('a call whose connection opens slower than a permit lasts takes one permit when the connection is open', async () => {
  const permitsAtMs: number[] = [];
  const leftAtMs: number[] = [];
  const budgets = budgetsOf(() => {
    permitsAtMs.push(systemClock.monotonicMs());
    return Promise.resolve({ granted: true, inMs: 0, lastsMs: LASTS_MS });
  });
  const client = await clientWithToken(`http://127.0.0.1:${port}`, { budgets, timeoutMs: 60_000 });
  const maySend = () => {
    leftAtMs.push(systemClock.monotonicMs());
    return true;
  };
  const call = client.call('ticket', REQUESTS.ticket, { permitWaitMs: 30_000, maySend });
  setTimeout(openGate, LASTS_MS);

  expect((await call).exchange.kind).toBe('accepted');
  expect([permitsAtMs.length, leftAtMs.length, Atomics.load(gate, 1)]).toEqual([1, 1, 1]);
  expect((leftAtMs[0] ?? 0) - (permitsAtMs.at(-1) ?? 0)).toBeLessThan(LASTS_MS);
});
