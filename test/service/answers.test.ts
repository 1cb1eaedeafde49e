import { JSON_LEVELS_MAX } from '../../src/contracts/common';
import { clientFor, movableClock, REQUESTS, useFakeService } from './client-under-test';
import { enveloped, json, type FakeService, type FakeReply } from './fake-service';

let fake: FakeService;
useFakeService((opened) => {
  ({ fake } = opened);
});

const detained = (reply: FakeReply) => {
  fake.onCall(() => reply);
  return clientFor(fake.url).call('detained', REQUESTS.detained);
};
const capacity = (reply: FakeReply) => {
  fake.onCall(() => reply);
  return clientFor(fake.url).call('capacity', REQUESTS.capacity);
};

describe('accepted answers', () => {
  it('an accepted answer contains its data with unknown fields, and its body as received', async () => {
    const reply = enveloped({ towing_reference_id: 'TW-1', metadata: { id: 'a', more: [1] }, extra: { x: 1 } });
    expect(await detained(reply)).toMatchObject({
      exchange: { kind: 'accepted', httpStatus: 200 },
      data: { towing_reference_id: 'TW-1', metadata: { id: 'a', more: [1] }, extra: { x: 1 } },
      rawBody: reply.body,
    });
  });

  it('an answer with any 2xx status is accepted', async () => {
    const reply = enveloped({ towing_reference_id: 'TW-1' });
    expect((await detained({ ...reply, status: 201 })).exchange).toEqual({ kind: 'accepted', httpStatus: 201 });
  });

  it('an answer of a guide operation is read bare and inside the envelope', async () => {
    const data = { zoneId: 'z', availableSlots: 0 };
    expect((await capacity(json(data))).data).toEqual(data);
    expect((await capacity(enveloped(data))).data).toEqual(data);
  });

  it('an answer may start with a byte order mark', async () => {
    const reply = enveloped({ towing_reference_id: 'TW-1' });
    expect((await detained({ ...reply, body: `\uFEFF${reply.body}` })).exchange.kind).toBe('accepted');
  });
});

describe('a 2xx that breaks the contract', () => {
  it.each<[string, FakeReply, string[]]>([
    [
      'is an empty object',
      json({}),
      ['code: is required (number)', 'message: is required (string)', 'data: is required (object)'],
    ],
    [
      'lacks what its data must hold',
      enveloped({ metadata: { id: 7 } }),
      ['data.towing_reference_id: must be a non-empty string', 'data.metadata.id: must be a string'],
    ],
    [
      'has a code that is no number, and empty data',
      json({ code: 'ok', message: 'm', data: {} }),
      ['code: must be of type number', 'data.towing_reference_id: must be a non-empty string'],
    ],
    [
      'has no data and a code that neither accepts nor refuses',
      json({ code: 42, message: 'm', data: null }),
      ['data: must be an object'],
    ],
    [
      'has no data and a code that may be an error',
      json({ code: 'ERROR', message: 'm' }),
      ['code: must be of type number', 'data: is required (object)'],
    ],
    ['is a list in an object', json({ code: 200, message: 'm', data: [] }), ['data: must be an object']],
  ])(
    'a 2xx that breaks the contract because it %s is reported with fields and rules, never values',
    async (_, reply, issues) => {
      const result = await detained(reply);
      expect(result.exchange).toMatchObject({ kind: 'contract_broken', httpStatus: reply.status ?? 200 });
      expect('issues' in result.exchange && result.exchange.issues).toEqual(issues);
      expect(result.data).toBeNull();
      expect(result.rawBody).toBe(reply.body ?? null);
    },
  );

  it.each([
    [{ message: 'Violation not found' }],
    [{ statusCode: 400, error: 'Bad Request', message: 'Missing required field' }],
    [{ success: false, message: 'Invalid enum value' }],
    [{ code: -1, message: 'Invalid enum value', data: null }],
  ])('a 2xx to a status update without data and without an accepting code breaks the contract: %j', async (body) => {
    expect((await detained(json(body))).exchange.kind).toBe('contract_broken');
  });

  it.each(['invoice', 'violation'] as const)(
    'an empty body breaks the contract of %s, whose answer is used',
    async (name) => {
      fake.onCall(() => ({ status: 204 }));
      const { exchange } = await clientFor(fake.url).call(name, REQUESTS[name]);
      expect(exchange).toEqual({ kind: 'contract_broken', httpStatus: 204, issues: ['body: must be JSON'] });
    },
  );

  it('a broken answer of a guide operation is reported for the shape that it resembles', async () => {
    expect((await capacity(json({ zoneId: 'z' }))).exchange).toMatchObject({
      issues: ['availableSlots: is required (number)'],
    });
    expect((await capacity(enveloped({ zoneId: 'z' }))).exchange).toMatchObject({
      issues: ['data.availableSlots: is required (number)'],
    });
  });

  it('a 2xx of exactly 256 KiB is still read', async () => {
    const frame = enveloped({ towing_reference_id: '' }).body ?? '';
    const filled = enveloped({ towing_reference_id: 'x'.repeat(256 * 1024 - frame.length) });
    expect(filled.body).toHaveLength(256 * 1024);
    expect((await detained(filled)).exchange.kind).toBe('accepted');
  });

  it('the kept part of a broken answer is 64 KiB and ends with a whole character', async () => {
    const body = `{"a":"${'a'.repeat(64 * 1024 - 7)}${'ك'.repeat(10)}"}`;
    expect((await detained({ body })).rawBody).toBe(body.slice(0, 64 * 1024 - 1));
  });
});

