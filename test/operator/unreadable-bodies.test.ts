import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { newApiKeyView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { api, fieldsOf, towOf, towPath } from './client';
import { BOUNDARY, FORM_TAIL, formHead, REQUIRED } from './forms';
import { newTow } from './world';

/** A body that cannot be read as it was meant is refused before anything is recorded. */

const app = useApp({ role: 'console' });

/** Two different Arabic plates in Windows-1256. Decoded as UTF-8, both are three replacement characters. */
const PLATES = [Buffer.from([0xc3, 0xc8, 0xcc]), Buffer.from([0xcf, 0xd1, 0xd3])] as const;

/** supertest would encode the bytes again. */
async function post(path: string, body: Buffer, { headers = {}, apiKey = app.apiKey }: PostOptions = {}) {
  const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${app.consoleUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization, ...headers },
    body: new Uint8Array(body),
  });
  const refusal = z.looseObject({ code: z.string(), message: z.string(), details: z.array(fieldRule) });
  return { status: response.status, ...refusal.partial().parse(await response.json()) };
}

interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly apiKey?: string | null;
}

const fieldRule = z.object({ field: z.string(), rule: z.string() });

function startedWith(plate: Buffer): Buffer {
  const rest = '","towed_location":"Olaya Street","latitude":24.69,"longitude":46.68}';
  return Buffer.concat([Buffer.from('{"plate_number":"'), plate, Buffer.from(rest)]);
}

it('refuses a fact whose plate is not UTF-8 with 400, and records nothing under its Idempotency-Key', async () => {
  const ref = await newTow(app);
  for (const plate of PLATES) {
    const headers = { 'idempotency-key': 'started of the test' };
    const answer = await post(towPath(ref, '/started'), startedWith(plate), { headers });
    expect(answer).toMatchObject({
      status: 400,
      code: 'not_json',
      details: [{ field: 'body', rule: 'must be JSON in UTF-8' }],
    });
  }
  expect((await towOf(app, ref)).facts).toEqual([]);
});

it('refuses a violation form whose plate is not UTF-8 with 422 and names the field', async () => {
  const { plateNumber: _plateNumber, ...fields } = REQUIRED;
  const [beforeImage] = formHead(fields).split(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="images"`);
  const part = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="plateNumber"\r\n\r\n`;
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const body = Buffer.concat([Buffer.from(`${beforeImage}${part}`), PLATES[0], Buffer.from(FORM_TAIL)]);
  expect(await post('/api/violations', body, { headers })).toMatchObject({
    status: 422,
    details: [{ field: 'plateNumber', rule: 'must be well-formed Unicode text' }],
  });
});

it.each([
  ['a compression that is unknown', { 'content-type': 'application/json', 'content-encoding': 'compress' }],
  ['another character set', { 'content-type': 'application/json; charset=iso-8859-1' }],
])('refuses %s with 415 and names what is accepted', async (_what, headers) => {
  const ref = await newTow(app);
  expect(await post(towPath(ref, '/detained'), Buffer.from('{}'), { headers })).toMatchObject({
    status: 415,
    code: 'encoding_not_supported',
    message: 'The body must be in UTF-8. It may be compressed with gzip, deflate or br.',
  });
});

it('reads a body in gzip', async () => {
  const ref = await newTow(app);
  const body = gzipSync(startedWith(Buffer.from('ABJ 1234')));
  const answer = await post(towPath(ref, '/started'), body, { headers: { 'content-encoding': 'gzip' } });
  expect(answer.status).toBe(202);
});

it.each([
  ['that is not JSON', Buffer.from('{bad')],
  ['that is too large', Buffer.from(`{"text":"${'x'.repeat(200_000)}"}`)],
])('refuses a caller without a key with 401 before it reads a body %s', async (_what, body) => {
  expect(await post('/api/tows/TW-1/notes', body, { apiKey: null })).toMatchObject({
    status: 401,
    code: 'not_authenticated',
  });
});

it.each([
  ['plate_number', 'A\u0000B'],
  ['plate_number', 'A\ud800'],
  ['plate_number', 'A\nB'],
  ['towed_location', 'gate\u00074'],
  ['towed_location', '\udc00'],
])('refuses control characters and halves of characters in %s of a fact', async (field, value) => {
  const ref = await newTow(app);
  const body = { plate_number: 'ABJ 1', towed_location: 'gate', latitude: 1, longitude: 1, [field]: value };
  const response = await api(app).post(towPath(ref, '/started')).send(body);
  expect([response.status, fieldsOf(response)]).toEqual([422, [field]]);
});

it('answers a revoked key with 204 and neither a length nor a type', async () => {
  const made = newApiKeyView.parse((await api(app).post('/api/keys').send({ name: 'gate 4', role: 'crew' })).body);
  const response = await fetch(`${app.consoleUrl}/api/keys/${made.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${app.apiKey}` },
  });
  expect(response.status).toBe(204);
  expect([response.headers.get('content-length'), response.headers.get('content-type')]).toEqual([null, null]);
});

it.each(['gate\u200b', 'gate \u202eevil', '\u2066gate', 'gate\ud83d'])(
  'refuses a key name with invisible characters',
  async (name) => {
    const response = await api(app).post('/api/keys').send({ name, role: 'crew' });
    expect([response.status, fieldsOf(response)]).toEqual([422, ['name']]);
  },
);
