import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void;

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Serves `handle` on a free port and returns the address. It ends with the test. */
export async function startProxy(handle: Handler): Promise<string> {
  const proxy = createServer(handle);
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stops.push(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://127.0.0.1:${port}`;
}

/** Forwards a request at once and passes its answer on when `mayAnswer` resolves. */
export function forward(
  serviceUrl: string,
  [incoming, response]: readonly [IncomingMessage, ServerResponse],
  mayAnswer: Promise<unknown> | null = null,
): void {
  const { method, headers, url = '/' } = incoming;
  const forwarded = request(new URL(url, serviceUrl), { method, headers }, (answer) => {
    const passOn = () => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    };
    if (mayAnswer === null) passOn();
    else void mayAnswer.then(passOn);
  });
  forwarded.on('error', () => response.destroy());
  response.on('error', () => forwarded.destroy());
  incoming.pipe(forwarded);
}
