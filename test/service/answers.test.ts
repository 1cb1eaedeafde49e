import { JSON_LEVELS_MAX } from '../../src/contracts/common';
import { clientFor, closeClients, movableClock, REQUESTS } from './client-under-test';
import { enveloped, json, startFakeService, type FakeService, type Reply } from './fake-service';

let fake: FakeService;
beforeEach(async () => {
  fake = await startFakeService();
});
afterEach(async () => {
  closeClients();
  await fake.stop();
});

const detained = (reply: Reply) => {
  fake.onCall(() => reply);
  return clientFor(fake.url).call('detained', REQUESTS.detained);
};
const capacity = (reply: Reply) => {
  fake.onCall(() => reply);
  return clientFor(fake.url).call('capacity', REQUESTS.capacity);
};

describe('an accepted answer', () => {
  it('gives its data with fields the contract does not know, and its body as received', async () => {
    const reply = enveloped({ towing_reference_id: 'TW-1', metadata: { id: 'a', more: [1] }, extra: { x: 1 } });
    expect(await detained(reply)).toMatchObject({
      exchange: { kind: 'accepted', httpStatus: 200 },
      data: { towing_reference_id: 'TW-1', metadata: { id: 'a', more: [1] }, extra: { x: 1 } },
      rawBody: reply.body,
    });
  });

  it('is any 2xx', async () => {
    const reply = enveloped({ towing_reference_id: 'TW-1' });
    expect((await detained({ ...reply, status: 201 })).exchange).toEqual({ kind: 'accepted', httpStatus: 201 });
  });

  it('of a guide operation is read bare and inside the envelope', async () => {
    const data = { zoneId: 'z', availableSlots: 0 };
    expect((await capacity(json(data))).data).toEqual(data);
    expect((await capacity(enveloped(data))).data).toEqual(data);
  });

  it('may start with a byte order mark', async () => {
    const reply = enveloped({ towing_reference_id: 'TW-1' });
    expect((await detained({ ...reply, body: `\uFEFF${reply.body}` })).exchange.kind).toBe('accepted');
  });
});

describe('a 2xx that breaks the contract', () => {
  it.each<[string, Reply, string[]]>([
    ['has status 204', { status: 204 }, ['body: must be JSON']],
    ['is empty', { status: 200 }, ['body: must be JSON']],
    ['is blank', { status: 200, body: ' \r\n' }, ['body: must be JSON']],
    [
      'is an empty object',
      json({}),
      ['code: is required (number)', 'message: is required (string)', 'data: is required (object)'],
    ],
    [
      'has no envelope',
      json({ towing_reference_id: 'TW-1' }),
      ['code: is required (number)', 'message: is required (string)', 'data: is required (object)'],
    ],
    [
      'lacks what its data must hold',
      enveloped({ metadata: { id: 7 } }),
      ['data.towing_reference_id: must be a non-empty string', 'data.metadata.id: must be a string'],
    ],
    ['has a code that is no integer', json({ code: 'ok', message: 'm', data: {} }), ['code: must be of type number']],
  ])('because it %s names fields and rules, never values', async (_, reply, issues) => {
    const result = await detained(reply);
    expect(result.exchange).toMatchObject({ kind: 'contract_broken', httpStatus: reply.status ?? 200 });
    expect('issues' in result.exchange && result.exchange.issues).toEqual(issues);
    expect(result.data).toBeNull();
    expect(result.rawBody).toBe(reply.body ?? null);
  });

  it('of a guide operation complains about the shape that was meant', async () => {
    expect((await capacity(json({ zoneId: 'z' }))).exchange).toMatchObject({
      issues: ['availableSlots: is required (number)'],
    });
    expect((await capacity(enveloped({ zoneId: 'z' }))).exchange).toMatchObject({
      issues: ['data.availableSlots: is required (number)'],
    });
  });

  it('of exactly 256 KiB is still read', async () => {
    const frame = enveloped({ towing_reference_id: '' }).body ?? '';
    const filled = enveloped({ towing_reference_id: 'x'.repeat(256 * 1024 - frame.length) });
    expect(filled.body).toHaveLength(256 * 1024);
    expect((await detained(filled)).exchange.kind).toBe('accepted');
  });

  it('keeps 64 KiB of its body and never half a character', async () => {
    const body = `{"a":"${'a'.repeat(64 * 1024 - 7)}${'ك'.repeat(10)}"}`;
    expect((await detained({ body })).rawBody).toBe(body.slice(0, 64 * 1024 - 1));
  });
});

