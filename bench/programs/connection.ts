import { connect, type Socket } from 'node:net';
import { pause } from '../../src/platform/timers';

/** An answer as the load generator needs it. */
export interface BenchAnswer {
  readonly status: number;
  readonly body: string;
}

/** One keep-alive HTTP/1.1 connection, one request at a time. */
export interface BenchConnection {
  /** Sends a request and resolves with its answer. Rejects when the connection breaks before it. */
  send(request: string): Promise<BenchAnswer>;
  close(): void;
}

const TRIES_MAX = 100;
const REPEAT_AFTER_MS = 100;
const HEAD_END = '\r\n\r\n';

/**
 * Opens a connection to `http://host:port`. It writes prepared text and reads answers that carry a Content-Length: a
 * fraction of the CPU time of node:http, so that the load generator takes little from the program under load.
 */
export function openConnection(origin: string): BenchConnection {
  const { hostname, port } = new URL(origin);
  let socket: Socket | null = null;
  let received = '';
  let settle: { resolve: (answer: BenchAnswer) => void; reject: (error: Error) => void } | null = null;

  const fail = (error: Error) => {
    socket?.destroy();
    socket = null;
    received = '';
    settle?.reject(error);
    settle = null;
  };
  const open = () => {
    const opened = connect(Number(port), hostname);
    opened.setNoDelay(true);
    // Lengths are counted in bytes: one character per byte.
    opened.setEncoding('latin1');
    opened.on('data', (chunk: string) => {
      received += chunk;
      const answer = parse(received);
      if (answer instanceof Error) return fail(answer);
      if (answer === null || settle === null) return;
      received = '';
      const { resolve } = settle;
      settle = null;
      resolve(answer);
    });
    opened.on('error', fail);
    opened.on('close', () => {
      if (socket === opened) fail(new Error('the server closed the connection'));
    });
    return opened;
  };
  return {
    send: (request) =>
      new Promise<BenchAnswer>((resolve, reject) => {
        settle = { resolve, reject };
        socket ??= open();
        socket.write(request);
      }),
    close: () => {
      const closing = socket;
      socket = null;
      closing?.destroy();
    },
  };
}

/** Null while the answer is not complete; an error when it has no Content-Length. */
function parse(text: string): BenchAnswer | Error | null {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = text.slice(0, headEnd);
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (length === undefined) return new Error(`an answer without Content-Length: ${head.split('\r\n')[0]}`);
  const body = text.slice(headEnd + HEAD_END.length);
  return body.length < Number(length) ? null : { status: Number(head.slice(9, 12)), body };
}

/** Returns a function from a JSON body to the text of a request; its fixed part is built once. */
export function requestTemplate(url: string, method: 'GET' | 'POST', apiKey: string | null): (body: string) => string {
  const { host, pathname } = new URL(url);
  const key = apiKey === null ? '' : `\r\nauthorization: Bearer ${apiKey}`;
  const head = `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json${key}`;
  return (body) => `${head}\r\ncontent-length: ${Buffer.byteLength(body)}${HEAD_END}${body}`;
}

/**
 * Sends a request until it is answered with success, and returns how often it was answered 503. Such a request is sent
 * again, as senders do; a 409 after it means that it had been carried out. Throws on any other answer.
 */
export async function sendUntilTaken(connection: BenchConnection, request: string): Promise<number> {
  for (let unavailable = 0; ; unavailable += 1) {
    const { status, body } = await connection.send(request);
    if ((status >= 200 && status <= 299) || (status === 409 && unavailable > 0)) return unavailable;
    if (status !== 503 || unavailable === TRIES_MAX) throw new Error(`${status} ${body.slice(0, 200)}`);
    await pause(REPEAT_AFTER_MS);
  }
}
