import { randomBytes } from 'node:crypto';

/** Requests of strangers, without a valid key, session or signature, each as large and as odd as a listener takes it. */

export interface StrangeRequest {
  readonly to: 'receiver' | 'console';
  readonly head: readonly string[];
  readonly body?: Buffer;
}

const BODY_BYTES = 131_072;
/** Node takes heads of 16 KiB. */
const HEAD_BYTES = 15_000;
const FORM_BYTES = 49_900;
const SIGN_IN_BYTES = 159_000;
const JSON_TYPE = 'content-type: application/json';
const FORM_TYPE = 'content-type: application/x-www-form-urlencoded';
const HTML = 'accept: text/html';

const filled = (part: string, bytes: number) => part.repeat(Math.floor(bytes / part.length));
const nested = (bytes: number) => filled('[', bytes / 2) + filled(']', bytes / 2);
const wide = (part: string, bytes: number) => `[${filled(`${part},`, bytes - part.length - 2)}${part}]`;
const object = (inner: string) => `{"towing_reference_id":"TW-1","metadata":${inner}}`;

/** A body in chunks of one byte each. */
function inChunks(text: string): Buffer {
  return Buffer.from(`${text.replaceAll(/./g, '1\r\n$&\r\n')}0\r\n\r\n`);
}

const post = (
  to: StrangeRequest['to'],
  path: string,
  headers: readonly string[],
  body: string | Buffer,
): StrangeRequest => {
  const bytes = Buffer.from(body);
  return { to, head: [`POST ${path} HTTP/1.1`, `content-length: ${bytes.length}`, ...headers], body: bytes };
};
const chunked = (to: StrangeRequest['to'], path: string, headers: readonly string[], text: string): StrangeRequest => ({
  to,
  head: [`POST ${path} HTTP/1.1`, 'transfer-encoding: chunked', ...headers],
  body: inChunks(text),
});
const ask = (to: StrangeRequest['to'], line: string, ...headers: string[]): StrangeRequest => ({
  to,
  head: [`${line} HTTP/1.1`, ...headers],
});

const now = () => Math.floor(Date.now() / 1000);
const signedBy = (signature: string) => [
  JSON_TYPE,
  'webhook-id: msg_1',
  `webhook-timestamp: ${now()}`,
  `webhook-signature: ${signature}`,
];
const WRONG = `v1,${randomBytes(32).toString('base64')}`;
const wrong = signedBy(WRONG);
const webhook = (headers: readonly string[], body: string | Buffer) => post('receiver', '/tow-request', headers, body);
const form = (path: string, body: string) => post('console', path, [FORM_TYPE, HTML], body);
const fields = (count: number, name: (index: number) => string, value: string) =>
  Array.from({ length: count }, (_, index) => `${name(index)}=${value}`).join('&');
const unsaved = (inner: string) =>
  new URLSearchParams({ key: 'thk_wrong', unsaved_path: '/tasks', unsaved: inner }).toString().slice(0, SIGN_IN_BYTES);

