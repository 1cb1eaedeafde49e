import type { Server, Socket } from 'node:net';
import { ask, NoReply, NotRedis, probe } from '../../src/embedded-redis/probe';
import { useOwnRedis } from '../support/redis';
import { serveTcp } from './listening';

describe('asking a Redis server', () => {
  const redis = useOwnRedis();

  test('ask reads every kind of Redis reply', async () => {
    expect(await redis.ask('SET', 'key', 'straße\r\n')).toBe('OK');
    expect(await redis.ask('GET', 'key')).toBe('straße\r\n');
    expect(await redis.ask('GET', 'nothing')).toBeNull();
    expect(await redis.ask('RPUSH', 'list', 'a', 'b')).toBe(2);
    expect(await redis.ask('LRANGE', 'list', '0', '-1')).toEqual(['a', 'b']);
    expect(await redis.ask('EVAL', "return {1, {'two', false}}", '0')).toEqual([1, ['two', null]]);
  });

  test('ask reads a Redis reply that is larger than one packet', async () => {
    const large = 'x'.repeat(1_000_000);
    await redis.ask('SET', 'large', large);
    expect(await redis.ask('GET', 'large')).toBe(large);
  });

  test('ask throws an error reply of Redis with its text', async () => {
    const asked = redis.ask('NONSENSE');
    await expect(asked).rejects.toHaveProperty('name', 'ReplyError');
    await expect(asked).rejects.toThrow('unknown command');
  });

  test('a running Redis server is recognised by its working folder', async () => {
    expect(await probe(redis.port, redis.folder)).toEqual({ state: 'ready', processId: redis.processId });
    expect(await probe(redis.port, '/elsewhere')).toEqual({ state: 'foreign' });
  });

  test('a frozen Redis server is seen as silent and a killed one as absent', async () => {
    redis.freeze();
    expect(await probe(redis.port, redis.folder, 100)).toEqual({ state: 'silent' });
    await redis.kill();
    expect(await probe(redis.port, redis.folder)).toEqual({ state: 'absent' });
  });
});

describe('asking something else', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  test('a web server on the port of Redis is seen as foreign', async () => {
    const port = await listening((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expect(ask(port, ['PING'])).rejects.toThrow(NotRedis);
    expect(await probe(port, '/data')).toEqual({ state: 'foreign' });
  });

  test('a Redis that replies with an error is not taken for another program', async () => {
    const port = await listening((socket) => socket.end('-NOAUTH Authentication required.\r\n'));
    expect(await probe(port, '/data')).toEqual({ state: 'silent' });
  });

  test('a program on the port of Redis that closes connections is seen as foreign', async () => {
    const port = await listening((socket) => socket.end());
    expect(await probe(port, '/data')).toEqual({ state: 'foreign' });
  });

  test('asking a program that sends no answer ends with the timeout', async () => {
    const port = await listening(() => {});
    await expect(ask(port, ['PING'], 50)).rejects.toThrow(NoReply);
  });

  test('a Redis server that still loads its data is seen as loading', async () => {
    const port = await listening((socket) =>
      socket.on('data', (data) => {
        const command = data.toString();
        if (command.includes('CONFIG')) socket.write('*2\r\n$3\r\ndir\r\n$5\r\n/data\r\n');
        else if (command.includes('INFO')) socket.write('$15\r\nprocess_id:17\r\n\r\n');
        else socket.write('-LOADING Redis is loading the dataset in memory\r\n');
      }),
    );
    expect(await probe(port, '/data')).toEqual({ state: 'loading', processId: 17 });
  });

  async function listening(onConnection: (socket: Socket) => void): Promise<number> {
    const served = await serveTcp(onConnection);
    ({ server } = served);
    return served.port;
  }
});
