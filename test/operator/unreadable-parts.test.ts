import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { answerOf, BOUNDARY, chunk, clearDisk, imagesOnDisk, rawClient, REQUIRED } from './forms';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const PATH = '/api/violations';
const RULE = 'a part cannot be read: its Content-Disposition must be form-data with a name';
const UNREADABLE = { status: 400, body: { code: 'form_broken', details: [{ field: 'body', rule: RULE }] } };

const part = (head: string, body: Buffer | string = PNG) =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
const named = (disposition: string, body?: Buffer | string) => part(`Content-Disposition: ${disposition}`, body);
const fields = Buffer.concat(
  Object.entries(REQUIRED).map(([name, value]) => named(`form-data; name="${name}"`, value)),
);
const END = Buffer.from(`--${BOUNDARY}--\r\n`);
/** A form that is complete except for these parts. */
const around = (...parts: readonly Buffer[]) =>
  Buffer.concat([fields, ...parts, named('form-data; name="images"; filename="whole.png"'), END]);

/** Sends the body in exactly these pieces. A raw socket does it: supertest does not control how a body is split. */
async function send(body: Buffer, pieces: readonly Buffer[] = [body]) {
  const client = await rawClient(app, { path: PATH, headers: { 'transfer-encoding': 'chunked' } });
  for (const piece of pieces) await client.write(chunk(piece));
  await client.write('0\r\n\r\n');
  const response = await answerOf(client);
  client.socket.destroy();
  return response;
}

async function expectNothingKept() {
  await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  expect(await app.redis.ask('EXISTS', '{towhook-main}:index:violations')).toBe(0);
}

it.each([
  ['unescaped quotes in its file name', named('form-data; name="images"; filename="the "big" car.png"')],
  ['an unquoted file name with a space', named('form-data; name="images"; filename=a b.png')],
  ['a file name without its closing quote', named('form-data; name="images"; filename="ok.png')],
  ['a line break in its file name', named('form-data; name="images"; filename="a\r\nb.png"')],
  ['a Content-Disposition other than form-data', named('attachment; name="images"; filename="a.png"')],
  ['no Content-Disposition', part('Content-Type: image/png')],
  ['no headers', Buffer.from(`--${BOUNDARY}\r\n\r\nbody\r\n`)],
  ['letters after the name of a field', named('form-data; name="fullName"x', 'A Reporter')],
  [
    'spaces after its delimiter',
    Buffer.from(`--${BOUNDARY} \r\nContent-Disposition: form-data; name="date"\r\n\r\n\r\n`),
  ],
  ['a bare line feed after its delimiter', Buffer.from(`--${BOUNDARY}\nContent-Disposition: form-data\n\nx\r\n`)],
])('refuses a form with 400 when a part has %s', async (_what, unreadable) => {
  expect(await send(around(unreadable))).toMatchObject(UNREADABLE);
  await expectNothingKept();
});

it.each([
  ['an image', ''],
  ['an image in an unknown character set', '\r\nContent-Type: image/png; charset=unknown'],
])('refuses %s without a file name with 422 and names the missing file name', async (_what, type) => {
  expect(await send(around(named(`form-data; name="images"${type}`)))).toMatchObject({
    status: 422,
    body: { code: 'field_invalid', details: [{ field: 'images', rule: 'must be files, with a file name' }] },
  });
  await expectNothingKept();
});

it('judges the parts of a form the same way wherever the body is split into chunks', async () => {
  const small = named('form-data; name="images"; filename=a b.png', 'x');
  for (const [body, status] of [
    [around(small), 400],
    [around(), 202],
  ] as const) {
    // This range covers the ends of all delimiters and part headers.
    const from = fields.length - 4;
    const to = Math.min(body.length, fields.length + small.length + 60);
    const places = Array.from({ length: to - from }, (_, index) => from + index);
    while (places.length > 0) {
      const some = places.splice(0, 10);
      const statuses = some.map(async (at) => [
        at,
        (await send(body, [body.subarray(0, at), body.subarray(at)])).status,
      ]);
      expect(await Promise.all(statuses)).toEqual(some.map((at) => [at, status]));
    }
  }
});

it('answers a form in which a large image follows a part whose header cannot be parsed, and keeps nothing of it', async () => {
  const image = named('form-data; name="images"; filename="large.png"', Buffer.alloc(300_000, 7));
  expect(await send(around(part('no header\x01'), image))).toMatchObject(UNREADABLE);
  await expectNothingKept();
});

it('refuses a form with 400 when a part follows its end, without waiting for more data', async () => {
  const late = named('form-data; name="images"; filename="late.png"');
  for (const body of [Buffer.concat([around(), late]), Buffer.concat([around(), late, END])]) {
    for (const pieces of [[body], [around(), body.subarray(around().length)]]) {
      expect(await send(body, pieces)).toMatchObject({ status: 400, body: { code: 'form_broken' } });
    }
  }
  await expectNothingKept();
});

it('ignores text before the first part and after the last part of a form', async () => {
  const body = Buffer.concat([Buffer.from('A form follows.\r\n'), around(), Buffer.from('That was it.\r\n')]);
  expect(await send(body)).toMatchObject({ status: 202 });
});

it.each([
  ['an unknown file', 'form-data; name="photos"'],
  ['a file under the name of a field', 'form-data; name="fullName"'],
])('refuses %s without a file name with 422 and ignores it when it is empty', async (_what, disposition) => {
  const head = `Content-Disposition: ${disposition}\r\nContent-Type: application/octet-stream`;
  expect(await send(around(part(head)))).toMatchObject({
    status: 422,
    body: { details: [{ rule: 'is not a known file' }] },
  });
  await expectNothingKept();
  expect(await send(around(part(head, '')))).toMatchObject({ status: 202 });
});