/** By their kind. */
export const STRANGE_REQUESTS: Readonly<Record<string, readonly StrangeRequest[]>> = {
  'webhook with a wrong signature': [
    webhook(wrong, object(wide('1', BODY_BYTES - 100))),
    webhook(wrong, randomBytes(BODY_BYTES)),
    webhook(wrong, object(nested(BODY_BYTES - 100))),
    webhook(wrong, object(wide('{"a":1e400}', 3900))),
    webhook(wrong, object(wide('[]', 3900))),
    webhook(wrong, object(wide('"\\u0001"', 3900))),
    webhook(wrong, object(wide('[]', 16_000))),
    webhook(wrong, object(wide('{"towing_reference_id":1}', 16_000))),
  ],
  'webhook with thousands of signatures': [
    webhook(signedBy(filled('v1,x ', HEAD_BYTES)), object('1')),
    webhook(signedBy(filled(`${WRONG} `, HEAD_BYTES)), object('1')),
    webhook(signedBy(filled(`${WRONG} `, HEAD_BYTES)), object(wide('[]', 3900))),
    webhook(signedBy(filled(' ', HEAD_BYTES)), object('1')),
  ],
  'webhook without a signature': [webhook([JSON_TYPE], object(wide('1', BODY_BYTES - 100)))],
  'body in chunks of one byte': [
    chunked('receiver', '/tow-request', wrong, filled('1', BODY_BYTES)),
    chunked('receiver', '/tow-request', wrong, filled('1', BODY_BYTES + 1000)),
    chunked('console', '/tows/x/notes', [FORM_TYPE, HTML], `text=${filled('x', FORM_BYTES)}`),
    chunked('console', '/sign-in', [FORM_TYPE, HTML], `key=thk_wrong&a=${filled('x', SIGN_IN_BYTES)}`),
    chunked('console', '/api/tows/x/notes', [JSON_TYPE], filled('1', 300_000)),
    {
      ...chunked('console', '/', [], filled('1', 300_000)),
      head: ['GET /board HTTP/1.1', 'transfer-encoding: chunked', HTML],
    },
  ],
  'webhook too large, compressed or no JSON': [
    webhook(wrong, randomBytes(4 * BODY_BYTES)),
    webhook([...wrong, 'content-encoding: gzip'], randomBytes(BODY_BYTES)),
    webhook(['content-type: text/plain'], randomBytes(BODY_BYTES)),
    webhook([`content-type: ${filled('a/b;c=d;', HEAD_BYTES)}`], randomBytes(BODY_BYTES)),
  ],
  'other address or method of the receiver': [
    post('receiver', '/hook', wrong, randomBytes(BODY_BYTES)),
    ask('receiver', `GET /${filled('a/', HEAD_BYTES)}`),
    ask('receiver', `GET ${filled('/', HEAD_BYTES)}`),
    post('receiver', `/${filled('a/', HEAD_BYTES)}`, [JSON_TYPE], '{}'),
    post('receiver', `/${filled('%41/', HEAD_BYTES)}`, [JSON_TYPE], '{}'),
    post('receiver', `/${filled('%', HEAD_BYTES)}`, [JSON_TYPE], '{}'),
    ask('receiver', `GET /?${filled('a=1&', HEAD_BYTES)}`),
    ask('receiver', 'OPTIONS *'),
    ask('receiver', 'HEAD /tow-request'),
    ask('receiver', 'PUT /tow-request', 'content-length: 0'),
  ],
  'head with many or long headers': (['receiver', 'console'] as const).flatMap((to) => [
    ask(to, 'GET /', ...Array.from({ length: 98 }, (_, index) => `x-${index}: ${filled('a', 140)}`)),
    ask(to, 'GET /', ...Array.from({ length: 2000 }, (_, index) => `x${index}: 1`)),
    ask(to, 'GET /', `x: ${filled('a', 65_536)}`),
    ask(to, 'GET /', HTML, `cookie: ${filled('a=1; ', HEAD_BYTES)}`),
    ask(to, 'GET /', HTML, `x-forwarded-for: ${filled('1.2.3.4, ', HEAD_BYTES)}`),
    ask(to, 'GET /', `accept: ${filled('a/b;q=0.1,', HEAD_BYTES)}`),
  ]),
  'form without a session': [
    form('/tows/x/notes', filled('a=&', FORM_BYTES)),
    form('/tows/x/notes', filled('a=&', 199_000)),
    form('/tows/x/notes', `text=${filled('x', FORM_BYTES)}`),
    form('/tows/x/notes', `text=${filled('<', FORM_BYTES)}`),
    form('/tows/x/notes', `text=${filled('%26', FORM_BYTES)}`),
    form('/tows/x/notes', `text=${filled('+', FORM_BYTES)}`),
    form('/tows/x/notes', `text=${filled('%0D%0A', FORM_BYTES)}`),
    form('/tows/x/notes', `text=${filled('%D9%A1', FORM_BYTES)}`),
    form(
      '/tows/x/notes',
      fields(99, () => 'text', filled('%3C', FORM_BYTES / 110)),
    ),
    form(
      '/tows/x/notes',
      fields(99, (index) => `images.${index}`, filled('%22', FORM_BYTES / 120)),
    ),
    form('/tows/x/notes', `${filled('a', FORM_BYTES)}=1`),
    form(`/tows/${filled('%3C', HEAD_BYTES)}/notes`, `text=${filled('%3C', FORM_BYTES)}`),
    form('/preferences', filled('a=&', 9999)),
    form('/sign-out', `form_token=${filled('x', FORM_BYTES)}`),
  ],
  'sign-in form with a wrong key': [
    form('/sign-in', `key=thk_wrong&a=${filled('x', SIGN_IN_BYTES)}`),
    form('/sign-in', filled('a=&', SIGN_IN_BYTES)),
    form('/sign-in', unsaved(filled('text=&', 45_000))),
    form('/sign-in', unsaved(`text=${filled('<', 50_000)}`)),
    form('/sign-in', unsaved(`text=${filled('%3C', 49_000)}`)),
    form('/sign-in', `key=${filled('%3C', 50_000)}&next=/${filled('%3C', 100_000)}`),
    form('/sign-in', `key=thk_wrong&next=/${filled('a', 150_000)}`),
  ],
  'page without a session': [
    ask('console', 'GET /board', HTML),
    ask('console', 'GET /sign-in', HTML),
    ask('console', 'GET /shortcuts', HTML),
    ask('console', `GET /board?${filled('%3C=&', HEAD_BYTES)}`, HTML),
    ask('console', `GET /sign-in?${filled('a=1&', HEAD_BYTES)}`, HTML),
    ask('console', `GET /sign-in?next=/${filled('%3C', HEAD_BYTES)}`, HTML),
    ask('console', 'GET /board', HTML, `accept-language: ${filled('aa-BB;q=0.1,', HEAD_BYTES)}`),
    ask('console', 'GET /sign-in', HTML, `accept-encoding: ${filled('br;q=0.1,', HEAD_BYTES)}`),
    ask('console', 'GET /sign-in', HTML, `cookie: towhook_session=${filled('x', HEAD_BYTES)}`),
    ask('console', `GET /tows/${filled('%D8%A7', HEAD_BYTES)}`, HTML),
    ask('console', `GET /${filled('a/', HEAD_BYTES)}`, HTML),
    ask('console', `GET ${filled('/', HEAD_BYTES)}`, HTML),
    ask('console', `GET /${filled('%3C', HEAD_BYTES)}`, HTML),
    ask('console', `GET /tows/%E0%A4%A`, HTML),
    ask('console', 'HEAD /board', HTML),
    ask('console', 'OPTIONS /board'),
  ],
  'API call without a key, or with a wrong one': [
    post('console', '/api/violations', [JSON_TYPE], wide('[]', 1_000_000)),
    post('console', '/api/violations', [JSON_TYPE, 'authorization: Bearer thk_wrong'], wide('[]', 1_000_000)),
    ask('console', `GET /api/tows?${filled('a[]=1&', HEAD_BYTES)}`),
    ask('console', `GET /api/tows/${filled('%41', HEAD_BYTES)}`),
    ask('console', 'GET /api/tows', `authorization: Bearer ${filled('x', HEAD_BYTES)}`),
    ask('console', 'GET /api/tows', `authorization: Bearer ${filled(' ', HEAD_BYTES)}`),
    ask('console', 'GET /api/events'),
    ask('console', 'GET /metrics'),
    ask('console', 'GET /openapi.json'),
    ask('console', 'GET /queues', `authorization: Basic ${filled('eDp5', HEAD_BYTES)}`),
    ask('console', `GET /queues/${filled('a/', HEAD_BYTES)}`),
    ask('console', 'OPTIONS /api/tows'),
    ask('console', 'DELETE /api/nothing', 'content-length: 0'),
  ],
  'upload without a session or key': [
    post('console', '/tows/x/photos', ['content-type: multipart/form-data; boundary=x', HTML], randomBytes(4_000_000)),
    post('console', '/violations/new', ['content-type: multipart/form-data; boundary=x', HTML], randomBytes(4_000_000)),
    post('console', '/api/violations/new', ['content-type: multipart/form-data; boundary=x'], randomBytes(4_000_000)),
  ],
};
