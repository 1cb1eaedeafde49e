import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { snapshotOf } from '../../src/store/redis/snapshot';
import { useOwnRedis } from '../support/redis';
import { portOf } from '../support/server-port';

const redis = useOwnRedis();
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function connect(url: string) {
  const connection = connectFailFast(url, { log: silentLog });
  ends.push(() => connection.disconnect());
  await whenReady(connection, 30_000);
  return connection;
}

async function readSnapshot(url: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of snapshotOf(await connect(url))) parts.push(part);
  return Buffer.concat(parts);
}

/** A server that answers SYNC with these chunks, and every other command as a Redis does. */
async function fakeRedis(...chunks: readonly string[]): Promise<string> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1').toLowerCase();
      if (text !== 'sync\r\n') {
        const commands = text.match(/^\*\d+\r\n/gm) ?? [];
        for (const _ of commands) socket.write(text.includes('info') ? '$9\r\nloading:0\r\n' : '+OK\r\n');
        return;
      }
      void (async () => {
        for (const chunk of chunks) {
          socket.write(Buffer.from(chunk, 'latin1'));
          await new Promise(setImmediate);
        }
        socket.end();
      })();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return `redis://127.0.0.1:${portOf(server)}`;
}

it('a snapshot of a running Redis is a whole file in its own format', async () => {
  await redis.ask('SET', 'one', 'x'.repeat(200_000));

  const snapshot = await readSnapshot(redis.url);

  expect(snapshot.subarray(0, 5).toString()).toBe('REDIS');
  // The mark of the end, and a checksum of 8 bytes.
  expect(snapshot.at(-9)).toBe(0xff);
});

it.each([
  ['in one piece', ['$4\r\nabcd']],
  ['after line breaks that keep the connection alive', ['\n', '\n\n', '$4\r\nabcd']],
  ['in single bytes', ['\n', '$', '4', '\r', '\n', 'a', 'b', 'c', 'd']],
  ['with changes behind it', ['$4\r\nab', 'cd*1\r\n$4\r\nPING\r\n']],
])('a snapshot that comes %s is read to its end', async (_, chunks) => {
  expect((await readSnapshot(await fakeRedis(...chunks))).toString()).toBe('abcd');
});

it.each([
  ['breaks off', ['$9\r\nabcd'], 'before the snapshot was complete'],
  ['is refused', ["-NOPERM no permission for 'sync'\r\n"], 'NOPERM'],
  ['is something else', ['+PONG\r\n'], 'something else'],
])('a snapshot that %s is an error', async (_, chunks, message) => {
  await expect(readSnapshot(await fakeRedis(...chunks))).rejects.toThrow(message);
});

it('a user without the permission for SYNC gets no snapshot', async () => {
  await redis.ask('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@all', '-sync');

  const read = readSnapshot(redis.url.replace('redis://', 'redis://reader:secret@'));

  await expect(read).rejects.toThrow('NOPERM');
});
