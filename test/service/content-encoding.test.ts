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
  ['deflate, identity, br', brotliCompressSync(deflateSync(ANSWER))],
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
  ['that is none of gzip', 'gzip', Buffer.from('no gzip'), 'not_json'],
  ['that breaks off', 'gzip', gzipSync(ANSWER).subarray(0, 30), 'not_json'],
  ['with an unknown encoding', 'zstd', gzipSync(ANSWER), 'not_json'],
  ['that decodes to 200 MB', 'gzip', gzipSync(Buffer.alloc(200_000_000, 32)), 'too_long'],
])('an answer %s is not from the service', async (_, encoding, body, cause) => {
  const { exchange } = await detained(encoding, body);
  expect(exchange).toEqual({ kind: 'not_the_service', httpStatus: 200, cause });
});
