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
  /** From the next command with this text on, Redis runs every command and no reply arrives, for so long. */
  holdRepliesFrom(text: string, heldMs: number): Promise<void>;
  /** The number of lost replies. */
  lost(): number;
  stop(): Promise<void>;
}

/** Starts the connection. The caller stops it. */
export async function startWire(redisPort: number): Promise<RedisWire> {
  const sockets = new Set<Socket>();
  let isLosing = false;
  let lost = 0;
  let holding: { readonly text: string; readonly heldMs: number; readonly over: () => void } | null = null;
  let held: (() => void)[] | null = null;
  const beginHolding = ({ heldMs, over }: NonNullable<typeof holding>) => {
    held = [];
    setTimeout(() => {
      held?.forEach((write) => write());
      held = null;
      over();
    }, heldMs);
  };
  const server: Server = createServer((asker) => {
    const answerer = connect(redisPort, '127.0.0.1');
    const cut = () => [asker, answerer].forEach((socket) => socket.destroy());
    for (const socket of [asker, answerer]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', cut);
    }
    asker.on('data', (command: Buffer) => {
      if (holding && command.includes(holding.text)) {
        beginHolding(holding);
        holding = null;
      }
      answerer.write(command);
    });
    answerer.on('data', (reply: Buffer) => {
      if (held) return void held.push(() => asker.write(reply));
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
    holdRepliesFrom: (text, heldMs) =>
      new Promise((over) => {
        holding = { text, heldMs, over };
      }),
    lost: () => lost,
    stop: async () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
}
