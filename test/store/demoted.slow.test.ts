import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, connectPatient, type Redis } from '../../src/store/redis/connect';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { makeReplica } from '../support/sentinels';
import { portOf } from '../support/server-port';

/** A master that is demoted and lives on, behind an address that leads to its successor. */

const old = useOwnRedis();
const successor = useOwnRedis();

let address: Server;
let target: number;
const sockets = new Set<Socket>();
const connections: Redis[] = [];

beforeEach(async () => {
  target = old.port;
  address = createServer((client) => {
    const server = connect(target, '127.0.0.1');
    const cut = () => [client, server].forEach((socket) => socket.destroy());
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', cut);
    }
    client.pipe(server).pipe(client);
  });
  address.listen(0, '127.0.0.1');
  await once(address, 'listening');
});
afterEach(async () => {
  await old.ask('REPLICAOF', 'NO', 'ONE');
  for (const connection of connections.splice(0)) connection.disconnect();
  for (const socket of sockets) socket.destroy();
  address.close();
  await once(address, 'close');
});

const url = () => `redis://127.0.0.1:${portOf(address)}`;
const opened = (connection: Redis) => {
  connections.push(connection);
  return connection;
};
/** Subscribes to `channel` and returns the list of its messages, and how often its connection was opened. */
async function subscribe() {
  const seen = { messages: new Array<string>(), confirmed: 0 };
  const connection = opened(connectPatient(url(), { log: silentLog }));
  connection.on('message', (_channel, message: string) => seen.messages.push(message));
  connection.on('ready', () => (seen.confirmed += 1));
  await connection.subscribe('channel');
  return seen;
}
const clientsAt = async (server: typeof old) => {
  const list = String(await server.ask('CLIENT', 'LIST', 'TYPE', 'normal'))
    .trim()
    .split('\n');
  const subscribers = String(await server.ask('CLIENT', 'LIST', 'TYPE', 'pubsub')).trim();
  // The client that asks is one of them.
  return list.length - 1 + (subscribers === '' ? 0 : subscribers.split('\n').length);
};

test('subscribers and readers leave a master that is demoted and lives on, and messages arrive again', async () => {
  const seen = await subscribe();
  const reader = opened(connectFailFast(url(), { log: silentLog }));
  await eventually(() => reader.get('any'));
  expect(await clientsAt(old)).toBe(2);

  await makeReplica(old, successor.port);
  target = successor.port;

  await eventually(async () => {
    await successor.ask('PUBLISH', 'channel', 'after');
    expect(seen.messages).toContain('after');
    expect(await clientsAt(old)).toBe(0);
    expect(await reader.get('any')).toBeNull();
  }, 30_000);
});

test('a subscriber for whom there is only a replica keeps what the replica sends and reconnects ever less often', async () => {
  const seen = await subscribe();
  await makeReplica(old, successor.port);
  await eventually(() => expect(seen.confirmed).toBe(3), 60_000);
  await successor.ask('PUBLISH', 'channel', 'by replication');
  await eventually(() => expect(seen.messages).toContain('by replication'));
  expect(seen.confirmed).toBe(3);
});

test('a user who may not ask for the role keeps the connection', async () => {
  await old.ask('ACL', 'SETUSER', 'few', 'on', '>password', '~*', '&*', '+@all', '-info');
  const connection = opened(connectPatient(url().replace('://', '://few:password@'), { log: silentLog }));
  // Opening the connection asks, too, and is the first.
  const refusals = async () =>
    Number(/count,(\d+),[^:]*object,info/.exec(String(await old.ask('ACL', 'LOG')))?.[1] ?? 0);
  await connection.subscribe('channel');
  let ended = 0;
  connection.on('close', () => (ended += 1));
  await eventually(async () => expect(await refusals()).toBeGreaterThan(1), 30_000);
  expect([connection.status, ended]).toEqual(['ready', 0]);
  await old.ask('ACL', 'DELUSER', 'few');
});
