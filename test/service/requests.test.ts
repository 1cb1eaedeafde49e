import type { OperationName } from '../../src/contracts/service/operations';
import { clientFor, closeClients, REQUESTS } from './client-under-test';
import { enveloped, json, startFakeService, TOW_ANSWER, type FakeService } from './fake-service';

let fake: FakeService;
beforeEach(async () => {
  fake = await startFakeService();
});
afterEach(async () => {
  closeClients();
  await fake.stop();
});

/** Headers of a connection that stays open; what Node adds for HTTP itself is part of the wire too. */
const kept = (host: string) => ({ Host: host, Connection: 'keep-alive' });

describe('requests to the service', () => {
  const towReports: [OperationName & keyof typeof REQUESTS, string, string][] = [
    ['started', 'PATCH', '/v1/tow/public/towing-status/started'],
    ['detained', 'PATCH', '/v1/tow/public/towing-status/detained'],
    ['canceled', 'PATCH', '/v1/tow/public/towing-status/canceled'],
    ['released', 'PATCH', '/v1/tow/public/towing-status/released'],
    ['payment', 'PATCH', '/v1/tow/public/invoice/payment-status'],
  ];
  it.each(towReports)(
    'the operation %s sends a %s of exactly its JSON with exactly the documented headers',
    async (name, method, path) => {
      const body = JSON.stringify(REQUESTS[name]);
      const result = await clientFor(fake.url).call(name, REQUESTS[name]);
      expect(result.exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
      expect(fake.calls).toHaveLength(1);
      expect(fake.calls[0]).toMatchObject({ method, url: path });
      expect(fake.calls[0]?.body.toString()).toBe(body);
      expect(fake.calls[0]?.headers).toEqual({
        ...kept(fake.url.slice('http://'.length)),
        Accept: 'application/json',
        'Accept-Encoding': 'identity',
        'User-Agent': 'towhook',
        Authorization: 'Bearer token-1',
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
      });
    },
  );

  it('the fields of a request body keep the order they were given in', async () => {
    const { towing_reference_id, ...rest } = REQUESTS.started;
    await clientFor(fake.url).call('started', { towing_reference_id, ...rest });
    expect(fake.calls[0]?.body.toString()).toBe(JSON.stringify({ towing_reference_id, ...rest }));
  });

  it('an invoice is created by a POST, and the whole answer is returned', async () => {
    const data = {
      towing_reference_id: 'TW-20250101-ABC123',
      towing_invoice: { total_amount: 115, paid_amount: 0, tax: 15 },
      delay_invoice: { total_amount: '23.00', paid_amount: 0, tax: 3 },
      metadata: { id: 'x1' },
    };
    fake.onCall(() => enveloped(data));
    const result = await clientFor(fake.url).call('invoice', REQUESTS.invoice);
    expect(result.data).toEqual(data);
    expect(fake.calls[0]).toMatchObject({ method: 'POST', url: '/v1/tow/public/invoice' });
    expect(fake.calls[0]?.body.toString()).toBe(
      '{"towing_reference_id":"TW-20250101-ABC123","vehicle_type":"HEAVY","delay_in_days":0}',
    );
    expect(fake.calls[0]?.headers).toMatchObject({ Connection: 'keep-alive', 'Content-Type': 'application/json' });
  });

  it('a token is requested with the credentials in headers and no body', async () => {
    const result = await clientFor(fake.url).call('token', null);
    expect(result).toMatchObject({ exchange: { kind: 'accepted', httpStatus: 200 }, data: { token: 'token-1' } });
    expect(fake.tokenCalls).toHaveLength(1);
    expect(fake.tokenCalls[0]).toMatchObject({ method: 'POST', url: '/auth/public/token', body: Buffer.alloc(0) });
    expect(fake.tokenCalls[0]?.headers).toEqual({
      Host: fake.url.slice('http://'.length),
      Connection: 'keep-alive',
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': 'towhook',
      'X-Client-Id': 'client-7',
      'X-Client-Secret': 'secret-42',
      'Content-Length': '0',
    });
  });

  it('a zone is sent in the query, encoded so that every character arrives', async () => {
    fake.onCall(() => json({ zoneId: 'z', availableSlots: 4 }));
    const result = await clientFor(fake.url).call('capacity', REQUESTS.capacity);
    expect(result.data).toEqual({ zoneId: 'z', availableSlots: 4 });
    expect(fake.calls[0]).toMatchObject({
      method: 'GET',
      url: '/sites/public/site-capacity?zoneId=ab%20c%2F%C3%A9%26%3D%2B%3F%23',
      body: Buffer.alloc(0),
    });
    expect(fake.calls[0]?.headers).toEqual({
      ...kept(fake.url.slice('http://'.length)),
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': 'towhook',
      Authorization: 'Bearer token-1',
    });
  });

  it('a ticket check is a POST of its three fields', async () => {
    fake.onCall(() => json({ hasActiveTicket: true }));
    const result = await clientFor(fake.url).call('ticket', REQUESTS.ticket);
    expect(result.data).toEqual({ hasActiveTicket: true });
    expect(fake.calls[0]).toMatchObject({ method: 'POST', url: '/tickets/public/active-ticket' });
    expect(fake.calls[0]?.body.toString()).toBe(
      '{"zoneId":"z-1","plateNumber":"1234 ABC","plateType":"Heavy_Equipment"}',
    );
  });
});

describe('the base address of the service', () => {
  it.each([
    ['', ''],
    ['/', ''],
    ['/api', '/api'],
    ['/api/', '/api'],
    ['/a/../b//c', '/a/../b//c'],
    ['/%7Eop/v2.%2f/', '/%7Eop/v2.%2f'],
  ])('the client keeps the prefix "%s" of the base address unchanged before every path', async (configured, prefix) => {
    const client = clientFor(fake.url + configured);
    await client.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls[0]?.url).toBe(`${prefix}/auth/public/token`);
    expect(fake.calls[0]?.url).toBe(`${prefix}/v1/tow/public/towing-status/detained`);
  });

  it.each([
    'ftp://host/',
    'host:3000',
    'http://user:hunter2@host/',
    'http://host/?key=hunter2',
    'http://host/#hunter2',
    'http://host/a b hunter2',
    'http://host:99999/hunter2',
    '',
  ])('the client refuses the base address "%s" without repeating it', (baseUrl) => {
    expect(() => clientFor(baseUrl)).toThrow(/the base address of the service/);
    expect(() => clientFor(baseUrl)).not.toThrow(/hunter2/);
  });

  it('the client refuses credentials that are invalid in a header, without repeating them', () => {
    expect(() => clientFor(fake.url, { clientSecret: 'hunter2\r\nX: y' })).toThrow('X-Client-Secret must be');
    expect(() => clientFor(fake.url, { clientSecret: 'hunter2\r\nX: y' })).not.toThrow(/hunter2/);
  });

  it('the client connects to an IPv6 base address', async () => {
    const result = await clientFor('http://[::1]:1/', { timeoutMs: 1_000 }).call('token', null);
    expect(result.exchange).toMatchObject({ kind: 'surely_not_sent' });
    expect(result.exchange).not.toMatchObject({ cause: 'dns_failed' });
  });
});

