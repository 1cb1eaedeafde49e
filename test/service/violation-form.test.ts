import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ImageOnDisk } from '../../src/workflow/service/service-port';
import { clientFor, closeClients, REQUESTS, clientWithToken } from './client-under-test';
import { enveloped, json, startFakeService, startRawServer, type FakeService } from './fake-service';
import { eventually } from '../support/eventually';

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

/** What the form should look like on the wire, written by hand. */
function expectedForm(boundary: string, parts: readonly { readonly head: string; readonly body: Buffer }[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap(({ head, body }) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      body,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

const field = (name: string, text: string) => ({ head: `name="${name}"`, body: Buffer.from(text) });

function boundaryOf(contentType: string | undefined): string {
  const match = /^multipart\/form-data; boundary=(\S+)$/.exec(contentType ?? '');
  if (!match?.[1]) throw new Error('no boundary');
  return match[1];
}

function imageFile(name: string, bytes: Buffer): ImageOnDisk {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return { path, fileName: name, contentType: 'image/jpeg', sizeBytes: bytes.length };
}

describe('forms of violations', () => {
  it('a violation is sent with the text of its metadata unchanged', async () => {
    const metadataText = '{ "id":"m-1", "big": 12345678901234567890,\n "price":1.50, "__proto__":null }';
    await clientFor(fake.url).submitViolation('violation', { form: REQUESTS.violation, metadataText, images: [] });
    const body = fake.calls[0]?.body.toString() ?? '';
    expect(body).toContain(`name="metadata"\r\n\r\n${metadataText}\r\n--`);
    expect(body.split('name="metadata"')).toHaveLength(2);
  });

  it('a violation arrives byte for byte: fields in order as text, metadata as JSON, images under one name', async () => {
    const first = randomBytes(300_000);
    const second = randomBytes(70_001);
    const images: ImageOnDisk[] = [
      imageFile('front.jpg', first),
      {
        open: () => Readable.from([second.subarray(0, 1000), second.subarray(1000)]),
        fileName: 'rear.png',
        contentType: 'image/png',
        sizeBytes: second.length,
      },
    ];
    const result = await clientFor(fake.url).submitViolation('violation', { form: REQUESTS.violation, images });
    expect(result).toMatchObject({ exchange: { kind: 'accepted', httpStatus: 200 }, data: VIOLATION });
    const [call] = fake.calls;
    expect(call).toMatchObject({ method: 'POST', url: '/v1/violations/public' });
    const expected = expectedForm(boundaryOf(call?.headers['Content-Type']), [
      field('date', '2025-01-01T08:30:00Z'),
      field('latitude', '24.7136'),
      field('longitude', '-0.5'),
      field('location', 'شارع التحلية, gate 4\r\nsecond line'),
      field('plateNumber', 'ABC 1234'),
      field('plateType', 'PRIVATE'),
      field('zoneId', '8f14e45f-ceea-467f-a8d7-3f2a1c9b0e11'),
      field('violationType', 'WRONG_PARKING'),
      field('isSaudi', 'false'),
      field('metadata', '{"id":"m-1","note":"a \\"quoted\\" note"}'),
      field('fullName', 'Reporter Name'),
      { head: 'name="images"; filename="front.jpg"\r\nContent-Type: image/jpeg', body: first },
      { head: 'name="images"; filename="rear.png"\r\nContent-Type: image/png', body: second },
    ]);
    expect(call?.body.equals(expected)).toBe(true);
    expect(call?.headers).toEqual({
      Host: fake.url.slice('http://'.length),
      Connection: 'keep-alive',
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': 'towhook',
      Authorization: 'Bearer token-1',
      'Content-Type': call?.headers['Content-Type'],
      'Content-Length': String(expected.length),
    });
  });

  it('a violation of the guide form has its four fields, and its answer is read bare', async () => {
    fake.onCall(() => json({ id: 'v-1', canTow: true }));
    const result = await clientFor(fake.url).call('violation_guide', REQUESTS.violation_guide);
    expect(result.data).toEqual({ id: 'v-1', canTow: true });
    const [call] = fake.calls;
    expect(call).toMatchObject({ method: 'POST', url: '/violation/public/create' });
    const expected = expectedForm(boundaryOf(call?.headers['Content-Type']), [
      field('plateNumber', 'ABC 1234'),
      field('plateType', 'TAXI'),
      field('zoneId', '8f14e45f-ceea-467f-a8d7-3f2a1c9b0e11'),
      field('violationType', 'NO_TICKET'),
    ]);
    expect(call?.body.toString()).toBe(expected.toString());
  });

  it('a violation of ten megabytes arrives whole, and each image is opened after the previous one was read', async () => {
    let unread = 0;
    let mostUnread = 0;
    const bytes = randomBytes(5 * 1024 * 1024 - 1);
    const image: Omit<Extract<ImageOnDisk, { open: unknown }>, 'open'> = {
      fileName: 'a.jpg',
      contentType: 'image/jpeg',
      sizeBytes: bytes.length,
    };
    const open = () => {
      unread += 1;
      mostUnread = Math.max(mostUnread, unread);
      return Readable.from(
        (function* () {
          for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
          unread -= 1;
        })(),
      );
    };
    const images = [
      { ...image, open },
      { ...image, open },
    ];
    const result = await clientFor(fake.url).submitViolation('violation', { form: REQUESTS.violation, images });
    expect(result.exchange.kind).toBe('accepted');
    expect(mostUnread).toBe(1);
    const body = fake.calls[0]?.body ?? Buffer.alloc(0);
    expect(String(body.length)).toBe(fake.calls[0]?.headers['Content-Length']);
    // The bytes of the image are random, so only its end can be found by what surrounds it.
    const end = body.lastIndexOf('\r\n--');
    const tail = body.subarray(end - bytes.length, end);
    expect(createHash('sha256').update(tail).digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('a violation is sent whole a second time after a 401', async () => {
    fake.onCall((_, nth) => (nth === 1 ? json({ message: 'Unauthorized' }, 401) : enveloped(VIOLATION)));
    const images = [imageFile('front.jpg', randomBytes(100_000))];
    const result = await clientFor(fake.url).submitViolation('violation', { form: REQUESTS.violation, images });
    expect(result.exchange.kind).toBe('accepted');
    expect(fake.calls).toHaveLength(2);
    const [first, second] = fake.calls.map(({ body, headers }) =>
      body.toString('latin1').replaceAll(boundaryOf(headers['Content-Type']), 'boundary'),
    );
    expect(second).toBe(first);
  });

  it('the name or type of an image cannot forge the form of a violation', async () => {
    const forged: ImageOnDisk = {
      open: () => Readable.from([Buffer.from('x')]),
      fileName: 'a"; name="plateNumber"\r\n\r\nevil.jpg',
      contentType: 'image/jpeg\r\nX-Forged: 1',
      sizeBytes: 1,
    };
    await clientFor(fake.url).submitViolation('violation_guide', {
      form: REQUESTS.violation_guide,
      images: [forged],
    });
    const body = fake.calls[0]?.body.toString() ?? '';
    expect(body.match(/^Content-Disposition: .*name="plateNumber"/gm)).toHaveLength(1);
    expect(body).toContain('Content-Type: application/octet-stream');
    expect(body).not.toContain('X-Forged');
  });

  it("a violation that the service refuses is refused with the service's message", async () => {
    fake.onCall(() => json({ message: 'Image size exceeds limit' }, 400));
    const result = await clientFor(fake.url).submitViolation('violation', {
      form: REQUESTS.violation,
      images: [imageFile('front.jpg', randomBytes(1000))],
    });
    expect(result.exchange).toMatchObject({ kind: 'refused', httpStatus: 400, message: 'Image size exceeds limit' });
  });
});

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