describe('differences that have one meaning', () => {
  const answered = async (
    name: 'detained' | 'invoice' | 'violation_guide' | 'capacity' | 'ticket',
    reply: FakeReply,
  ) => {
    fake.onCall(() => reply);
    const { exchange, data } = await clientFor(fake.url).call(name, REQUESTS[name]);
    return { exchange, data };
  };
  const charge = (total_amount: unknown) => ({ total_amount, paid_amount: 0, tax: 0 });

  it.each<[string, FakeReply, string[]]>([
    ['has status 204', { status: 204 }, ['body: is empty']],
    ['is blank', { body: ' \r\n' }, ['body: is empty']],
    ['has data null', json({ code: 200, message: 'm', data: null }), ['data: must be an object']],
    ['has data null and the code 0', json({ code: 0, message: 'm', data: null }), ['data: must be an object']],
    [
      'has no data, and a code in words',
      json({ code: 'SUCCESS', message: null }),
      ['code: must be of type number', 'message: must be of type string', 'data: is required (object)'],
    ],
  ])('a status update is accepted without data when its answer %s', async (_, reply, differences) => {
    const httpStatus = reply.status ?? 200;
    expect(await answered('detained', reply)).toEqual({
      exchange: { kind: 'accepted', httpStatus, differences },
      data: null,
    });
  });

  it.each<[string, FakeReply, unknown, string[]]>([
    [
      'a code as text and no message',
      json({ code: '200', data: { towing_reference_id: 'TW-1' } }),
      { towing_reference_id: 'TW-1' },
      ['code: must be of type number', 'message: is required (string)'],
    ],
    ['no envelope', json({ towing_reference_id: 'TW-1' }), { towing_reference_id: 'TW-1' }, ['body: has no envelope']],
    [
      'numeric references, of which JSON.parse would round one',
      { body: '{"code":200,"message":"m","data":{"towing_reference_id":12345678901234567891,"metadata":{"id":7}}}' },
      { towing_reference_id: '12345678901234567891', metadata: { id: '7' } },
      ['data.towing_reference_id: must be a non-empty string', 'data.metadata.id: must be a string'],
    ],
    [
      'metadata as JSON text, with a numeric id',
      enveloped({ towing_reference_id: 'TW-1', metadata: '{"id":"m","n":1}' }),
      { towing_reference_id: 'TW-1', metadata: { id: 'm', n: 1 } },
      ['data.metadata: must be an object'],
    ],
    [
      'an empty list in place of metadata',
      enveloped({ towing_reference_id: 'TW-1', metadata: [] }),
      { towing_reference_id: 'TW-1' },
      ['data.metadata: must be an object'],
    ],
  ])('the answer to a status update is read with %s', async (_, reply, data, differences) => {
    expect(await answered('detained', reply)).toEqual({
      exchange: { kind: 'accepted', httpStatus: 200, differences },
      data,
    });
  });

  it('the amounts of an invoice are read with separators, and stay text', async () => {
    const invoice = { towing_reference_id: 'TW-1', towing_invoice: charge('1,150.00'), delay_invoice: charge('٢٣٫٥') };
    const { exchange, data } = await answered('invoice', enveloped(invoice));
    expect(data).toMatchObject({ towing_invoice: charge('1150.00'), delay_invoice: charge('23.5') });
    expect('differences' in exchange && exchange.differences).toEqual([
      'data.towing_invoice.total_amount: must be a number or a numeric string',
      'data.delay_invoice.total_amount: must be a number or a numeric string',
    ]);
    const odd = { ...invoice, delay_invoice: charge('23 SAR') };
    expect((await answered('invoice', enveloped(odd))).exchange.kind).toBe('contract_broken');
  });

  it.each<['violation_guide' | 'capacity' | 'ticket', unknown, unknown]>([
    ['violation_guide', { id: 42, canTow: 'true' }, { id: '42', canTow: true }],
    ['capacity', { zoneId: 7, availableSlots: '12' }, { zoneId: '7', availableSlots: 12 }],
    ['ticket', { hasActiveTicket: 0 }, { hasActiveTicket: false }],
  ])('the answer to %s is read with numbers, texts and flags of other types', async (name, sent, data) => {
    const inside = await answered(name, enveloped(sent));
    expect(inside).toMatchObject({ exchange: { kind: 'accepted' }, data });
    expect(await answered(name, json(sent))).toMatchObject({ exchange: { kind: 'accepted' }, data });
    expect('differences' in inside.exchange && JSON.stringify(inside.exchange.differences)).not.toMatch(/42|12|: 7/);
  });
});

