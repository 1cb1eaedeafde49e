import { createServer, type RequestListener } from 'node:http';

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

/** No program listens on this port, and none gets it that asks for any. `fetch` calls it; it refuses to call port 1. */
export const DEAD_PORT = 2;
/** Connections to it are refused. */
export const DEAD_ADDRESS = `http://127.0.0.1:${DEAD_PORT}`;
