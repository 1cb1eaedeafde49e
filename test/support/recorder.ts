import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { portOf } from './server-port';

/** One request and its answer, as they went over the wire. */
export interface RecordedExchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
  readonly answerHeaders: IncomingHttpHeaders;
  readonly answer: string;
  /** From the request to the end of its answer. */
  readonly durationMs: number;
}

/** A proxy that passes everything on and records it. */
export interface Recorder {
  readonly url: string;
  /** In the order of the answers. */
  readonly exchanges: readonly RecordedExchange[];
  stop(): void;
}

/** Starts a recorder in front of the address that `target` returns. */
export async function startRecorder(target: () => string): Promise<Recorder> {
  const exchanges: RecordedExchange[] = [];
  const server = createServer((incoming, response) => {
    const { method = '', url = '/', headers } = incoming;
    const body = textOf(incoming);
    const startedMs = performance.now();
    const onward = request(new URL(url, target()), { method, headers }, (answer) => {
      const text = textOf(answer);
      const { statusCode: status = 502, headers: answerHeaders } = answer;
      response.writeHead(status, answerHeaders);
      answer.pipe(response);
      answer.on('end', () => {
        const durationMs = performance.now() - startedMs;
        exchanges.push({ method, path: url, headers, body: body(), status, answerHeaders, answer: text(), durationMs });
      });
    });
    onward.on('error', () => response.destroy());
    response.on('error', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Collects a message while it is passed on; returns a function that returns its text so far. */
function textOf(message: IncomingMessage): () => string {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
