import type { Redis } from 'ioredis';
import { silentLog } from '../../src/platform/log/log';
import { connectPatient, whenReady } from '../../src/store/redis/connect';
import { KEYS } from '../../src/store/keys';
import { keepSubscribed } from '../../src/store/ops/events';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';

/** An unhandled rejection would end a process, and fails the test that runs. */

const redis = useOwnRedis();

/** A connection that receives events, and what happened to its subscription. */
async function subscribed(): Promise<{ connection: Redis; happened: string[]; messages: string[] }> {
  const connection = connectPatient(redis.url, { log: silentLog });
  const [happened, messages]: [string[], string[]] = [[], []];
  await whenReady(connection, 5000);
  await keepSubscribed(connection, [KEYS.events], {
    message: (_channel, message) => messages.push(message),
    subscribed: () => happened.push('subscribed'),
    refused: (error) => happened.push(String(error)),
  });
  return { connection, happened, messages };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('a connection that is closed before it has subscribed again causes no unhandled rejection', async () => {
  const { connection } = await subscribed();
  const subscribe = connection.subscribe.bind(connection);
  const again = jest.spyOn(connection, 'subscribe').mockImplementation((...channels) => {
    const reply = subscribe(...channels);
    connection.disconnect();
    return reply;
  });
  const ended = new Promise((resolve) => connection.once('end', resolve));
  await redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await ended;
  await nextTurn();
  expect(again).toHaveBeenCalledTimes(1);
});

test('after a reconnect a connection gets messages again, and tells that it may have missed some', async () => {
  const { connection, happened, messages } = await subscribed();
  try {
    expect(happened).toEqual(['subscribed']);
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(() => expect(happened).toEqual(['subscribed', 'subscribed']));
    await redis.ask('PUBLISH', KEYS.events, 'after the reconnect');
    await eventually(() => expect(messages).toEqual(['after the reconnect']));
  } finally {
    connection.disconnect();
  }
});

test('a subscription that Redis refuses after a reconnect is reported, and made as soon as Redis allows it', async () => {
  const { connection, happened } = await subscribed();
  try {
    // Redis closes the connections of users that may no longer read a channel they have subscribed to.
    await redis.ask('ACL', 'SETUSER', 'default', 'resetchannels');
    await eventually(() => expect(happened).toContainEqual(expect.stringContaining('NOPERM')));
    await redis.ask('ACL', 'SETUSER', 'default', 'allchannels');
    await eventually(() => expect(happened.at(-1)).toBe('subscribed'), 30_000);
  } finally {
    connection.disconnect();
    await redis.ask('ACL', 'SETUSER', 'default', 'allchannels');
  }
});