describe('a 2xx whose body only looks like an answer', () => {
  const withMore = (more: string): Reply => ({
    body: `{"code":200,"message":"m","data":{"towing_reference_id":"TW-1","more":${more}}}`,
  });
  const issuesOf = async (reply: Reply) => {
    const { exchange } = await detained(reply);
    return 'issues' in exchange ? exchange.issues : exchange.kind;
  };

  it('is broken by a number that is out of range, wherever it is', async () => {
    const data = { towing_reference_id: 'TW-1', metadata: { id: 'a', more: ['HUGE'] } };
    const inMetadata = { body: (enveloped(data).body ?? '').replace('"HUGE"', '1e999') };
    expect(await issuesOf(inMetadata)).toEqual(['data.metadata.more.0: must be a finite number']);
    expect(await issuesOf(withMore('{"x":-1e999}'))).toEqual(['data.more.x: must be a finite number']);
  });

  it('is broken by being nested deeper than a webhook in an envelope may be', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    // The body itself and its data are two levels.
    expect(await issuesOf(withMore(nested(JSON_LEVELS_MAX - 1)))).toBe('accepted');
    expect(await issuesOf(withMore(nested(JSON_LEVELS_MAX)))).toEqual(['body: is nested too deeply']);
    expect(await issuesOf(withMore(nested(100_000)))).toEqual(['body: is nested too deeply']);
  });

  it('names 20 faults and counts the others, however many there are and however long their names are', async () => {
    const names = Array.from({ length: 1000 }, (_, n) => `"${n}${'n'.repeat(240)}":1e999`);
    const issues = await issuesOf(withMore(`{${names.join(',')}}`));
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)).toBe('body: and 980 more');
    expect(Math.max(...Array.from(issues, (issue) => issue.length))).toBeLessThan(250);
  });
});