describe('faults in the JSON of an answer', () => {
  const withMore = (more: string): FakeReply => ({
    body: `{"code":200,"message":"m","data":{"towing_reference_id":"TW-1","more":${more}}}`,
  });
  const issuesOf = async (reply: FakeReply) => {
    const { exchange } = await detained(reply);
    return 'issues' in exchange ? exchange.issues : exchange.kind;
  };

  it('an answer with a number out of range at any depth breaks the contract', async () => {
    const data = { towing_reference_id: 'TW-1', metadata: { id: 'a', more: ['HUGE'] } };
    const inMetadata = { body: (enveloped(data).body ?? '').replace('"HUGE"', '1e999') };
    expect(await issuesOf(inMetadata)).toEqual(['data.metadata.more.0: must be a finite number']);
    expect(await issuesOf(withMore('{"x":-1e999}'))).toEqual(['data.more.x: must be a finite number']);
  });

  it('an answer that is nested deeper than a webhook in an envelope may be breaks the contract', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    // The body itself and its data are two levels.
    expect(await issuesOf(withMore(nested(JSON_LEVELS_MAX - 1)))).toBe('accepted');
    expect(await issuesOf(withMore(nested(JSON_LEVELS_MAX)))).toEqual(['body: is nested too deeply']);
    expect(await issuesOf(withMore(nested(100_000)))).toEqual(['body: is nested too deeply']);
  });

  it('a broken answer reports 20 faults and the number of the others, for any number and length of names', async () => {
    const names = Array.from({ length: 1000 }, (_, n) => `"${n}${'n'.repeat(240)}":1e999`);
    const issues = await issuesOf(withMore(`{${names.join(',')}}`));
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)).toBe('body: and 980 more');
    expect(Math.max(...Array.from(issues, (issue) => issue.length))).toBeLessThan(250);
  });
});

