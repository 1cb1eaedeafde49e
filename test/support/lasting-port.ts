import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode } from '../../src/platform/errors';

/**
 * Ports of servers that another process opens, or that are closed and opened again. They are below those that a system
 * gives out for port 0 and for outgoing connections (from 32768 on Linux), and each jest worker has a range of its own.
 * Another program takes such a port in the meantime only if it is given that number.
 */
const FIRST_PORT = 12_000;
const PORTS_PER_WORKER = 1000;
const RANGES = 20;

const range = FIRST_PORT + PORTS_PER_WORKER * (Number(process.env['JEST_WORKER_ID'] ?? 0) % RANGES);
/** Random, so that a client of an earlier test file does not find the server of a later one. */
let next = randomInt(PORTS_PER_WORKER);

/** A port on which nothing listens. */
export async function lastingPort(): Promise<number> {
  for (let tried = 0; tried < PORTS_PER_WORKER; tried += 1) {
    const port = range + (next % PORTS_PER_WORKER);
    next += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${range} on is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
