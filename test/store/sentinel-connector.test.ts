import { createServer, type Server, type Socket } from 'node:net';
import { silentLog } from '../../src/platform/log/log';
import { privateAccess } from '../../src/store/redis/access';
import { connectPatient } from '../../src/store/redis/connect';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { portOf } from '../support/server-port';

const redis = useRedis();
const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

/** A Sentinel that names the Redis of the test as the master, late if it is asked to, and announces failovers. */
async function startSentinel() {
  const subscribers = new Set<Socket>();
  const questions: (() => void)[] = [];
  const sockets = new Set<Socket>();
  const state = { isLate: false };
  const answer = (socket: Socket, command: string) => {
    if (command.includes('get-master-addr-by-name')) {
      const name = () => socket.write(`*2\r\n${bulk('127.0.0.1')}${bulk(String(redis.port))}`);
      if (state.isLate) questions.push(name);
      else name();
    } else if (command.includes('subscribe')) {
      subscribers.add(socket);
      socket.write(`>3\r\n${bulk('subscribe')}${bulk('+switch-master')}:1\r\n`);
    } else if (command.includes('hello')) socket.write(`%1\r\n${bulk('proto')}:3\r\n`);
    else socket.write('+OK\r\n');
  };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => subscribers.delete(socket));
    socket.on('data', (chunk) => {
      for (const command of chunk.toString().split(/(?=\*\d+\r\n)/)) answer(socket, command.toLowerCase());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ended.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: portOf(server),
    state,
    subscribers,
    questions,
    announce() {
      for (const socket of subscribers)
        socket.write(`>3\r\n${bulk('message')}${bulk('+switch-master')}${bulk('the-master')}`);
    },
  };
}

test('a connection that a failover interrupts while it asks a Sentinel for the master comes back', async () => {
  const sentinel = await startSentinel();
  const sentinels = [{ host: '127.0.0.1', port: sentinel.port }];
  const connection = connectPatient({ ...privateAccess('redis://the-master', null), sentinels }, { log: silentLog });
  ended.push(() => connection.disconnect());
  await eventually(() => expect(sentinel.subscribers.size).toBe(1));
  expect(await connection.ping()).toBe('PONG');

  sentinel.state.isLate = true;
  await redis.ask('CLIENT', 'KILL', 'ID', String(await connection.client('ID')));
  await eventually(() => expect(sentinel.questions.length).toBeGreaterThan(0));
  sentinel.announce();
  sentinel.state.isLate = false;
  await eventually(() => expect(sentinel.subscribers.size).toBe(0));
  for (const reply of sentinel.questions) reply();
  expect(await connection.ping()).toBe('PONG');
});
