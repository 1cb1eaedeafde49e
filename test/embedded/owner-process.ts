import { silentLog } from '../../src/platform/log/log';
import { ask } from '../../src/embedded-redis/probe';
import { startEmbeddedRedis } from '../../src/embedded-redis/start';

/**
 * A process that starts an embedded Redis and prints which one. Its second argument selects what follows: `stays` runs
 * until it is killed, `leaves` exits without stopping the server, `interrupted` writes on SIGINT and stops the server.
 */
async function main(dataDir: string, then: string): Promise<void> {
  const redis = await startEmbeddedRedis({
    dataDir,
    log: silentLog,
    lookup: { searchPath: process.env['PATH'] ?? '', binary: process.env['REDIS_SERVER_BIN'] ?? null },
  });
  await ask(redis.port, ['INCR', 'starts']);
  const { port, processId, wasRunning } = redis;
  const staying = then === 'leaves' ? undefined : setInterval(() => {}, 60_000);
  if (then === 'interrupted') {
    process.once('SIGINT', () => {
      void (async () => {
        process.stdout.write(`${JSON.stringify({ reply: await ask(port, ['INCR', 'starts']) })}\n`);
        await redis.stop();
        clearInterval(staying);
      })();
    });
  }
  process.stdout.write(`${JSON.stringify({ port, processId, wasRunning })}\n`);
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
