import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pause } from '../../src/platform/timers';
import type { UploadLimits } from '../../src/service';
import type { CallOptions } from '../../src/workflow/service/service-port';
import { eventually } from '../support/eventually';
import { clientWithToken, closeClients, REQUESTS } from './client-under-test';
import { enveloped, startFakeService, startRawServer, type RawServer } from './fake-service';

/** More than the buffers of the system between client and server. */
const LARGE_BYTES = 9_000_000;
/** A call without images would end after this time. */
const TIMEOUT_MS = 400;
const ANSWER = enveloped({ violation_reference_id: 'V-1', status: 'PENDING', metadata: { id: 'm-1' } }).body ?? '';

let server: RawServer | null = null;
afterEach(async () => {
  closeClients();
  await server?.stop();
  server = null;
});

function imageOf(sizeBytes: number) {
  const open = () => Readable.from([Buffer.alloc(sizeBytes)]);
  return { open, fileName: 'a.jpg', contentType: 'image/jpeg', sizeBytes };
}

async function upload(
  url: string,
  sizeBytes: number,
  { stop, mayGoOn, ...limits }: Partial<UploadLimits> & Pick<CallOptions, 'stop' | 'mayGoOn'> = {},
) {
  const client = await clientWithToken(url, { timeoutMs: TIMEOUT_MS, upload: limits });
  const submission = { form: REQUESTS.violation, images: [imageOf(sizeBytes)] };
  return client.submitViolation('violation', submission, { ...(stop && { stop }), ...(mayGoOn && { mayGoOn }) });
}

/** Reads a piece, rests, and reads the next one. */
function readSlowly(socket: Socket): void {
  socket.pause();
  void pause(10).then(() => socket.resume());
}

describe('a call with images', () => {
  it('takes longer than other calls while bytes flow', async () => {
    let receivedBytes = 0;
    server = await startRawServer(
      readSlowly,
      (socket) =>
        void socket.on('data', (chunk: Buffer) => {
          receivedBytes += chunk.length;
          if (receivedBytes < LARGE_BYTES || !chunk.toString('latin1').endsWith('--\r\n')) return;
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(ANSWER)}\r\n\r\n${ANSWER}`);
        }),
    );
    const { exchange, durationMs } = await upload(server.url, LARGE_BYTES, { silenceMs: 10_000 });
    expect(exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
    expect(durationMs).toBeGreaterThan(TIMEOUT_MS);
  });

  it('ends without progress, and is then only partly sent', async () => {
    server = await startRawServer((socket) => socket.pause());
    const result = await upload(server.url, LARGE_BYTES, { silenceMs: 200 });
    expect(result.exchange).toEqual({ kind: 'partly_sent', cause: 'stalled' });
    // The service has counted it, although it did not get all of it.
    expect(result).toMatchObject({ wasSent: true, isPermitSpent: true });
  });

  it('ends at its overall limit although bytes flow', async () => {
    // Repeated, because the limit also runs while the connection opens.
    const { exchange } = await eventually(async () => {
      await server?.stop();
      server = await startRawServer(readSlowly);
      const result = await upload(server.url, LARGE_BYTES * 2, { timeoutMs: 500, silenceMs: 10_000 });
      expect(server.received.join('')).not.toBe('');
      return result;
    });
    expect(exchange).toEqual({ kind: 'partly_sent', cause: 'timeout' });
  });

  it('is partly sent when its connection breaks before the last byte', async () => {
    server = await startRawServer((socket) => socket.resetAndDestroy());
    const { exchange } = await upload(server.url, LARGE_BYTES);
    expect(exchange).toEqual({ kind: 'partly_sent', cause: 'connection_reset' });
  });

  it.each([408, 503, 504])('is partly sent when it is answered with %s before the last byte', async (status) => {
    server = await startRawServer((socket) => {
      socket.pause();
      socket.write(`HTTP/1.1 ${status} Given Up\r\nContent-Length: 0\r\n\r\n`);
    });
    const { exchange } = await upload(server.url, LARGE_BYTES);
    expect(exchange).toMatchObject({ kind: 'refused', httpStatus: status, isPartlySent: true });
  });

  it('is partly sent when it is stopped before the last byte', async () => {
    const stopping = new AbortController();
    server = await startRawServer((socket) => {
      socket.pause();
      stopping.abort();
    });
    const { exchange } = await upload(server.url, LARGE_BYTES, { stop: stopping.signal });
    expect(exchange).toEqual({ kind: 'partly_sent', cause: 'stopped' });
  });

  it('is partly sent when it may not go on after a piece', async () => {
    const fake = await startFakeService();
    let pieces = 0;
    const mayGoOn = () => (pieces += 1) < 3;
    const { exchange } = await upload(fake.url, LARGE_BYTES, { mayGoOn });
    expect(exchange).toEqual({ kind: 'partly_sent', cause: 'stopped' });
    expect(fake.calls).toHaveLength(0);
    await fake.stop();
  });

  it('is surely not sent when it was stopped before it began', async () => {
    const fake = await startFakeService();
    const { exchange } = await upload(fake.url, 1000, { stop: AbortSignal.abort() });
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'stopped' });
    expect(fake.calls).toHaveLength(0);
    await fake.stop();
  });

  it.each([
    ['the connection is reset', (socket: Socket) => socket.resetAndDestroy(), 'connection_reset', 10_000],
    ['the service stays silent', () => {}, 'stalled', 200],
  ])('is unanswered when %s after the last byte', async (_, onWhole, cause, silenceMs) => {
    // Repeated, because on a slow machine the time without progress may be over before the last byte.
    const { exchange } = await eventually(async () => {
      await server?.stop();
      let isWhole = false;
      server = await startRawServer((socket) => {
        if (server?.received[0]?.endsWith('--\r\n') !== true) return;
        isWhole = true;
        onWhole(socket);
      });
      const result = await upload(server.url, 100_000, { silenceMs });
      expect(isWhole).toBe(true);
      return result;
    });
    expect(exchange).toEqual({ kind: 'unanswered', cause });
  });
});
