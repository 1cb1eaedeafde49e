import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ImageOnDisk } from '../../src/workflow/service/service-port';
import { eventually } from '../support/eventually';
import { clientFor, clientWithToken, closeClients, REQUESTS } from './client-under-test';
import { enveloped, startFakeService, startRawServer, type FakeService } from './fake-service';

const VIOLATION = { violation_reference_id: 'V-20250101-ABC123', status: 'PENDING', metadata: { id: 'm-1' } };

let fake: FakeService;
let folder: string;
beforeEach(async () => {
  fake = await startFakeService();
  fake.onCall(() => enveloped(VIOLATION));
  folder = mkdtempSync(join(tmpdir(), 'towhook-images-'));
});
afterEach(async () => {
  closeClients();
  await fake.stop();
  rmSync(folder, { recursive: true });
});

function imageFile(name: string, bytes: Buffer): ImageOnDisk {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return { path, fileName: name, contentType: 'image/jpeg', sizeBytes: bytes.length };
}

describe('images of violations', () => {
  it('a violation whose image file is missing or damaged is surely not sent', async () => {
    const image = imageFile('front.jpg', randomBytes(1000));
    const client = clientFor(fake.url);
    for (const broken of [
      { ...image, sizeBytes: 999 },
      { ...image, path: join(folder, 'gone.jpg') },
    ]) {
      const submission = { form: REQUESTS.violation, images: [image, broken] };
      const { exchange } = await client.submitViolation('violation', submission);
      expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'image_unreadable' });
    }
    expect(fake.calls).toHaveLength(0);
  });

  it.each([
    ['fewer', 999],
    ['more', 1001],
  ])('a violation whose image has %s bytes than announced ends before its last byte', async (_, sizeBytes) => {
    const open = () => Readable.from([Buffer.alloc(1000)]);
    const images = [{ open, fileName: 'a.jpg', contentType: 'image/jpeg', sizeBytes }];
    const { exchange } = await clientFor(fake.url).submitViolation('violation', { form: REQUESTS.violation, images });
    expect(exchange).toEqual({ kind: 'partly_sent', cause: 'body_length_wrong' });
  });

  it('a violation whose image is longer than announced sends no byte past its end', async () => {
    const server = await startRawServer(() => {});
    const open = () => Readable.from([Buffer.alloc(1000, 'a'), Buffer.alloc(1000, 'b')]);
    const images = [{ open, fileName: 'a.jpg', contentType: 'image/jpeg', sizeBytes: 1001 }];
    await (await clientWithToken(server.url)).submitViolation('violation', { form: REQUESTS.violation, images });
    await server.closed(1);
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).not.toContain('bbbbb');
    await server.stop();
  });

  it('a violation whose image fails during reading ends at once', async () => {
    const open = () =>
      new Readable({
        read() {
          this.destroy(new Error('disk failed'));
        },
      });
    const images = [{ open, fileName: 'a.jpg', contentType: 'image/jpeg', sizeBytes: 10 }];
    const { exchange } = await clientFor(fake.url).submitViolation('violation', { form: REQUESTS.violation, images });
    expect(exchange).toEqual({ kind: 'partly_sent', cause: 'body_unreadable' });
  });

  /** An image of many small pieces that knows how much of it was taken. */
  const countedImage = (sizeBytes: number) => {
    const taken = { bytes: 0, streams: [] as Readable[] };
    const open = () => {
      const stream = Readable.from(
        (function* () {
          for (; taken.bytes < sizeBytes; taken.bytes += 10_000) yield Buffer.alloc(10_000);
        })(),
      );
      taken.streams.push(stream);
      return stream;
    };
    return { taken, image: { open, fileName: 'a.jpg', contentType: 'image/jpeg', sizeBytes } };
  };

  it('an image is read only as fast as the service receives it, and closed at the deadline', async () => {
    const server = await startRawServer((socket) => socket.pause());
    const client = await clientWithToken(server.url, { upload: { timeoutMs: 500 } });
    // Repeated, because the deadline also runs while the connection opens.
    const { taken, exchange } = await eventually(async () => {
      const counted = countedImage(50_000_000);
      const submission = { form: REQUESTS.violation, images: [counted.image] };
      const result = await client.submitViolation('violation', submission);
      expect(counted.taken.bytes).toBeGreaterThan(0);
      return { ...result, taken: counted.taken };
    });
    await server.stop();
    expect(exchange).toEqual({ kind: 'partly_sent', cause: 'timeout' });
    expect(taken.bytes).toBeLessThan(25_000_000);
    expect(taken.streams.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  it('a violation that is refused before it was sent whole ends at once, and the rest is not sent', async () => {
    const body = '{"message":"Image size exceeds limit"}';
    const server = await startRawServer((socket, { chunk }) => {
      if (chunk > 1) return;
      socket.pause();
      socket.write(`HTTP/1.1 400 Bad Request\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const { taken, image } = countedImage(50_000_000);
    const { exchange } = await (
      await clientWithToken(server.url)
    ).submitViolation('violation', {
      form: REQUESTS.violation,
      images: [image],
    });
    expect(exchange).toMatchObject({ kind: 'refused', httpStatus: 400, message: 'Image size exceeds limit' });
    expect(taken.streams.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(taken.bytes).toBeLessThan(25_000_000);
    await server.stop();
  });
});