describe('a 2xx that is not the service', () => {
  const html = { 'content-type': 'text/html' };
  it.each<[string, Reply, string]>([
    ['an HTML page', { headers: html, body: '<html>secret</html>' }, 'not_json'],
    ['an HTML page that calls itself JSON', { ...json(''), body: '<html>' }, 'not_json'],
    ['plain text', { headers: { 'content-type': 'text/plain' }, body: 'OK' }, 'not_json'],
    ['a JSON object that is cut in two', { ...json({}), body: '{"code":200,' }, 'not_json'],
    ['an array', json([]), 'not_an_object'],
    ['a text in JSON', json('text'), 'not_an_object'],
    ['a number in JSON', json(200), 'not_an_object'],
    ['null', json(null), 'not_an_object'],
    ['more than 256 KiB', enveloped({ towing_reference_id: 'x'.repeat(256 * 1024) }), 'too_long'],
    ['5 MB of a page', { headers: html, body: '<p>'.repeat(1_700_000) }, 'too_long'],
  ])('is %s', async (_, reply, cause) => {
    const result = await detained(reply);
    expect(result).toMatchObject({ exchange: { kind: 'not_the_service', httpStatus: 200, cause }, data: null });
    expect(result.rawBody?.length).toBeLessThanOrEqual(64 * 1024);
  });

  it.each([[{}], [{ 'content-type': 'text/html' }], [{ 'content-type': 'text/plain' }]])(
    'is never a JSON object of any content type: %j',
    async (headers) => {
      const reply = { headers, body: enveloped({ towing_reference_id: 'TW-1' }).body ?? '' };
      expect((await detained(reply)).exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
    },
  );
});

describe('a refusal', () => {
  it.each<[string, unknown, string | null]>([
    ['message', { code: 400, message: ' Missing required field ' }, 'Missing required field'],
    ['error', { error: 'Bad Request' }, 'Bad Request'],
    ['error.message', { error: { code: 7, message: 'Zone not found' } }, 'Zone not found'],
    ['a list of messages', { message: ['plate_number must be a string', 'b'] }, 'plate_number must be a string'],
    ['errors', { errors: [{ field: 'a', detail: 'is missing' }] }, 'is missing'],
    ['detail', { type: 'about:blank', detail: 'Nope' }, 'Nope'],
    ['the message before the error', { error: 'Not Found', message: 'Violation not found' }, 'Violation not found'],
    ['the error when the message says nothing', { error: 'Not Found', message: '' }, 'Not Found'],
    ['a bare string', 'Access denied', 'Access denied'],
    ['nothing to be found', { code: 7, path: '/v1' }, null],
    ['too many words', { message: 'm'.repeat(600) }, 'm'.repeat(500)],
  ])("keeps the service's words from %s", async (_, body, message) => {
    expect((await detained(json(body, 400))).exchange).toEqual({
      kind: 'refused',
      httpStatus: 400,
      message,
      isJson: true,
      notBeforeMs: null,
    });
  });

  it('without JSON says so', async () => {
    const result = await detained({ status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not found' });
    expect(result.exchange).toMatchObject({ kind: 'refused', httpStatus: 404, message: null, isJson: false });
    expect(result.rawBody).toBe('<h1>Not found');
  });

  it.each([301, 302, 307, 308])('by a %s is not followed', async (status) => {
    fake.onCall((call) => {
      if (call.url === '/elsewhere') return enveloped({ towing_reference_id: 'TW-1' });
      return { status, headers: { location: '/elsewhere' } };
    });
    const { exchange } = await clientFor(fake.url).call('detained', REQUESTS.detained);
    expect(exchange).toMatchObject({ kind: 'refused', httpStatus: status });
    expect(fake.calls).toHaveLength(1);
  });

  it.each([403, 408, 429, 500, 502, 503])('%s is answered as it is and sent once', async (status) => {
    expect((await detained(json({ message: 'm' }, status))).exchange).toMatchObject({
      kind: 'refused',
      httpStatus: status,
    });
    expect(fake.calls).toHaveLength(1);
  });
});

describe('the time the service asks for', () => {
  const clock = { ...movableClock(), nowMs: () => Date.UTC(2025, 0, 1, 12) };
  const notBefore = async (status: number, headers: Record<string, string>) => {
    fake.onCall(() => ({ ...json({ message: 'm' }, status), headers }));
    const { exchange } = await clientFor(fake.url, { clock }).call('detained', REQUESTS.detained);
    return exchange.kind === 'refused' ? exchange.notBeforeMs : undefined;
  };

  it('is read from Retry-After in seconds', async () => {
    expect(await notBefore(429, { 'Retry-After': '17' })).toBe(Date.UTC(2025, 0, 1, 12, 0, 17));
    expect(await notBefore(503, { 'retry-after': '0' })).toBe(Date.UTC(2025, 0, 1, 12));
  });

  it('is read from Retry-After as an HTTP date', async () => {
    expect(await notBefore(503, { 'Retry-After': 'Wed, 01 Jan 2025 12:05:00 GMT' })).toBe(Date.UTC(2025, 0, 1, 12, 5));
  });

  it('is the later of Retry-After and X-RateLimit-Reset on a 429; on no other status does a reset count', async () => {
    const reset = { 'X-RateLimit-Reset': String(Date.UTC(2025, 0, 1, 12, 1) / 1000) };
    expect(await notBefore(429, reset)).toBe(Date.UTC(2025, 0, 1, 12, 1));
    expect(await notBefore(429, { ...reset, 'Retry-After': '5' })).toBe(Date.UTC(2025, 0, 1, 12, 1));
    expect(await notBefore(429, { ...reset, 'Retry-After': '90' })).toBe(Date.UTC(2025, 0, 1, 12, 1, 30));
    expect(await notBefore(500, reset)).toBeNull();
  });
});
