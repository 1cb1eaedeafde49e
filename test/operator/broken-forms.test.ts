import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import request from 'supertest';
import { z } from 'zod';
import { useApp } from '../support/app';
import { eventually, inTime } from '../support/eventually';
import { imageOf, PNG } from '../support/images';
import { api, errorOf, newKey } from './client';
import {
  answerOf,
  BOUNDARY,
  clearDisk,
  formHead,
  imagesOnDisk,
  rawClient,
  report,
  REQUIRED,
  violationIn,
} from './forms';

const app = useApp({ role: 'console', ownRedis: true });
beforeEach(() => clearDisk(app));
afterEach(() =>
  eventually(async () => {
    if ((await incoming()).length > 0) throw new Error('part of an upload is still on the disk');
  }),
);

const PATH = '/api/violations';

async function incoming(): Promise<string[]> {
  return (await imagesOnDisk(app)).filter((path) => path.startsWith('incoming'));
}

describe('operator API: form requests refused before their body is read', () => {
  // The body never comes: a response proves that the server did not wait for it. supertest cannot send a request so.
  const announced = { 'content-length': '9000000' };

  it.each([
    ['no key', { authorization: '' }, 401, 'not_authenticated'],
    ['a wrong key', { authorization: 'Bearer thk_wrong' }, 401, 'not_authenticated'],
    ['another content type', { 'content-type': 'application/json' }, 415, 'not_multipart'],
    ['no content type', { 'content-type': '' }, 415, 'not_multipart'],
    [
      'a content type that only begins with multipart/form-data',
      { 'content-type': 'multipart/form-datax; boundary=x' },
      415,
      'not_multipart',
    ],
  ])('refuses a violation form with %s before its body arrives', async (_what, headers, status, code) => {
    const client = await rawClient(app, { path: PATH, headers: { ...announced, ...headers } });
    expect(await answerOf(client)).toMatchObject({ status, body: { code } });
    expect(await incoming()).toEqual([]);
    client.socket.destroy();
  });

  it('refuses a violation form of a crew with 403 before its body arrives', async () => {
    const apiKey = await newKey(app, 'crew');
    const client = await rawClient(app, { path: PATH, headers: { ...announced, authorization: `Bearer ${apiKey}` } });
    expect(await answerOf(client)).toMatchObject({ status: 403, body: { code: 'role_not_allowed' } });
    client.socket.destroy();
  });

  it('refuses JSON and an empty body where a violation form is expected with 415', async () => {
    const response = await api(app).post(PATH).send(REQUIRED);
    expect([response.status, errorOf(response).code]).toEqual([415, 'not_multipart']);
    await api(app).post(PATH).expect(415);
  });
});

describe('operator API: incomplete forms', () => {
  it.each([
    ['ends in the middle of an image', formHead() + PNG.toString('latin1')],
    ['ends in the header of a part', formHead().slice(0, -10)],
    ['ends before its first part', ''],
    ['has an invalid part header', `--${BOUNDARY}\r\n\u0000: x\r\n\r\n`],
  ])('refuses a form that %s with 400, and leaves no file of it on the disk', async (_where, text) => {
    const contentType = `multipart/form-data; boundary=${BOUNDARY}`;
    const response = await api(app).post(PATH).set('content-type', contentType).send(Buffer.from(text, 'latin1'));
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'form_broken', details: [{ field: 'body' }] });
  });

  it('refuses a form whose content type names no boundary with 400', async () => {
    const response = await api(app).post(PATH).set('content-type', 'multipart/form-data').send(Buffer.alloc(0));
    expect([response.status, errorOf(response).code]).toEqual([400, 'form_broken']);
  });

  it('removes the files of a form whose client disconnects, and accepts the next form', async () => {
    const client = await rawClient(app, { path: PATH, headers: { 'content-length': '5000000' } });
    await client.write(formHead());
    await client.write(imageOf(1_000_000));
    await eventually(async () => expect(await incoming()).toHaveLength(1));
    client.socket.destroy();
    await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
    violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
  });
});

