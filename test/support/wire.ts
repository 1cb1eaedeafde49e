import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { portOf } from './server-port';

/**
 * A connection to Redis on which one reply can be lost: Redis has run the command, and the client sees a closed
 * connection.
 */
export interface RedisWire {
  readonly port: number;
  loseNextReply(): void;
  /** The number of lost replies. */
  lost(): number;
  stop(): Promise<void>;
}

/** Starts the connection. The caller stops it. */
export async function startWire(redisPort: number): Promise<RedisWire> {
  const sockets = new Set<Socket>();
  let isLosing = false;
  let lost = 0;
  const server: Server = createServer((asker) => {
    const answerer = connect(redisPort, '127.0.0.1');
    const cut = () => [asker, answerer].forEach((socket) => socket.destroy());
    for (const socket of [asker, answerer]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', cut);
    }
    asker.pipe(answerer);
    answerer.on('data', (reply: Buffer) => {
      // The client answers NOSCRIPT by sending the script; nothing was done yet.
      if (!isLosing || reply.toString().startsWith('-NOSCRIPT')) {
        asker.write(reply);
        return;
      }
      isLosing = false;
      lost += 1;
      cut();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server),
    loseNextReply: () => {
      isLosing = true;
    },
    lost: () => lost,
    stop: async () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
}
