import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../../src/platform/timers';
import { useApp } from '../support/app';
import { eventually, inTime } from '../support/eventually';
import { imageOf } from '../support/images';
import { api, errorOf } from './client';
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
    if ((await incoming()).length > 0) throw new Error('a part of an upload is still on the disk');
  }),
);

/** The default of IMAGES_TOTAL_BYTES_MAX. */
const LIMIT = 10_000_000;
const MB = 1_000_000;
const PATH = '/api/violations';

async function incoming(): Promise<string[]> {
  return (await imagesOnDisk(app)).filter((path) => path.startsWith('incoming'));
}

/** The bytes of each unfinished upload that are on the disk. */
async function incomingSizes(): Promise<number[]> {
  const folder = join(app.foundation.config.dataDir, 'spool');
  const files = await Promise.all((await incoming()).map((path) => stat(join(folder, path))));
  return files.map(({ size }) => size);
}

const TOO_LARGE = {
  code: 'images_too_large',
  details: [{ field: 'images', rule: 'must be at most 10000000 bytes in all' }],
};

describe('operator API: 10 MB of images', () => {
  it('accepts 10 MB of violation images in one file or in several', async () => {
    violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: imageOf(LIMIT) }]));
    const three = [4 * MB, 4 * MB, 2 * MB].map((size, at) => ({ name: `${at}.png`, bytes: imageOf(size) }));
    const { images } = violationIn(await report(app, REQUIRED, three));
    expect(images.map(({ size_bytes }) => size_bytes)).toEqual([4 * MB, 4 * MB, 2 * MB]);
  });

  it('refuses violation images of 10 MB and one byte with 413, in one file or in several', async () => {
    for (const sizes of [[LIMIT + 1], [5 * MB, 5 * MB, 100]]) {
      const files = sizes.map((size, at) => ({ name: `${at}.png`, bytes: imageOf(size) }));
      const response = await report(app, REQUIRED, files);
      expect([response.status, errorOf(response)]).toMatchObject([413, TOO_LARGE]);
    }
    await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  });
});

describe('operator API: 11 MB of images', () => {
  const bytes = imageOf(11_000_000);

  it('refuses 11 MB of images of a known length with 413, names the rule and closes the connection', async () => {
    // Without this header the client itself asks for the connection to be closed.
    const keepAlive = { connection: 'keep-alive' };
    await api(app).get('/api/tows').set(keepAlive).expect(200).expect('connection', 'keep-alive');
    const form = api(app).post(PATH).set(keepAlive).field(REQUIRED).attach('images', bytes, 'a.png');
    const response = await form.expect(413).expect('connection', 'close');
    expect(errorOf(response)).toMatchObject(TOO_LARGE);
    expect(await imagesOnDisk(app)).toEqual([]);
  });

  it('refuses 11 MB of images of an unknown length with 413 and names the rule', async () => {
    // A body that is written in pieces goes out in chunks, without a Content-Length.
    const form = api(app).post(PATH).type(`multipart/form-data; boundary=${BOUNDARY}`);
    form.write(formHead());
    for (let at = 0; at < bytes.length; at += 65_536) form.write(bytes.subarray(at, at + 65_536));
    form.write(FORM_TAIL);
    const response = await form.expect(413);
    expect(errorOf(response)).toMatchObject(TOO_LARGE);
  });

  it('refuses 11 MB of images before the first byte of the body when Content-Length gives the size', async () => {
    const client = await rawClient(app, { path: PATH, headers: { 'content-length': '11000000' } });
    expect(await answerOf(client)).toMatchObject({ status: 413, body: TOO_LARGE });
    client.socket.destroy();
  });

  it('refuses images of an unknown length at the first byte over 10 MB', async () => {
    const client = await rawClient(app, { path: PATH, headers: { 'transfer-encoding': 'chunked' } });
    await client.write(chunk(formHead()));
    const part = chunk(imageOf(MB));
    for (let sent = 0; sent < LIMIT; sent += MB) await client.write(part);
    await eventually(async () => expect(await incomingSizes()).toEqual([LIMIT]));
    expect(client.answered()).toBe('');
    await client.write(chunk('x'));
    expect(await answerOf(client)).toMatchObject({ status: 413, body: TOO_LARGE });
    client.socket.destroy();
  });

  it.each([
    ['with a Content-Length', { 'content-length': '11000000' }],
    ['without a Content-Length', { 'transfer-encoding': 'chunked' }],
  ])('a slow upload %s receives the 413 while it still writes; then the connection closes', async (_kind, headers) => {
    const frame = 'content-length' in headers ? (piece: Buffer | string) => Buffer.from(piece) : chunk;
    // The connection closes 2 s after the response. The limit leaves time for the last writes.
    await inTime(4000, async (startClock) => {
      const client = await rawClient(app, { path: PATH, headers });
      await client.write(frame(formHead()));
      let written = 0;
      let isAnswered = false;
      // The client keeps writing after the response, like a program that reads only after it has written.
      while (await client.write(frame(bytes.subarray(0, 200_000)))) {
        written += 200_000;
        if (client.answered() !== '' && !isAnswered) {
          isAnswered = true;
          startClock();
        }
        await pause(10);
      }
      await client.closed;
      const response = await answerOf(client);
      expect(response).toMatchObject({ status: 413, body: TOO_LARGE });
      expect(response.head.toLowerCase()).toContain('connection: close');
      expect(written).toBeGreaterThan(1_000_000);
    });
  });

  it('closes the connection at once when a refused upload ends after the 413', async () => {
    // Without the end of the upload the connection would close 2 s after the 413.
    await inTime(1500, async (startClock) => {
      const client = await rawClient(app, { path: PATH, headers: { 'content-length': '11000000' } });
      await answerOf(client);
      startClock();
      await client.write(bytes);
      await client.closed;
    });
  });

  it('refuses 11 MB of photos of a tow with 413 and names the rule', async () => {
    const response = await postForm(app, '/api/tows/TW-1/photos', formOf({}, [{ name: 'a.png', bytes }]));
    expect([response.status, errorOf(response)]).toMatchObject([413, TOO_LARGE]);
  });
});