describe('operator API: clients that disconnect before their form is read', () => {
  const FORM = `${formHead()}${PNG.toString('latin1')}\r\n--${BOUNDARY}--\r\n`;

  it.each([
    ['their headers', ''],
    ['a part of an image', FORM.slice(0, -100)],
    ['the whole form', FORM],
  ])('leaves no upload folder of twenty clients that reset their connection after %s', async (_what, text) => {
    const body = Buffer.from(text, 'latin1');
    const headers = { 'content-length': String(FORM.length) };
    const alive = () => request(app.consoleUrl).get('/healthz').expect(200);
    violationIn(await report(app));
    // The marker of the disk is read from Redis first: no form is read while Redis does not answer.
    app.redis.freeze();
    const clients = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const client = await rawClient(app, { path: PATH, headers });
        await client.write(body);
        return client;
      }),
    );
    // Answered after the console has read what came before.
    await alive();
    for (const { socket } of clients) socket.resetAndDestroy();
    await alive();
    app.redis.thaw();
    violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
    const folders = async () =>
      (await readdir(join(app.foundation.config.dataDir, 'spool', 'incoming'))).filter(
        (name) => !name.startsWith('probe.'),
      );
    await eventually(async () => expect(await folders()).toEqual([]), 10_000);
  });
});

describe('operator API: forms without a usable disk', () => {
  const spool = () => join(app.foundation.config.dataDir, 'spool');
  const restore = async () => {
    await rm(spool(), { recursive: true, force: true });
    await app.redis.ask('DEL', '{towhook-main}:spool-marker');
  };
  afterEach(restore);

  it.each([
    ['foreign', () => writeFile(join(spool(), 'marker'), 'another disk\n')],
    [
      'unusable',
      async () => {
        await rm(spool(), { recursive: true, force: true });
        await writeFile(spool(), 'a file where the folder should be');
      },
    ],
  ])(
    'refuses forms with 503 and Retry-After and reports the console as not ready while the disk is %s',
    async (state, spoil) => {
      violationIn(await report(app));
      const ready = async () => {
        const { status, text } = await request(app.consoleUrl).get('/readyz');
        return [status, z.unknown().parse(JSON.parse(text))];
      };
      await eventually(async () => expect(await ready()).toMatchObject([200, { status: 'ready', spool: 'shared' }]));
      await spoil();
      const response = await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]);
      expect([response.status, errorOf(response).code]).toEqual([503, 'images_not_stored']);
      expect(errorOf(response).message).toContain(state);
      expect(Number(response.get('retry-after'))).toBeGreaterThan(0);
      await eventually(async () =>
        expect(await ready()).toMatchObject([503, { status: 'not_ready', redis: 'reachable', spool: state }]),
      );
      await api(app).get('/api/violations').expect(200);
      await restore();
      violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
    },
  );

  it('refuses a form with 503 when the disk fails while its images are written', async () => {
    violationIn(await report(app));
    // A file in place of the folder: images cannot be written, but the marker beside it can.
    await rm(join(spool(), 'incoming'), { recursive: true, force: true });
    await writeFile(join(spool(), 'incoming'), 'in the way');
    const response = await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]);
    expect([response.status, errorOf(response).code]).toEqual([503, 'images_not_stored']);
    await rm(join(spool(), 'incoming'));
    await mkdir(join(spool(), 'incoming'));
  });
});

it('refuses a form with 503 within 2 s while Redis is down, leaves no file of it, and accepts it once Redis is back', async () => {
  await app.redis.kill();
  const response = await inTime(2000, () => report(app, REQUIRED, [{ name: 'a.png', bytes: imageOf(3_000_000) }]));
  expect([response.status, errorOf(response).code]).toEqual([503, 'unavailable']);
  expect(Number(response.get('retry-after'))).toBeGreaterThan(0);
  expect(await imagesOnDisk(app)).toEqual([]);
  await app.redis.start();
  await eventually(async () => violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }])));
});
