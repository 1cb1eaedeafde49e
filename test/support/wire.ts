import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire to Redis on which one reply can be lost: Redis has done what it was asked, and the asker hears of a cut. */
export interface Wire {
  readonly port: number;
  loseNextReply(): void;
  /** How many replies were lost. */
  lost(): number;
  stop(): Promise<void>;
}

/** Whoever starts it stops it. */
export async function startWire(redisPort: number): Promise<Wire> {
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
      // "I do not know this script" is answered by a client that sends the script; nothing was done yet.
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
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
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
