import { createConnection } from 'node:net';

/** A reply of Redis, as plain values. */
export type RedisReply = string | number | null | readonly RedisReply[];

/** Redis replied with an error, or the server does not speak the Redis protocol. */
export class ReplyError extends Error {
  override readonly name: string = 'ReplyError';
}

/** Redis replied with an error (`LOADING …`, `NOAUTH …`). */
export class ErrorReply extends ReplyError {
  override readonly name = 'ErrorReply';
}

/** The server accepted the connection and did not reply in time. */
export class NoReply extends Error {
  override readonly name = 'NoReply';
}

/**
 * Sends one command to the server on `127.0.0.1:port` over a new connection. Used to identify a server before a client
 * connects to it; needs no client library.
 *
 * @throws ReplyError, NoReply after `timeoutMs`, or the error of the socket (`ECONNREFUSED`).
 */
export function ask(port: number, command: readonly string[], timeoutMs = 1_000): Promise<RedisReply> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    let received = Buffer.alloc(0);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    const timer = setTimeout(
      () => end(() => reject(new NoReply(`no reply from port ${port} within ${timeoutMs} ms`))),
      timeoutMs,
    );
    socket.on('connect', () => socket.write(encode(command)));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      try {
        const parsed = parse(received, 0);
        if (parsed !== null) end(() => resolve(parsed.reply));
      } catch (error) {
        end(() => reject(error));
      }
    });
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('close', () => end(() => reject(new ReplyError(`port ${port} closed the connection without a reply`))));
  });
}

function encode(command: readonly string[]): string {
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${command.length}\r\n${parts.join('')}`;
}

/** Null while the reply is not complete. */
function parse(bytes: Buffer, start: number): { reply: RedisReply; next: number } | null {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd < 0) {
    if (bytes.length - start > 1_024) throw new ReplyError('not a Redis reply');
    return null;
  }
  const line = bytes.toString('utf8', start + 1, lineEnd);
  const next = lineEnd + 2;
  switch (String.fromCharCode(bytes[start] ?? 0)) {
    case '+':
      return { reply: line, next };
    case '-':
      throw new ErrorReply(line);
    case ':':
      return { reply: Number(line), next };
    case '$':
      return parseBulk(bytes, next, Number(line));
    case '*':
      return parseArray(bytes, next, Number(line));
    default:
      throw new ReplyError('not a Redis reply');
  }
}

function parseBulk(bytes: Buffer, start: number, length: number): { reply: RedisReply; next: number } | null {
  if (length < 0) return { reply: null, next: start };
  const end = start + length;
  return bytes.length < end + 2 ? null : { reply: bytes.toString('utf8', start, end), next: end + 2 };
}

function parseArray(bytes: Buffer, start: number, count: number): { reply: RedisReply; next: number } | null {
  const replies: RedisReply[] = [];
  let next = start;
  for (let index = 0; index < count; index += 1) {
    const item = parse(bytes, next);
    if (item === null) return null;
    replies.push(item.reply);
    next = item.next;
  }
  return { reply: replies, next };
}
