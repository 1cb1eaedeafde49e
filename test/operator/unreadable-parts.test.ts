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
/** Whatever is wrong, the rest of the form is as it should be. */
const around = (...parts: readonly Buffer[]) =>
  Buffer.concat([fields, ...parts, named('form-data; name="images"; filename="whole.png"'), END]);

async function send(body: Buffer, pieces: readonly Buffer[] = [body]) {
  const client = await rawClient(app, { path: PATH, headers: { 'transfer-encoding': 'chunked' } });
  for (const piece of pieces) await client.write(chunk(piece));
  await client.write('0\r\n\r\n');
  const answer = await answerOf(client);
  client.socket.destroy();
  return answer;
}

async function expectNothingKept() {
  await eventually(async () => expect(await imagesOnDisk(app)).toEqual([]));
  expect(await app.redis.ask('EXISTS', '{p0}:index:violations')).toBe(0);
}

it.each([
  ['quotes within its file name', named('form-data; name="images"; filename="the "big" car.png"')],
  ['a file name with a space and no quotes', named('form-data; name="images"; filename=a b.png')],
  ['a file name without its end quote', named('form-data; name="images"; filename="ok.png')],
  ['a line break within its file name', named('form-data; name="images"; filename="a\r\nb.png"')],
  ['another kind of content', named('attachment; name="images"; filename="a.png"')],
  ['no Content-Disposition', part('Content-Type: image/png')],
  ['no head', Buffer.from(`--${BOUNDARY}\r\n\r\nbody\r\n`)],
  ['letters behind the name of a field', named('form-data; name="fullName"x', 'A Reporter')],
  [
    'spaces behind its delimiter',
    Buffer.from(`--${BOUNDARY} \r\nContent-Disposition: form-data; name="date"\r\n\r\n\r\n`),
  ],
  ['a line feed alone behind its delimiter', Buffer.from(`--${BOUNDARY}\nContent-Disposition: form-data\n\nx\r\n`)],
])('a part with %s is refused 400, not passed over', async (_what, unreadable) => {
  expect(await send(around(unreadable))).toMatchObject(UNREADABLE);
  await expectNothingKept();
});

it('an unreadable part is found wherever the body is split, and a readable form is taken wherever it is split', async () => {
  const small = named('form-data; name="images"; filename=a b.png', 'x');
  for (const [body, status] of [
    [around(small), 400],
    [around(), 202],
  ] as const) {
    // All the ends of delimiters and heads are within these.
    const from = fields.length - 4;
    const to = Math.min(body.length, fields.length + small.length + 60);
    for (let at = from; at < to; at += 1) {
      const answer = await send(body, [body.subarray(0, at), body.subarray(at)]);
      expect([at, answer.status]).toEqual([at, status]);
    }
  }
});

it('a part behind the end of the form is refused 400, and keeps nobody waiting', async () => {
  const late = named('form-data; name="images"; filename="late.png"');
  for (const body of [Buffer.concat([around(), late]), Buffer.concat([around(), late, END])]) {
    for (const pieces of [[body], [around(), body.subarray(around().length)]]) {
      expect(await send(body, pieces)).toMatchObject({ status: 400, body: { code: 'form_broken' } });
    }
  }
  await expectNothingKept();
});

it('text before the first part and behind the last one is none of the form', async () => {
  const body = Buffer.concat([Buffer.from('A form follows.\r\n'), around(), Buffer.from('That was it.\r\n')]);
  expect(await send(body)).toMatchObject({ status: 202 });
});

it.each([
  ['an unknown file', 'form-data; name="photos"'],
  ['a file under the name of a field', 'form-data; name="fullName"'],
])('%s without a file name is named, and passed over only if it is empty', async (_what, disposition) => {
  const head = `Content-Disposition: ${disposition}\r\nContent-Type: application/octet-stream`;
  expect(await send(around(part(head)))).toMatchObject({
    status: 422,
    body: { details: [{ rule: 'is not a known file' }] },
  });
  await expectNothingKept();
  expect(await send(around(part(head, '')))).toMatchObject({ status: 202 });
});
