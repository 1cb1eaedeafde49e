import { File } from 'node:buffer';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ApiAnswerBroken, ApiRefusal, ApiUnreachable, createClient } from '../../src/client';
import { newApiKeyView } from '../../src/contracts/operator';
import { ROUTES } from '../../src/contracts/operator-routes';
import { DEAD_ADDRESS, startServer } from '../cli/fake-service';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';

const app = useApp({ role: 'console' });
const clientOf = (baseUrl = app.consoleUrl, apiKey = app.apiKey) => createClient({ baseUrl, apiKey });
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serverAnswering(status: number, body: string, headers: Record<string, string> = {}) {
  const seen: { headers: IncomingMessage['headers']; body: string }[] = [];
  const server = await startServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString('latin1') });
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body);
    });
  });
  closing.push(server.stop);
  return { ...server, seen };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  // A context that began before has no gc().
  runInNewContext('gc()');
}

const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => {
      throw new Error('the call was answered');
    },
    (error: unknown) => error,
  );

test('the API client returns typed answers that it checks against their contract', async () => {
  const ref = await newTow(app);
  const params = { towing_reference_id: ref };
  const tow = await clientOf().call(ROUTES.readTow, { params });
  expect([tow.towing_reference_id, tow.state]).toEqual([ref, 'requested']);
});

test('the API client returns the fields of a newer console, which its contract does not have', async () => {
  const answer = { delivered: true, problem: null, added_later: [1] };
  const newer = await serverAnswering(200, JSON.stringify(answer));
  const call = clientOf(newer.url).call(ROUTES.testNotifications, { body: { channel: 'mail' } });
  expect(await call).toEqual(answer);
});

test('the API client rejects an image without content', async () => {
  const other = await serverAnswering(200, '', { 'content-length': '0' });
  const params = { towing_reference_id: 'TW-1', photo_id: 'photo-1' };
  expect(await refusalOf(clientOf(other.url).call(ROUTES.readPhoto, { params }))).toBeInstanceOf(ApiAnswerBroken);
});

test('the API client sends references with any characters', async () => {
  const ref = await newTow(app, { towing_reference_id: 'TW/ä ?#%2F&x' });
  const params = { towing_reference_id: ref };
  const tow = await clientOf().call(ROUTES.readTow, { params });
  expect(tow.towing_reference_id).toBe('TW/ä ?#%2F&x');
});

test('the API client returns the answer without a secret when the creation of an API key is repeated', async () => {
  const body = { name: 'yard', role: 'crew' } as const;
  const create = () => clientOf().call(ROUTES.createApiKey, { body, key: 'once' });
  const { api_key, ...view } = newApiKeyView.parse(await create());
  expect(api_key).toMatch(/^thk_/);
  expect(await create()).toEqual(view);
});

test('the API client throws a refusal with status, code, fields and Retry-After', async () => {
  const params = { towing_reference_id: await newTow(app) };
  const body = { plate_number: 'ABC 1234', towed_location: 'Olaya Street', latitude: 91, longitude: 46.68 };
  const call = clientOf().call(ROUTES.started, { params, body });
  const refusal = await refusalOf(call);
  expect(refusal).toBeInstanceOf(ApiRefusal);
  expect(refusal).toMatchObject({
    httpStatus: 422,
    code: 'field_invalid',
    details: [{ field: 'latitude', rule: 'must be at most 90' }],
    retryAfterS: null,
  });

  const busy = await serverAnswering(503, '{"code":"unavailable","message":"no","details":[]}', { 'retry-after': '2' });
  expect(await refusalOf(clientOf(busy.url).call(ROUTES.listQueues))).toMatchObject({
    httpStatus: 503,
    retryAfterS: 2,
  });
});

test('the API client throws a refusal for an error answer that is not from towhook', async () => {
  const proxy = await serverAnswering(502, '<html>bad gateway</html>');
  expect(await refusalOf(clientOf(proxy.url).call(ROUTES.listQueues))).toMatchObject({
    httpStatus: 502,
    code: 'http_502',
  });
});

test.each([
  ['JSON of another shape', '{"queues":[]}'],
  ['no JSON', '<html></html>'],
  ['nothing', ''],
])('the API client rejects a successful answer that is %s', async (_name, body) => {
  const other = await serverAnswering(200, body);
  expect(await refusalOf(clientOf(other.url).call(ROUTES.listQueues))).toBeInstanceOf(ApiAnswerBroken);
});

test('the API client follows no redirection, so that the key reaches no other server', async () => {
  const elsewhere = await serverAnswering(200, '[]');
  const first = await serverAnswering(302, '', { location: `${elsewhere.url}/api/queues` });
  expect(await refusalOf(clientOf(first.url).call(ROUTES.listQueues))).toMatchObject({ httpStatus: 302 });
  expect(elsewhere.seen).toEqual([]);
});