describe('the paths of operations', () => {
  it('the client sends an operation to its configured path below the base address, and others to the documented one', async () => {
    const client = clientFor(`${fake.url}/api`, { paths: { started: '/v2/tow//started', capacity: '/zones/free/' } });
    fake.onCall((_, nth) => (nth === 2 ? json({ zoneId: 'z', availableSlots: 4 }) : TOW_ANSWER));
    await client.call('started', REQUESTS.started);
    await client.call('capacity', REQUESTS.capacity);
    await client.call('detained', REQUESTS.detained);
    expect(fake.calls.map(({ method, url }) => `${method} ${url.split('?')[0]}`)).toEqual([
      'PATCH /api/v2/tow//started',
      'GET /api/zones/free/',
      'PATCH /api/v1/tow/public/towing-status/detained',
    ]);
  });

  it('the client sends the credentials and the token each to its own configured host only', async () => {
    const auth = await startFakeService();
    try {
      const paths = { token: `${auth.url}/issue/auth/public/token/` };
      const { exchange } = await clientFor(`${fake.url}/api`, { paths }).call('invoice', REQUESTS.invoice);
      expect(exchange).toMatchObject({ httpStatus: 200 });
      expect([auth.tokenCalls.length, auth.calls.length, fake.tokenCalls.length, fake.calls.length]).toEqual([
        1, 0, 0, 1,
      ]);
      expect(auth.tokenCalls[0]).toMatchObject({
        url: '/issue/auth/public/token/',
        headers: { 'X-Client-Id': 'client-7' },
      });
      expect(fake.calls[0]?.headers).not.toHaveProperty('X-Client-Secret');
      expect(fake.calls[0]?.headers['Authorization']).toBe('Bearer token-1');
    } finally {
      await auth.stop();
    }
  });

  it('the client refuses a configured address that it cannot use, without repeating it', () => {
    const paths = { token: 'https://user:hunter2@auth.example/token' };
    expect(() => clientFor(fake.url, { paths })).toThrow('the address of token must be');
    expect(() => clientFor(fake.url, { paths })).not.toThrow(/hunter2/);
  });
});

it('the user agent of the client is configurable', async () => {
  fake.onCall(() => TOW_ANSWER);
  await clientFor(fake.url, { userAgent: 'towhook/1.0' }).call('detained', REQUESTS.detained);
  expect(fake.calls[0]?.headers['User-Agent']).toBe('towhook/1.0');
});
