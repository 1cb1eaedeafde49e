import type { Redis } from 'ioredis';

/** Redis did not send a snapshot. The message is its reply, or how the transfer ended. */
export class SnapshotFailed extends Error {
  override readonly name = 'SnapshotFailed';
}

/** Redis sends a line break at least every 10 s while it prepares the snapshot. */
const SILENCE_MAX_MS = 60_000;
const HEADER_BYTES_MAX = 1024;

/**
 * Streams the whole data of Redis in its own format (RDB), as it was at one instant after the call. It asks as a replica
 * does, so it needs an ordinary connection and the permission for SYNC, and blocks nothing: Redis forks. The connection
 * must be ready, is used for nothing else, and is closed at the end.
 *
 * @throws SnapshotFailed, or the error of the socket.
 */
export async function* snapshotOf(connection: Redis): AsyncGenerator<Buffer> {
  // Redis 7 then leaves out the changes that follow the snapshot. An older one sends them, and they are not read.
  await connection.call('REPLCONF', 'rdb-only', '1').catch(() => null);
  const { stream } = connection;
  // The reply is no reply of the protocol: the client library must not parse it.
  stream.removeAllListeners('data');
  stream.setTimeout(SILENCE_MAX_MS, () => stream.destroy(new SnapshotFailed('Redis sent nothing for a minute')));
  try {
    stream.write('SYNC\r\n');
    yield* payloadOf(stream.iterator({ destroyOnReturn: false }));
  } finally {
    // In this order: the client library waits for the end of its socket.
    connection.disconnect();
    stream.destroy();
  }
}

/** The payload of a reply `$<length>\r\n<payload>`, after any number of line breaks. */
async function* payloadOf(stream: AsyncIterableIterator<unknown>): AsyncGenerator<Buffer> {
  let header = Buffer.alloc(0);
  let missing: number | null = null;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue;
    let bytes: Buffer = chunk;
    if (missing === null) {
      header = Buffer.concat([header, bytes]);
      const start = header.findIndex((byte) => byte !== LINE_BREAK);
      const end = start < 0 ? -1 : header.indexOf('\r\n', start);
      if (end < 0 && (start < 0 || header.length < start + HEADER_BYTES_MAX)) continue;
      missing = lengthIn(header.toString('latin1', start, end));
      bytes = header.subarray(end + 2);
    }
    const part = bytes.subarray(0, missing);
    missing -= part.length;
    if (part.length > 0) yield part;
    if (missing === 0) return;
  }
  throw new SnapshotFailed('the connection closed before the snapshot was complete');
}

const LINE_BREAK = 0x0a;

function lengthIn(header: string): number {
  const length = /^\$(\d+)$/.exec(header)?.[1];
  if (length !== undefined) return Number(length);
  throw new SnapshotFailed(header.startsWith('-') ? header.slice(1) : 'Redis sent something else than a snapshot');
}
