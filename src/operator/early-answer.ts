import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';

/** How long the rest of a request is read, and thrown away, after it was answered. */
export const READS_ON_MS = 2000;

/** True while a client still sends the body of its request. */
export function isBodyUnderWay(request: IncomingMessage): boolean {
  const hasBody = request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined;
  return hasBody && !request.complete;
}

/**
 * Answers a client that still sends: it gets its answer at once, and the connection ends once it stops sending, or after
 * 2 s. A connection closed under a client that writes would take the answer away with it.
 */
export function answerWhileSending(response: Response, body: unknown): void {
  const { req: request } = response;
  const text = JSON.stringify(body);
  response.set({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  });
  response.write(text);
  const end = () => {
    clearTimeout(patience);
    response.end();
  };
  const patience = setTimeout(end, READS_ON_MS);
  request.once('end', end).once('close', end).resume();
}

/**
 * Reads the rest of a body and throws it away, for at most 2 s; what comes later still is thrown away in the background. A
 * browser reads no answer before it has sent its form.
 */
export async function throwRestAway(request: IncomingMessage): Promise<void> {
  request.resume();
  if (!isBodyUnderWay(request) || request.destroyed) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(patience);
      resolve();
    };
    const patience = setTimeout(end, READS_ON_MS);
    request.once('end', end).once('close', end);
  });
}
