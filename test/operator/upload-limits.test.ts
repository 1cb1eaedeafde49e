import { setTimeout as pause } from 'node:timers/promises';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { imageOf } from '../support/images';
import { errorOf } from './client';
import {
  answerOf,
  BOUNDARY,
  chunk,
  clearDisk,
  FORM_TAIL,
  formHead,
  formOf,
  imagesOnDisk,
  postForm,
  rawClient,
  report,
  REQUIRED,
  violationIn,
} from './forms';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));
afterEach(() =>
  eventually(async () => {
    if ((await incoming()).length > 0) throw new Error('something of an upload stayed on the disk');
  }),
);

const MIB = 1024 * 1024;
const PATH = '/api/violations';

async function incoming(): Promise<string[]> {
  return (await imagesOnDisk(app)).filter((path) => path.startsWith('incoming'));
}

const TOO_LARGE = {
  code: 'images_too_large',
  details: [{ field: 'images', rule: 'must be at most 10485760 bytes in all' }],
};

describe('images of 10 MiB in all', () => {
  it('are taken, in one file or in several', async () => {
    violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: imageOf(10 * MIB) }]));
    const three = [4 * MIB, 4 * MIB, 2 * MIB].map((size, at) => ({ name: `${at}.png`, bytes: imageOf(size) }));
    const { images } = violationIn(await report(app, REQUIRED, three));
    expect(images.map(({ size_bytes }) => size_bytes)).toEqual([4 * MIB, 4 * MIB, 2 * MIB]);
  });

  it('are refused 413 with one byte more, in one file or in several', async () => {
    for (const sizes of [[10 * MIB + 1], [5 * MIB, 5 * MIB, 100]]) {
      const files = sizes.map((size, at) => ({ name: `${at}.png`, bytes: imageOf(size) }));
      const answer = await report(app, REQUIRED, files);
      expect([answer.status, errorOf(answer)]).toMatchObject([413, TOO_LARGE]);
    }
    await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  });
});

describe('11 MB of images', () => {
  const bytes = imageOf(11_000_000);

  it('are refused 413 with the rule to a client that says how much it sends', async () => {
    const answer = await report(app, REQUIRED, [{ name: 'a.png', bytes }]);
    expect([answer.status, errorOf(answer)]).toMatchObject([413, TOO_LARGE]);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await imagesOnDisk(app)).toEqual([]);
  });

  it('are refused 413 with the rule to a client that does not say how much it sends', async () => {
    async function* body() {
      yield Buffer.from(formHead());
      for (let at = 0; at < bytes.length; at += 65_536) yield await Promise.resolve(bytes.subarray(at, at + 65_536));
      yield Buffer.from(FORM_TAIL);
    }
    const response = await fetch(`${app.consoleUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: ReadableStream.from(body()),
      duplex: 'half',
    });
    expect([response.status, await response.json()]).toMatchObject([413, TOO_LARGE]);
  });

  it('are refused before the first byte of the body when the length tells', async () => {
    const client = await rawClient(app, { path: PATH, headers: { 'content-length': '11000000' } });
    expect(await answerOf(client)).toMatchObject({ status: 413, body: TOO_LARGE });
    client.socket.destroy();
  });

  it('are refused at the crossing byte, not earlier and not later', async () => {
    const client = await rawClient(app, { path: PATH, headers: { 'transfer-encoding': 'chunked' } });
    await client.write(chunk(formHead()));
    for (let sent = 0; sent < 10 * MIB; sent += MIB) await client.write(chunk(imageOf(MIB)));
    await eventually(async () => expect(await incoming()).toHaveLength(1));
    await pause(100);
    expect(client.answered()).toBe('');
    await client.write(chunk('x'));
    expect(await answerOf(client)).toMatchObject({ status: 413, body: TOO_LARGE });
    client.socket.destroy();
  });

  it.each([
    ['that says how much it sends', { 'content-length': '11000000' }],
    ['that does not', { 'transfer-encoding': 'chunked' }],
  ])('a slow client %s, still writing, sees the answer; then the connection ends', async (_what, headers) => {
    const client = await rawClient(app, { path: PATH, headers });
    const frame = 'content-length' in headers ? (piece: Buffer | string) => Buffer.from(piece) : chunk;
    await client.write(frame(formHead()));
    let written = 0;
    let answeredAtMs: number | null = null;
    // It writes on whatever it hears, as programs do that read only after they have written.
    while (await client.write(frame(bytes.subarray(0, 200_000)))) {
      written += 200_000;
      if (client.answered() !== '') answeredAtMs ??= performance.now();
      await pause(10);
    }
    await client.closed;
    const answer = await answerOf(client);
    expect(answer).toMatchObject({ status: 413, body: TOO_LARGE });
    expect(answer.head.toLowerCase()).toContain('connection: close');
    expect(written).toBeGreaterThan(1_000_000);
    expect(performance.now() - (answeredAtMs ?? 0)).toBeLessThan(4000);
  });

  it('a client that ends its form after the answer is let go at once', async () => {
    const client = await rawClient(app, { path: PATH, headers: { 'content-length': '11000000' } });
    await answerOf(client);
    const startedMs = performance.now();
    await client.write(bytes);
    await client.closed;
    expect(performance.now() - startedMs).toBeLessThan(1500);
  });

  it('are photos as well', async () => {
    const answer = await postForm(app, '/api/tows/TW-1/photos', formOf({}, [{ name: 'a.png', bytes }]));
    expect([answer.status, errorOf(answer)]).toMatchObject([413, TOO_LARGE]);
  });
});
