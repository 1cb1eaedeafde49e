import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { OPERATIONS, type OperationName } from '../../src/contracts/operations';

/** A proxy in front of the service that withholds the answers of one operation. */
export interface HeldAnswers {
  /** The address to use in place of the service's. */
  readonly url: string;
  /** Passes on the withheld answers and all later ones. */
  release(): void;
}

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/**
 * Starts a proxy that forwards every request at once and withholds the answers of `operation` until `release`. The
 * proxy ends with the test.
 */
export async function holdAnswers(serviceUrl: string, operation: OperationName): Promise<HeldAnswers> {
  const { path } = OPERATIONS[operation];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const proxy = createServer((incoming, response) => {
    const { method, headers, url = '/' } = incoming;
    const forwarded = request(new URL(url, serviceUrl), { method, headers }, (answer) => {
      const passOn = () => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      };
      if (url.endsWith(path)) void released.then(passOn);
      else passOn();
    });
    forwarded.on('error', () => response.destroy());
    response.on('error', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stops.push(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, release: () => release() };
}
