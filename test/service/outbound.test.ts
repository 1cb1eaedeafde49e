import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import type { ServiceClientOptions } from '../../src/service';
import { certificate, startConnectProxy, startSecureServer } from './connect-proxy';
import { clientFor, closeClients, readableLog, REQUESTS } from './client-under-test';
import { startFakeService, TOW_ANSWER, type FakeService } from './fake-service';
import { createMemoryTokenCache } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import { portOf } from '../support/server-port';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  closeClients();
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const started = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
  const resource = await starting;
  stops.push(() => resource.stop());
  return resource;
};

const DIRECT = { proxyUrl: null, caFile: null, clientCertFile: null, clientKeyFile: null };

async function detained(baseUrl: string, outbound: Partial<typeof DIRECT | Record<keyof typeof DIRECT, string>>) {
  const tokens = createMemoryTokenCache(systemClock);
  await tokens.write({ token: 'known', expiresAtMs: null });
  const log = readableLog();
  const options: Partial<ServiceClientOptions> = {
    tokens,
    log,
    timeoutMs: 20_000,
    outbound: { ...DIRECT, ...outbound },
  };
  const result = await clientFor(baseUrl, options).call('detained', REQUESTS.detained);
  return { ...result, log };
}

/** A service on HTTPS that counts its calls. */
async function secureService(options: Parameters<typeof startSecureServer>[1] = {}) {
  const calls: string[] = [];
  const server = await started(
    startSecureServer((request, response) => {
      calls.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.end(TOW_ANSWER.body);
    }, options),
  );
  return { ...server, calls };
}

const CALL = 'PATCH /v1/tow/public/towing-status/detained Bearer known';

describe('a service behind a private authority', () => {
  it('is not called without its authority: surely not sent', async () => {
    const service = await secureService();
    const { exchange } = await detained(service.url, {});
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'tls_unable_to_verify_leaf_signature' });
    expect(service.calls).toEqual([]);
  });

  it('is called with SERVICE_CA_FILE, directly and through a proxy, also by its name', async () => {
    const service = await secureService();
    const proxy = await started(startConnectProxy());
    const caFile = certificate('ca');
    expect((await detained(service.url, { caFile })).exchange.kind).toBe('accepted');
    expect((await detained(service.url, { caFile, proxyUrl: proxy.url })).exchange.kind).toBe('accepted');
    const named = `https://localhost:${service.port}`;
    expect((await detained(named, { caFile, proxyUrl: proxy.url })).exchange.kind).toBe('accepted');
    expect(service.calls).toEqual([CALL, CALL, CALL]);
    expect(proxy.tunnels).toEqual([`127.0.0.1:${service.port}`, `localhost:${service.port}`]);
  });

  it('is called when its authority is in NODE_EXTRA_CA_CERTS and other files are configured', async () => {
    const service = await secureService();
    const other = certificate('client');
    expect((await detained(service.url, { caFile: other })).exchange.kind).toBe('surely_not_sent');
    process.env['NODE_EXTRA_CA_CERTS'] = certificate('ca');
    stops.push(async () => {
      delete process.env['NODE_EXTRA_CA_CERTS'];
    });
    expect((await detained(service.url, { caFile: other })).exchange.kind).toBe('accepted');
    const own = { clientCertFile: certificate('client'), clientKeyFile: certificate('client-key') };
    expect((await detained(service.url, own)).exchange.kind).toBe('accepted');
    process.env['NODE_EXTRA_CA_CERTS'] = '/nowhere/ca.pem';
    expect((await detained(service.url, { caFile: certificate('ca') })).exchange.kind).toBe('accepted');
  });

  it('is not called through a proxy without its authority: surely not sent', async () => {
    const service = await secureService();
    const proxy = await started(startConnectProxy());
    const { exchange } = await detained(service.url, { proxyUrl: proxy.url });
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'tls_unable_to_verify_leaf_signature' });
    expect([proxy.tunnels.length, service.calls]).toEqual([1, []]);
  });

  it('is not called through a proxy when its certificate is of another host: surely not sent', async () => {
    const service = await secureService();
    const proxy = await started(startConnectProxy());
    const { exchange } = await detained(`https://127.0.0.2:${service.port}`, {
      caFile: certificate('ca'),
      proxyUrl: proxy.url,
    });
    // The tunnel to the other loopback address is refused, or the certificate is.
    expect(exchange).toMatchObject({ kind: 'surely_not_sent' });
    expect(service.calls).toEqual([]);
  });

  it('gets the certificate of the client that it asks for', async () => {
    const service = await secureService({ ca: readFileSync(certificate('ca')), requestCert: true });
    const own = { clientCertFile: certificate('client'), clientKeyFile: certificate('client-key') };
    const proxy = await started(startConnectProxy());
    const caFile = certificate('ca');
    expect((await detained(service.url, { caFile })).exchange.kind).not.toBe('accepted');
    expect((await detained(service.url, { caFile, ...own })).exchange.kind).toBe('accepted');
    expect((await detained(service.url, { caFile, ...own, proxyUrl: proxy.url })).exchange.kind).toBe('accepted');
    expect(service.calls).toEqual([CALL, CALL]);
  });
});