describe('a 2xx that is not the service', () => {
  const html = { 'content-type': 'text/html' };
  it.each<[string, FakeReply, string]>([
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
  ])('a 2xx that is %s is not from the service', async (_, reply, cause) => {
    const result = await detained(reply);
    expect(result).toMatchObject({ exchange: { kind: 'not_the_service', httpStatus: 200, cause }, data: null });
    expect(result.rawBody?.length).toBeLessThanOrEqual(64 * 1024);
  });

  it.each([[{}], [{ 'content-type': 'text/html' }], [{ 'content-type': 'text/plain' }]])(
    'a JSON object is from the service with any content type: %j',
    async (headers) => {
      const reply = { headers, body: enveloped({ towing_reference_id: 'TW-1' }).body ?? '' };
      expect((await detained(reply)).exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
    },
  );
});

describe('refusals', () => {
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
    ['a text about a token', { message: 'The bearer token expired' }, 'The bearer token expired'],
    [
      'a text that repeats the header of the call',
      { message: 'invalid header: Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.a-b_c/d= (expired)' },
      'invalid header: Authorization: Bearer [hidden] (expired)',
    ],
  ])("a refusal contains the service's message from %s", async (_, body, message) => {
    expect((await detained(json(body, 400))).exchange).toEqual({
      kind: 'refused',
      httpStatus: 400,
      message,
      isJson: true,
      notBeforeMs: null,
    });
  });

  it('a refusal without JSON is marked as such and has no message', async () => {
    const result = await detained({ status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not found' });
    expect(result.exchange).toMatchObject({ kind: 'refused', httpStatus: 404, message: null, isJson: false });
    expect(result.rawBody).toBe('<h1>Not found');
  });

  it.each([301, 302, 307, 308])('a redirect with %s is a refusal and is not followed', async (status) => {
    fake.onCall((call) => {
      if (call.url === '/elsewhere') return enveloped({ towing_reference_id: 'TW-1' });
      return { status, headers: { location: '/elsewhere' } };
    });
    const { exchange } = await clientFor(fake.url).call('detained', REQUESTS.detained);
    expect(exchange).toMatchObject({ kind: 'refused', httpStatus: status });
    expect(fake.calls).toHaveLength(1);
  });

  it.each([403, 408, 429, 500, 502, 503])(
    'a refusal with status %s is returned unchanged and sent once',
    async (status) => {
      expect((await detained(json({ message: 'm' }, status))).exchange).toMatchObject({
        kind: 'refused',
        httpStatus: status,
      });
      expect(fake.calls).toHaveLength(1);
    },
  );
});

describe('the time the service requests', () => {
  const clock = { ...movableClock(), nowMs: () => Date.UTC(2025, 0, 1, 12) };
  const notBefore = async (status: number, headers: Record<string, string>) => {
    const date = new Date(clock.nowMs()).toUTCString();
    fake.onCall(() => ({ ...json({ message: 'm' }, status), headers: { Date: date, ...headers } }));
    const { exchange } = await clientFor(fake.url, { clock }).call('detained', REQUESTS.detained);
    return exchange.kind === 'refused' ? exchange.notBeforeMs : undefined;
  };

  it('the time the service requests is read from Retry-After in seconds', async () => {
    expect(await notBefore(429, { 'Retry-After': '17' })).toBe(Date.UTC(2025, 0, 1, 12, 0, 17));
    expect(await notBefore(503, { 'retry-after': '0' })).toBe(Date.UTC(2025, 0, 1, 12));
  });

  it('the time the service requests is read by its own clock', async () => {
    const headers = { Date: 'Wed, 01 Jan 2025 13:00:00 GMT', 'Retry-After': 'Wed, 01 Jan 2025 13:00:30 GMT' };
    expect(await notBefore(503, headers)).toBe(Date.UTC(2025, 0, 1, 12, 0, 30));
  });

  it('the later of Retry-After and X-RateLimit-Reset counts on a 429; on other statuses the reset is ignored', async () => {
    const reset = { 'X-RateLimit-Reset': String(Date.UTC(2025, 0, 1, 12, 1) / 1000) };
    expect(await notBefore(429, reset)).toBe(Date.UTC(2025, 0, 1, 12, 1));
    expect(await notBefore(429, { ...reset, 'Retry-After': '5' })).toBe(Date.UTC(2025, 0, 1, 12, 1));
    expect(await notBefore(429, { ...reset, 'Retry-After': '90' })).toBe(Date.UTC(2025, 0, 1, 12, 1, 30));
    expect(await notBefore(500, reset)).toBeNull();
  });
});
