import { createServer, type RequestListener } from 'node:http';
import { freePort } from '../../src/embedded-redis/launch';

/** Starts an HTTP server that handles every request with `answer`. */
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

/** Starts a service that gives tokens below `/parking/api`. Its Date header is `aheadMs` ahead. */
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

/** Returns the URL of a free port: connections to it are refused. */
export async function deadAddress(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}
