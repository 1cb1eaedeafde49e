import { serveSnapshot } from '../../src/embedded-redis/serve-snapshot';
import { silentLog } from '../../src/platform/log/log';

/** A process that serves a snapshot and prints its port. With `stops` it stops the server, else it runs until it is ended. */
async function main(file: string, then: string): Promise<void> {
  const lookup = { searchPath: process.env['PATH'] ?? '', binary: process.env['REDIS_SERVER_BIN'] ?? null };
  const server = await serveSnapshot(file, { ...lookup, log: silentLog });
  process.stdout.write(`${JSON.stringify({ port: Number(new URL(server.url).port) })}\n`);
  if (then === 'stops') await server.stop();
  else setInterval(() => {}, 60_000);
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
