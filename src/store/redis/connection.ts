import { Redis, ReplyError, type Command } from 'ioredis';
import { ConfigurationError } from '../../platform/config/config';
import type { DataKeys } from '../../platform/data-keys';
import { errorMessage } from '../../platform/errors';
import { readReply } from './at-rest';

/** Redis has not the database of REDIS_URL, or does not let the user select it. */
export class DatabaseRefused extends ConfigurationError {
  constructor(reply: string) {
    super([{ variable: 'REDIS_URL', rule: `names a database that Redis refuses: ${reply}` }]);
  }
}

/**
 * A connection that closes a socket once. After a failover every pending command is answered with READONLY, and ioredis
 * would close the same socket for each of them, each time with a new timer and listener.
 */
export class RedisConnection extends Redis {
  private readonly closedSockets = new WeakSet<object>();
  private corked: object | null = null;
  /** Whether the last reply showed a replica. Between two sockets there is no other information. */
  wasReplica = false;
  /** How many replicas must have a write before it is acknowledged; 0: the master alone. */
  minReplicas = 0;
  /** What personal data is encrypted with; null: it is not. */
  dataKeys: DataKeys | null = null;

  /** Every command goes through here, those of pipelines too. Its reply is decrypted. */
  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    if (this.dataKeys !== null) readReplyOf(this, command);
    this.joinWrites();
    return super.sendCommand(command, stream);
  }

  /**
   * The commands of one turn of the event loop are written together: a worker that takes in webhooks spent a quarter of its
   * CPU time on the system calls of single commands. Later than the next tick, so that a commit and the jobs that it
   * causes, which BullMQ adds some promises later, reach Redis together and wait for one sync to the disk.
   */
  private joinWrites(): void {
    const { stream } = this;
    if (!stream || stream === this.corked) return;
    this.corked = stream;
    stream.cork();
    setImmediate(() => {
      this.corked = null;
      stream.uncork();
    });
  }

  /** Closes the socket of a refused database, because ioredis would use database 0 instead. */
  override async select(database: number | string): Promise<'OK'> {
    try {
      return await super.select(database);
    } catch (error) {
      // Without a password everything is refused, and ioredis closes the socket itself.
      if (!(error instanceof ReplyError) || errorMessage(error).startsWith('NOAUTH')) throw error;
      this.disconnect(true);
      throw new DatabaseRefused(errorMessage(error));
    }
  }

  override disconnect(reconnect = false): void {
    if (reconnect && this.stream) {
      if (this.closedSockets.has(this.stream)) return;
      this.closedSockets.add(this.stream);
    }
    super.disconnect(reconnect);
  }

  /** The socket in use: another one may lead to another server. */
  get socket(): object | undefined {
    return this.stream;
  }
}

const decrypted = new WeakSet<Command>();

/** Decrypts the reply of a command before it is resolved. A command that waits for its connection comes here twice. */
function readReplyOf(redis: Redis, command: Command): void {
  if (decrypted.has(command)) return;
  decrypted.add(command);
  const transform = command.transformReply.bind(command);
  const value = (reply: Parameters<typeof transform>[0]) =>
    readReply(redis, command.name, command.args, transform(reply));
  Object.defineProperty(command, 'transformReply', { value });
}