describe('a proxy', () => {
  let service: FakeService;
  beforeEach(async () => {
    service = await started(startFakeService());
  });

  it('gets its credentials with each tunnel, and the log gets none', async () => {
    const proxy = await started(startConnectProxy());
    const proxyUrl = `http://operator:hunter%202@127.0.0.1:${proxy.port}`;
    const { exchange, log } = await detained(service.url, { proxyUrl });
    expect(exchange.kind).toBe('accepted');
    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('operator:hunter 2').toString('base64')}`]);
    expect(service.calls[0]?.headers).not.toHaveProperty('Proxy-Authorization');
    expect(inspect(log.lines, { depth: null })).not.toMatch(/hunter|operator:/);
  });

  it.each(['407 Proxy Authentication Required', '403 Forbidden', '502 Bad Gateway', '204 No Content'])(
    'that answers %s opens no tunnel: surely not sent, and its answer is not taken for one of the service',
    async (line) => {
      const proxy = await started(startConnectProxy(() => line));
      for (const url of [service.url, service.url.replace('http:', 'https:')]) {
        const { exchange, rawBody } = await detained(url, { proxyUrl: proxy.url });
        expect(exchange).toEqual({ kind: 'surely_not_sent', cause: `proxy_http_${line.slice(0, 3)}` });
        expect(rawBody).toBeNull();
      }
      expect(service.calls).toEqual([]);
    },
  );

  it('that cannot be reached is named: surely not sent', async () => {
    const gone = await startConnectProxy();
    await gone.stop();
    const { exchange } = await detained(service.url, { proxyUrl: gone.url });
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'proxy_connection_refused' });
  });

  it('that closes the connection without an answer is named: surely not sent', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => server.close(() => resolve())));
    const port = portOf(server);
    const { exchange } = await detained(service.url, { proxyUrl: `http://127.0.0.1:${port}` });
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'proxy_failed' });
  });

  it('that never answers ends the attempt and its connection: surely not sent', async () => {
    const proxy = await started(startConnectProxy(() => ''));
    const tokens = createMemoryTokenCache(systemClock);
    await tokens.write({ token: 'known', expiresAtMs: null });
    const client = clientFor(service.url, { tokens, timeoutMs: 300, outbound: { ...DIRECT, proxyUrl: proxy.url } });
    const { exchange } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange.kind).toBe('surely_not_sent');
    expect('cause' in exchange && exchange.cause).toMatch(/^(proxy_timeout|connect_timeout)$/);
  });
});

describe('files of outbound connections', () => {
  it.each([
    ['SERVICE_CA_FILE', { caFile: '/nowhere/ca.pem' }, 'cannot be read'],
    ['SERVICE_CA_FILE', { caFile: __filename }, 'without a PEM block'],
    [
      'SERVICE_CLIENT_CERT_FILE',
      { clientCertFile: certificate('server-key'), clientKeyFile: certificate('client-key') },
      'without a PEM block',
    ],
    [
      'SERVICE_CLIENT_KEY_FILE',
      { clientCertFile: certificate('client'), clientKeyFile: certificate('server-key') },
      'no key of the certificate',
    ],
  ])('%s is named when it cannot be used', async (variable, outbound, rule) => {
    const start = () => clientFor('http://127.0.0.1:1', { outbound: { ...DIRECT, ...outbound } });
    expect(start).toThrow(variable);
    expect(start).toThrow(rule);
  });
});
