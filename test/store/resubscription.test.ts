import type { Redis } from 'ioredis';
import { silentLog, type Log } from '../../src/platform/log';
import { connectPatient, whenReady } from '../../src/store/connect';
import { subscribeToEvents } from '../../src/store/notifications';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';

/**
 * The client library subscribes again after each reconnect and awaits nothing. An unhandled rejection ends a process, and
 * fails the test that runs.
 */

const redis = useOwnRedis();

/** Opens a connection that receives events. */
async function subscribed(log: Log): Promise<Redis> {
  const subscriber = connectPatient(redis.url, { log });
  await whenReady(subscriber, 5000);
  await subscribeToEvents(subscriber, () => undefined);
  return subscriber;
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('a connection that is closed before it has subscribed again causes no unhandled rejection', async () => {
  const subscriber = await subscribed(silentLog);
  const send = subscriber.sendCommand.bind(subscriber);
  // The library subscribes again when the reply to INFO arrives, here on a socket that is already closing.
  const sent = jest.spyOn(subscriber, 'sendCommand').mockImplementation((command, stream) => {
    const reply = send(command, stream);
    if (command.name === 'info') subscriber.disconnect();
    return reply;
  });
  const ended = new Promise((resolve) => subscriber.once('end', resolve));
  await redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await ended;
  await nextTurn();
  expect(sent.mock.calls.map(([{ name }]) => name)).toContain('subscribe');
});

test('a subscription that Redis refuses after a reconnect is logged and ends no process', async () => {
  const errors: unknown[] = [];
  const subscriber = await subscribed({ ...silentLog, error: (_event, fields) => void errors.push(fields?.['error']) });
  try {
    // Redis closes the connections of users that may no longer read a channel they have subscribed to.
    await redis.ask('ACL', 'SETUSER', 'default', 'resetchannels');
    await eventually(() => expect(errors).toContainEqual(expect.stringContaining('NOPERM')));
    await nextTurn();
  } finally {
    subscriber.disconnect();
  }
});
