import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import { errorFacts } from '../platform/errors';
import { sendJson } from '../platform/http';
import type { Log } from '../platform/log/log';
import type { ApiCallRefusal } from '../workflow/operator-port';
import {
  BODY_TOO_LARGE,
  NOT_FOUND,
  type ApiError,
  type CsvText,
  type EndpointResponse,
  type ImageFile,
} from './responses';

/** Writes the response of an endpoint over HTTP. */
export async function send(response: Response, result: EndpointResponse): Promise<void> {
  switch (result.kind) {
    case 'answered':
      if (result.hasSecrets) response.set('cache-control', 'no-store');
      // A 204 has neither a body nor a length (RFC 9110, 8.6).
      if (result.httpStatus === 204) response.writeHead(204).end();
      else sendJson(response, result.httpStatus, result.body);
      return;
    case 'image':
      if (!(await sendImage(response, result.image))) sendRefusal(response, NOT_FOUND.refusal);
      return;
    case 'csv':
      return sendCsv(response, result.csv);
    case 'refused':
      return sendRefusal(response, result.refusal);
  }
}

export function sendRefusal(response: Response, refusal: ApiCallRefusal): void {
  const { httpStatus, retryAfterMs } = refusal;
  if (retryAfterMs !== null) response.set('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  sendError(response, httpStatus, refusal);
}

export function sendError(response: Response, httpStatus: number, error: ApiError): void {
  const { code, message, details = [], nextCursor } = error;
  const body = { code, message, details, next_cursor: nextCursor };
  if (isBodyUnread(response.req)) sendWhileReceiving(response, httpStatus, body);
  else sendJson(response, httpStatus, body);
}

/** Method and path pattern for logs. The real address is left out, as its query may carry a plate. */
export function routeOf(request: Request): { method: string; path: unknown } {
  const route: unknown = request.route;
  const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : '(none)';
  return { method: request.method, path };
}

/**
 * Answers errors that no endpoint has answered: an unreadable body, or an unexpected exception. `log` is throttled, as
 * every request fails while Redis is away.
 */
export function answerError(log: Log): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const httpStatus = error instanceof Error && 'status' in error ? error.status : null;
    if (httpStatus === 413) {
      sendRefusal(response, BODY_TOO_LARGE.refusal);
    } else if (error instanceof URIError) {
      // The path has an invalid percent-encoding.
      sendError(response, 404, NO_SUCH_ADDRESS);
    } else if (httpStatus === 415) {
      sendError(response, 415, ENCODING_NOT_SUPPORTED);
    } else if (typeof httpStatus === 'number' && httpStatus < 500) {
      const details = [{ field: 'body', rule: 'must be JSON in UTF-8' }];
      sendError(response, 400, { code: 'not_json', message: 'The body is not valid JSON.', details });
    } else {
      log.error('api.failed', { ...routeOf(request), ...errorFacts(error) });
      response.set('retry-after', '2');
      sendError(response, 503, {
        code: 'unavailable',
        message: request.method === 'GET' ? READ_FAILED : CHANGE_FAILED,
      });
    }
  };
}

/** A failure that no endpoint expects is nearly always one of Redis. */
const READ_FAILED = 'The request failed, usually because Redis is not available. Repeat it after Retry-After seconds.';
const CHANGE_FAILED =
  'The request failed, or its result is not known, usually because Redis is not available. Repeat it with the same Idempotency-Key after Retry-After seconds.';

const ENCODING_NOT_SUPPORTED: ApiError = {
  code: 'encoding_not_supported',
  message: 'The body must be in UTF-8. It may be compressed with gzip, deflate or br.',
};

/** How long the rest of a request body is read and discarded after the response. */
const DISCARD_MS = 2000;

function isBodyUnread(request: IncomingMessage): boolean {
  const hasBody = request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined;
  return hasBody && !request.complete;
}

/**
 * Answers a client that is still sending its body. The response goes out at once. The connection closes when the client
 * has finished, or after 2 s: closing it earlier resets the connection, and the client loses the response.
 */
function sendWhileReceiving(response: Response, httpStatus: number, body: unknown): void {
  const { req: request } = response;
  const text = JSON.stringify(body);
  response.status(httpStatus).set({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  });
  response.write(text);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DISCARD_MS);
  request.once('end', end).once('close', end).resume();
}

/**
 * Reads and discards the rest of a request body. Resolves at its end, or after 2 s; later bytes are discarded too. A
 * browser reads no response before it has sent its whole form.
 */
export async function discardBody(request: IncomingMessage): Promise<void> {
  request.resume();
  if (!isBodyUnread(request) || request.destroyed) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, DISCARD_MS);
    request.once('end', end).once('close', end);
  });
}

/** Streams a CSV. When it fails halfway the connection is cut, so that the client sees an incomplete file. */
async function sendCsv(response: Response, { name, text }: CsvText): Promise<void> {
  response.status(200).set({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${asciiName(name)}"`,
    'cache-control': 'private, no-store',
  });
  await pipeline(Readable.from(text), response).catch(() => response.destroy());
}

/** Streams an image. Returns false, with nothing sent, when its file does not exist. */
async function sendImage(response: Response, image: ImageFile): Promise<boolean> {
  const bytes = await bytesOf(image);
  if (bytes === null) return false;
  const { name, contentType, sizeBytes } = image;
  response.status(200).set({
    'content-type': contentType,
    'content-length': String(sizeBytes),
    'content-disposition': `inline; filename="${asciiName(name)}"; filename*=UTF-8''${encodedName(name)}`,
    // Images are personal data: no cache may store them.
    'cache-control': 'private, no-store',
  });
  // The client disconnected, or the disk failed after the headers: an incomplete body tells the client.
  await pipeline(bytes, response).catch(() => response.destroy());
  return true;
}

async function bytesOf({ source }: ImageFile): Promise<Readable | null> {
  if ('open' in source) return source.open();
  const file = await open(source.path, 'r').catch(() => null);
  return file?.createReadStream() ?? null;
}

/** For clients that do not support `filename*`. */
function asciiName(name: string): string {
  return name.replaceAll(/[^\w .()-]/g, '_');
}

/** RFC 8187. */
function encodedName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return `%${code.toString(16).toUpperCase()}`;
  });
}
