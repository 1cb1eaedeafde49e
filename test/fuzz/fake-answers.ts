import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A fake service. It answers a question about a zone with any bytes that were planned for it, and every other call with an
 * answer that keeps its contract.
 */
export interface FakeAnswers {
  readonly url: string;
  /** The answer to the next questions about this zone: an HTTP response or a part of one. */
  plan(zoneId: string, response: Buffer): void;
  forget(zoneId: string): void;
  stop(): Promise<void>;
}

const ZONE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

export async function startFakeAnswers(): Promise<FakeAnswers> {
  const planned = new Map<string, Buffer>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url ?? '';
    const body = await bodyOf(request);
    const zone = ZONE.exec(`${url} ${body}`)?.[0].toLowerCase();
    const bytes = zone === undefined ? undefined : planned.get(zone);
    if (bytes !== undefined && /capacity|ticket/.test(url)) {
      request.socket.end(bytes);
      return;
    }
    const data = url.endsWith('/token') ? { token: 'token-of-the-fuzzer' } : goodAnswerTo(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 200, message: 'Success', data }));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.on('connection', (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    plan: (zoneId, response) => void planned.set(zoneId.toLowerCase(), response),
    forget: (zoneId) => void planned.delete(zoneId.toLowerCase()),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function goodAnswerTo(body: string): object {
  const reference = /"towing_reference_id":"([^"]+)"/.exec(body)?.[1] ?? 'TW-1';
  const charge = { total_amount: 115, paid_amount: 0, tax: 15 };
  return {
    towing_reference_id: reference,
    towing_invoice: charge,
    delay_invoice: charge,
    violation_reference_id: 'V-20261120-FUZZED',
    status: 'PENDING',
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  await new Promise<void>((resolve) => {
    request.once('end', () => resolve()).once('error', () => resolve());
  });
  return Buffer.concat(pieces).toString('latin1');
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
