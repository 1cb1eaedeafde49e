import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { imageOf, PNG } from '../support/images';
import { call, errorOf, get, newKey, post } from './client';
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

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));
afterEach(() =>
  eventually(async () => {
    if ((await incoming()).length > 0) throw new Error('something of an upload stayed on the disk');
  }),
);

const PATH = '/api/violations';

async function incoming(): Promise<string[]> {
  return (await imagesOnDisk(app)).filter((path) => path.startsWith('incoming'));
}

describe('before a byte of the body is read', () => {
  const body = { 'content-length': '9000000' };

  it.each([
    ['no key', { authorization: '' }, 401, 'not_authenticated'],
    ['a wrong key', { authorization: 'Bearer thk_wrong' }, 401, 'not_authenticated'],
    ['another type of content', { 'content-type': 'application/json' }, 415, 'not_multipart'],
    ['no type of content', { 'content-type': '' }, 415, 'not_multipart'],
    [
      'a type of content that only begins like it',
      { 'content-type': 'multipart/form-datax; boundary=x' },
      415,
      'not_multipart',
    ],
  ])('a request with %s is refused', async (_what, headers, status, code) => {
    const client = await rawClient(app, { path: PATH, headers: { ...body, ...headers } });
    expect(await answerOf(client)).toMatchObject({ status, body: { code } });
    expect(await incoming()).toEqual([]);
    client.socket.destroy();
  });

  it('a role that may not is refused', async () => {
    const apiKey = await newKey(app, 'crew');
    const client = await rawClient(app, { path: PATH, headers: { ...body, authorization: `Bearer ${apiKey}` } });
    expect(await answerOf(client)).toMatchObject({ status: 403, body: { code: 'role_not_allowed' } });
    client.socket.destroy();
  });

  it('JSON is refused 415 however small', async () => {
    const answer = await post(app, PATH, REQUIRED);
    expect([answer.status, errorOf(answer).code]).toEqual([415, 'not_multipart']);
    expect((await call(app, ['POST', PATH])).status).toBe(415);
  });
});

describe('a form that breaks off', () => {
  it.each([
    ['in the middle of an image', formHead() + PNG.toString('latin1')],
    ['in the head of a part', formHead().slice(0, -10)],
    ['before its first part', ''],
    ['with a head that is none', `--${BOUNDARY}\r\n\u0000: x\r\n\r\n`],
  ])('%s is refused 400, and nothing of it stays', async (_where, text) => {
    const bytes = Buffer.from(text, 'latin1');
    const client = await rawClient(app, { path: PATH, headers: { 'content-length': String(bytes.length) } });
    await client.write(bytes);
    expect(await answerOf(client)).toMatchObject({
      status: 400,
      body: { code: 'form_broken', details: [{ field: 'body' }] },
    });
    client.socket.destroy();
  });

  it('because its boundary is not named is refused 400', async () => {
    const headers = { 'content-type': 'multipart/form-data', 'content-length': '0' };
    const client = await rawClient(app, { path: PATH, headers });
    expect(await answerOf(client)).toMatchObject({ status: 400, body: { code: 'form_broken' } });
    client.socket.destroy();
  });

  it('because the client goes away leaves nothing, and the next one is served', async () => {
    const client = await rawClient(app, { path: PATH, headers: { 'content-length': '5000000' } });
    await client.write(formHead());
    await client.write(imageOf(1_000_000));
    await eventually(async () => expect(await incoming()).toHaveLength(1));
    client.socket.destroy();
    await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
    violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
  });
});

describe('without a disk that can be used', () => {
  const spool = () => join(app.foundation.config.dataDir, 'spool');
  const restore = async () => {
    await rm(spool(), { recursive: true, force: true });
    await app.redis.ask('DEL', '{p0}:spool-marker');
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
  ])('forms are refused 503 with Retry-After and the console is not ready: %s', async (state, spoil) => {
    violationIn(await report(app));
    const ready = async () => {
      const response = await fetch(`${app.consoleUrl}/readyz`);
      const text: unknown = await response.json();
      return [response.status, text];
    };
    expect(await ready()).toMatchObject([200, { status: 'ready', spool: 'shared' }]);
    await spoil();
    const answer = await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]);
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'images_not_stored']);
    expect(errorOf(answer).message).toContain(state);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await ready()).toMatchObject([503, { status: 'not_ready', redis: 'reachable', spool: state }]);
    expect((await get(app, '/api/violations')).status).toBe(200);
    await restore();
    violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]));
  });

  it('a disk that fails while images come is told as such, and nothing stays', async () => {
    violationIn(await report(app));
    // A folder that takes no folder: the marker can be read and written beside it.
    await rm(join(spool(), 'incoming'), { recursive: true, force: true });
    await writeFile(join(spool(), 'incoming'), 'in the way');
    const answer = await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }]);
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'images_not_stored']);
    await rm(join(spool(), 'incoming'));
    await mkdir(join(spool(), 'incoming'));
  });
});

it('without Redis a form is refused 503 within 2 s, nothing of it stays, and it is taken once Redis is back', async () => {
  await app.redis.kill();
  const startedMs = performance.now();
  const answer = await report(app, REQUIRED, [{ name: 'a.png', bytes: imageOf(3_000_000) }]);
  expect([answer.status, errorOf(answer).code]).toEqual([503, 'unavailable']);
  expect(performance.now() - startedMs).toBeLessThan(2000);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await imagesOnDisk(app)).toEqual([]);
  await app.redis.start();
  await eventually(async () => violationIn(await report(app, REQUIRED, [{ name: 'a.png', bytes: PNG }])));
});
