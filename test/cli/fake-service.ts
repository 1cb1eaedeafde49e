import { createServer, type RequestListener } from 'node:http';
import { freePort } from '../../src/store/embedded/launch';

/** A listener that answers everything alike. */
export async function startServer(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A service that gives tokens below `/parking/api`, and whose clock may be wrong. */
export function startService({ aheadMs = 0 }: { aheadMs?: number } = {}) {
  return startServer((request, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
    if (request.url === '/parking/api/auth/public/token') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ code: 200, message: 'OK', data: { token: 'a-token' } }));
    } else {
      response.statusCode = 404;
      response.end('<html>not here</html>');
    }
  });
}

/** An address on which nobody listens. */
export async function deadAddress(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}