test('the API client throws unreachable without the key when the console is down or too slow', async () => {
  const away = await refusalOf(clientOf(DEAD_ADDRESS, 'a-secret-key').call(ROUTES.listQueues));
  expect(away).toBeInstanceOf(ApiUnreachable);
  expect(away).toMatchObject({ reason: 'connection_refused' });

  const silent = await startServer(() => {});
  closing.push(silent.stop);
  const slow = createClient({ baseUrl: silent.url, apiKey: 'a-secret-key', timeoutMs: 50 });
  const late = await refusalOf(slow.call(ROUTES.listQueues));
  expect(late).toMatchObject({ name: 'ApiUnreachable', reason: 'timeout' });
  expect(JSON.stringify([away, late]) + String(away) + String(late)).not.toContain('a-secret-key');
});

test.each([
  ['gives no answer', () => {}],
  ['does not end its answer', (response: ServerResponse) => response.writeHead(200).write('[')],
])('the API client gives up on a console that %s, also after a garbage collection', async (_name, answer) => {
  let isCalled = false;
  const silent = await startServer((_request, response) => {
    answer(response);
    isCalled = true;
  });
  closing.push(silent.stop);
  const slow = createClient({ baseUrl: silent.url, apiKey: 'a-key', timeoutMs: 3000 });
  const late = refusalOf(slow.call(ROUTES.listQueues));
  await eventually(() => expect(isCalled).toBe(true));
  collectGarbage();
  expect(await late).toMatchObject({ name: 'ApiUnreachable', reason: 'timeout' });
});

test.each(['a\rb', 'a\nb', 'a b', '\ufeffab', 'مفتاح', ''])(
  'the API client rejects a key that a header cannot carry without printing it: %j',
  (key) => {
    expect(() => clientOf(app.consoleUrl, key)).toThrow(
      new TypeError('the API key must be visible Latin characters alone: no spaces, line ends or control characters'),
    );
  },
);

test('a refusal of the API client shows whether the console sent it', async () => {
  const other = await serverAnswering(404, '<html>no</html>');
  const params = { towing_reference_id: 'nope' };
  for (const [url, isOfConsole] of [
    [app.consoleUrl, true],
    [`${app.consoleUrl}/elsewhere`, false],
    [other.url, false],
  ] as const) {
    const call = clientOf(url).call(ROUTES.readTow, { params });
    expect(await refusalOf(call)).toMatchObject({ httpStatus: 404, isOfConsole });
  }
});

test('the API client sends a form with its fields as text and its files with their names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-client-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const bytes = Buffer.alloc(3_000_000, 'x');
  await writeFile(join(folder, 'a.jpg'), bytes);
  const image = new File([await openAsBlob(join(folder, 'a.jpg'))], 'a.jpg', { type: 'image/jpeg' });
  const taker = await serverAnswering(503, '{"code":"unavailable","message":"","details":[]}');
  const sent: number[] = [];

  await refusalOf(
    clientOf(taker.url).call(ROUTES.reportViolation, {
      body: {
        latitude: 24.5,
        longitude: 46.5,
        location: 'x',
        plateNumber: 'ABJ 1',
        plateType: 'TAXI',
        zoneId: '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f',
        violationType: 'NO_TICKET',
        isSaudi: false,
        metadata: { id: 'm-1', more: [1] },
        images: [image],
      },
      onSent: (soFar) => sent.push(soFar),
    }),
  );

  const [call] = taker.seen;
  expect(call?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  for (const [name, text] of [
    ['latitude', '24.5'],
    ['isSaudi', 'false'],
    ['metadata', '{"id":"m-1","more":[1]}'],
  ]) {
    expect(call?.body).toContain(`name="${name}"\r\n\r\n${text}\r\n`);
  }
  expect(call?.body).toContain('name="images"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\nxxx');
  expect(call?.body).not.toContain('fullName');
  expect(call?.body.length).toBeGreaterThan(bytes.length);
  // In pieces: the file is never whole in memory.
  expect(sent.length).toBeGreaterThan(10);
  expect(sent.at(-1)).toBe(call?.body.length);
});

test('the API client streams changes of tows until the caller stops', async () => {
  const ending = new AbortController();
  const changed: string[] = [];
  const watching = clientOf()
    .watchTows((ref) => changed.push(ref), ending.signal)
    .catch(() => 'ended');
  const ref = await eventually(async () => {
    const made = await newTow(app);
    expect(changed.length).toBeGreaterThan(0);
    return made;
  });
  await eventually(() => expect(changed).toContain(ref));
  ending.abort();
  expect(await watching).toBe('ended');
});
