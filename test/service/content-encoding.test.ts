import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { clientFor, REQUESTS, useFakeService } from './client-under-test';
import { enveloped, type FakeService } from './fake-service';

let fake: FakeService;
useFakeService((opened) => {
  ({ fake } = opened);
});

const ANSWER = enveloped({ towing_reference_id: 'TW-1' }).body ?? '';
const detained = async (encoding: string, body: Buffer, status = 200) => {
  fake.onCall(() => ({ status, headers: { 'content-encoding': encoding }, bytes: body }));
  return clientFor(fake.url).call('detained', REQUESTS.detained);
};

test.each([
  ['gzip', gzipSync(ANSWER)],
  ['x-gzip', gzipSync(ANSWER)],
  [' GZIP ', gzipSync(ANSWER)],
  ['deflate', deflateSync(ANSWER)],
  ['deflate', deflateRawSync(ANSWER)],
  ['gzip, gzip', gzipSync(gzipSync(ANSWER))],
  ['deflate, identity,, br', brotliCompressSync(deflateSync(ANSWER))],
  ['br', brotliCompressSync(ANSWER)],
  ['identity', Buffer.from(ANSWER)],
])('an answer with the content encoding %j is read', async (encoding, body) => {
  const { exchange, rawBody, data } = await detained(encoding, body);
  expect(exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
  expect(rawBody).toBe(ANSWER);
  expect(data).toEqual({ towing_reference_id: 'TW-1' });
});

test('a compressed refusal has its message', async () => {
  const { exchange } = await detained('gzip', gzipSync('{"message":"Vehicle type is not allowed"}'), 422);
  expect(exchange).toMatchObject({ kind: 'refused', httpStatus: 422, message: 'Vehicle type is not allowed' });
});

const utf16 = Buffer.from(`\ufeff${ANSWER}`, 'utf16le');
test.each([
  ['UTF-8 with a byte order mark', 'application/json', Buffer.from(`\ufeff${ANSWER}`)],
  ['UTF-16, little endian', 'application/json', utf16],
  ['UTF-16, big endian', 'application/json', Buffer.from(utf16).swap16()],
  ['UTF-16 without a mark', 'application/json; charset="UTF-16LE"', utf16.subarray(2)],
  ['an unknown character set', 'application/json; charset=none', Buffer.from(ANSWER)],
])('an answer in %s is read', async (_, contentType, bytes) => {
  fake.onCall(() => ({ headers: { 'content-type': contentType }, bytes }));
  const { exchange, data } = await clientFor(fake.url).call('detained', REQUESTS.detained);
  expect([exchange.kind, data]).toEqual(['accepted', { towing_reference_id: 'TW-1' }]);
});

test('a refusal in windows-1256 has its message', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"message":"'),
    Buffer.from([0xe3, 0xd1, 0xdd, 0xe6, 0xd6]),
    Buffer.from('"}'),
  ]);
  fake.onCall(() => ({ status: 422, headers: { 'content-type': 'application/json; charset=windows-1256' }, bytes }));
  const { exchange } = await clientFor(fake.url).call('detained', REQUESTS.detained);
  expect(exchange).toMatchObject({ kind: 'refused', httpStatus: 422, message: 'مرفوض' });
});

test('a compressed token answer is read', async () => {
  fake.onTokenCall(() => ({ headers: { 'content-encoding': 'gzip' }, bytes: gzipSync('{"data":{"token":"t-1"}}') }));
  const { exchange } = await clientFor(fake.url).call('detained', REQUESTS.detained);
  expect([exchange.kind, fake.calls[0]?.headers['Authorization']]).toEqual(['accepted', 'Bearer t-1']);
});

test.each([
  ['that is none of gzip', 'gzip', Buffer.from('no gzip'), 'gzip'],
  ['that breaks off', 'gzip', gzipSync(ANSWER).subarray(0, 30), 'gzip'],
  ['that breaks off', 'br', brotliCompressSync(ANSWER).subarray(0, 30), 'br'],
  ['with an unknown encoding', 'gzip, zstd', gzipSync(ANSWER), 'zstd'],
  ['with five encodings', 'gzip, gzip, gzip, gzip, gzip', gzipSync(ANSWER), 'gzip'],
  ['with an encoding that is no word', 'Bearer abc', gzipSync(ANSWER), 'unknown'],
])('a body %s names its encoding, and is no fault where it is not needed', async (_, encoding, body, name) => {
  const why = `the body has the encoding ${name}, which cannot be read`;
  expect((await detained(encoding, body)).exchange).toEqual({
    kind: 'contract_broken',
    httpStatus: 200,
    issues: [`body: ${why}`],
  });
  expect((await detained(encoding, body, 422)).exchange).toMatchObject({ kind: 'refused', message: why });
  fake.onCall(() => ({ headers: { 'content-encoding': encoding }, bytes: body }));
  const created = await clientFor(fake.url).call('invoice', REQUESTS.invoice);
  expect(created.exchange).toEqual({ kind: 'not_the_service', httpStatus: 200, cause: `encoding_${name}` });
  fake.onTokenCall(() => ({ headers: { 'content-encoding': encoding }, bytes: body }));
  const withoutToken = await clientFor(fake.url).call('detained', REQUESTS.detained);
  expect(withoutToken.exchange).toMatchObject({ kind: 'connection', cause: `token_encoding_${name}` });
});

test('JSON that is not encoded is read, although its header names an encoding', async () => {
  expect((await detained('utf-8', Buffer.from(ANSWER))).exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
});

test('an answer that decodes to 200 MB is not from the service', async () => {
  const { exchange } = await detained('gzip', gzipSync(Buffer.alloc(200_000_000, 32)));
  expect(exchange).toEqual({ kind: 'not_the_service', httpStatus: 200, cause: 'too_long' });
});
