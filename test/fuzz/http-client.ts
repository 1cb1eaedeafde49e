import { Agent, request as startRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** A request as plain data. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface FuzzResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The length of the whole body. */
  readonly bytes: number;
}

export interface AcceptedCalls {
  readonly calls: number;
  readonly bytes: number;
}

/** Sends requests over kept-alive connections. */
export interface FuzzHttpClient {
  /** Resolves with the response, or with the reason for its absence. */
  send(baseUrl: string, call: FuzzRequest): Promise<FuzzResponse | string>;
  /** The accepted requests (POST, 2xx) so far, and the bytes of their bodies. */
  accepted(): AcceptedCalls;
  close(): void;
}

const ANSWERED_WITHIN_MS = 60_000;
/** A connection may close during a request. The product runs if one of these attempts is answered. */
const ATTEMPTS = 3;

/** `connections`: the number of concurrent requests; further requests wait. */
export function createFuzzHttpClient(connections = 8): FuzzHttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let calls = 0;
  let bytes = 0;
  return {
    accepted: () => ({ calls, bytes }),
    async send(baseUrl, call) {
      let problem = '';
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const result = await sendOnce(baseUrl, call, agent);
        if (typeof result === 'string') {
          problem = result;
          continue;
        }
        if (call.method === 'POST' && result.status < 300) {
          calls += 1;
          bytes += call.body.length;
        }
        return result;
      }
      return `no answer: ${problem}`;
    },
    close: () => agent.destroy(),
  };
}

function sendOnce(
  baseUrl: string,
  { method, path, headers, body }: FuzzRequest,
  agent: Agent,
): Promise<FuzzResponse | string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const request = startRequest({
      agent,
      hostname,
      port,
      method,
      path: sendablePath(path),
      headers: { ...sendableHeaders(headers), 'content-length': body.length },
    });
    const limit = setTimeout(
      () => request.destroy(new Error(`none within ${ANSWERED_WITHIN_MS} ms`)),
      ANSWERED_WITHIN_MS,
    );
    const settle = (result: FuzzResponse | string) => {
      clearTimeout(limit);
      resolve(result);
    };
    request.on('error', (error) => settle(error.message));
    request.on('response', (response) => {
      void read(response).then(settle);
    });
    request.end(body);
  });
}

async function read(response: IncomingMessage): Promise<FuzzResponse | string> {
  const { statusCode: status = 0, headers } = response;
  if (headers['content-type'] === 'text/event-stream') {
    response.destroy();
    return { status, headers, text: '', bytes: 0 };
  }
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    response.on('data', (piece: Buffer) => pieces.push(piece));
    response.on('error', (error) => resolve(error.message));
    response.on('end', () => {
      const bytes = Buffer.concat(pieces);
      resolve({ status, headers, text: bytes.toString(), bytes: bytes.length });
    });
  });
}

/** Removes headers that Node's client refuses to send. */
function sendableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')]),
  );
}

function sendablePath(path: string): string {
  return path.replaceAll(/[^\x21-\xff]/g, (character) => encodeURIComponent(character.toWellFormed()));
}
