import { Agent, request as startRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** A request as plain data. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Its length when it was read to its end. */
  readonly bytes: number;
}

export interface Taken {
  readonly calls: number;
  readonly bytes: number;
}

/** Sends requests over connections that are kept. */
export interface Wire {
  /** Resolves with the response, or with why there is none. */
  send(baseUrl: string, call: Call): Promise<Response | string>;
  /** How many requests were taken in (POST, 2xx) so far, and the bytes of their bodies. */
  taken(): Taken;
  close(): void;
}

const ANSWERED_WITHIN_MS = 60_000;
/** A connection may end under a request; the product is there when one of so many attempts is answered. */
const ATTEMPTS = 3;

/** `connections`: how many requests are under way at once; more wait. */
export function createWire(connections = 8): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let calls = 0;
  let bytes = 0;
  return {
    taken: () => ({ calls, bytes }),
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

function sendOnce(baseUrl: string, { method, path, headers, body }: Call, agent: Agent): Promise<Response | string> {
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
    const settle = (result: Response | string) => {
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

async function read(response: IncomingMessage): Promise<Response | string> {
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

/** What Node's client refuses to send is left out: the product would never see it. */
function sendableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')]),
  );
}

function sendablePath(path: string): string {
  return path.replaceAll(/[^\x21-\xff]/g, (character) => encodeURIComponent(character.toWellFormed()));
}
