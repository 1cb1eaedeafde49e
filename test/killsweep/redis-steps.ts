import type { Redis } from 'ioredis';
import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { withoutTimeouts } from '../support/redis';
import type { Steps } from './steps';

/** What the client sends by itself when it connects. */
const HANDSHAKE: ReadonlySet<string> = new Set(['auth', 'client', 'hello', 'info', 'select']);
const READS: ReadonlySet<string> = new Set([
  'get',
  'hget',
  'hgetall',
  'hlen',
  'hmget',
  'hexists',
  'lrange',
  'mget',
  'scard',
  'smembers',
  'srandmember',
  'time',
  'zcard',
  'zcount',
  'zrange',
  'zrangebyscore',
  'zrank',
  'zrevrange',
  'zscore',
]);

/**
 * Connects as a worker does. Every command, every pipeline and every transaction is a step, because all parts of the
 * program send through this client.
 */
export async function connectInSteps(url: string, steps: Steps): Promise<Redis> {
  const connection = connectFailFast(url, { log: silentLog });
  await whenReady(connection, 10_000);
  // The test alone decides what is interrupted.
  withoutTimeouts(connection);
  const send = connection.sendCommand.bind(connection);
  const begunPipelines = new WeakSet<object>();
  connection.sendCommand = (command, stream) => {
    const kind = 'redis' as const;
    const step = { kind, name: nameOf(command.name, command.args), mayWrite: !READS.has(command.name) };
    const go = async () => {
      send(command, stream);
      const reply: unknown = await command.promise;
      // A script that answers with an empty list is a poll of a schedule on which nothing is due.
      if (Array.isArray(reply) && reply.length === 0) step.mayWrite = false;
      return reply;
    };
    // Without a connection a command fails without leaving this process.
    if (connection.status !== 'ready' || HANDSHAKE.has(command.name)) return send(command, stream);
    if (!stream) return steps.take(step, go);
    // A pipeline is written at once when all of its commands are there; it waits for the first of them.
    if (begunPipelines.has(stream)) return send(command, stream);
    begunPipelines.add(stream);
    step.name = `pipeline ${step.name}`;
    // The client hands the results of a pipeline out itself.
    steps.take(step, go).catch(() => {});
    return command.promise;
  };
  return connection;
}

/** A command and its first key. Scripts have their hash and the number of keys before the keys. */
function nameOf(name: string, args: readonly unknown[]): string {
  const key = name.startsWith('eval') ? args[2] : args[0];
  return typeof key === 'string' ? `${name} ${key.replace('{towhook-main}:', '')}` : name;
}
