import express from 'express';
import { loadConfig } from '../../src/platform/config/config';
import { signedOutVisitor } from '../console/visitor';
import { api } from '../operator/client';
import { deliver, towRequest } from '../receiver/calls';
import type { App } from '../support/app';
import { recordedLog, type RecordedLine } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { useApps } from './apps';

const redis = useRedis();
const { start } = useApps(redis);

const behind = (trustProxy: string, more: Readonly<Record<string, string>> = {}) => ({
  environment: { ...(trustProxy === '' ? {} : { TRUST_PROXY: trustProxy }), ...more },
});
const from = (...addresses: readonly string[]) => ({ 'x-forwarded-for': addresses.join(', ') });

/** Statuses of wrong keys that a visitor of this address sends through a proxy on this machine. */
async function guesses(app: App, times: number, headers: Readonly<Record<string, string>>): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) {
    statuses.push((await api(app, `thk_wrong-${index}`).get('/api/tows').set(headers)).status);
  }
  return statuses;
}

describe('limit of wrong API keys behind proxies', () => {
  test.each(['127.0.0.1', '10.0.0.0/8, 127.0.0.0/8, ::1', '1'])(
    'counts wrong API keys of each visitor separately behind a proxy of TRUST_PROXY=%s',
    async (trustProxy) => {
      const app = await start('console', behind(trustProxy));
      expect(await guesses(app, 11, from('192.0.2.1'))).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
      expect(await guesses(app, 1, from('192.0.2.2'))).toEqual([401]);
    },
  );

  test('ignores an address that a visitor claims in front of the one that the proxy adds', async () => {
    const app = await start('console', behind('127.0.0.1'));
    await guesses(app, 10, from('198.51.100.1', '192.0.2.1'));
    expect(await guesses(app, 1, from('198.51.100.2', '192.0.2.1'))).toEqual([429]);
  });

  test('removes both of two trusted proxies from the list of addresses', async () => {
    const app = await start('console', behind('2'));
    await guesses(app, 10, from('192.0.2.1', '10.0.0.1'));
    expect(await guesses(app, 1, from('192.0.2.1', '10.0.0.2'))).toEqual([429]);
    expect(await guesses(app, 1, from('192.0.2.2', '10.0.0.1'))).toEqual([401]);
  });

  test.each(['', '0', '10.0.0.0/8'])(
    'counts wrong API keys by the other end of the connection with TRUST_PROXY=%j',
    async (trustProxy) => {
      const app = await start('console', behind(trustProxy));
      await guesses(app, 10, from('192.0.2.1'));
      expect(await guesses(app, 1, from('192.0.2.2'))).toEqual([429]);
    },
  );
});

describe('WEBHOOK_RATE_PER_MINUTE behind a proxy', () => {
  const posts = async (app: App, times: number, headers: Readonly<Record<string, string>>) => {
    const statuses: number[] = [];
    for (let index = 0; index < times; index += 1) {
      const body = towRequest({ towing_reference_id: `TW-${index}` });
      statuses.push((await deliver(app.receiverUrl, '/tow-request', body, headers)).status);
    }
    return statuses;
  };

  test('counts the webhooks of the service and of a stranger separately behind a proxy', async () => {
    const app = await start('receiver', behind('127.0.0.1', { WEBHOOK_RATE_PER_MINUTE: '3' }));
    expect(await posts(app, 4, from('192.0.2.66'))).toEqual([200, 200, 200, 429]);
    expect(await posts(app, 3, from('192.0.2.1'))).toEqual([200, 200, 200]);
  });

  test('counts the webhooks of all addresses in one IPv6 network, and of all malformed addresses, as one source', async () => {
    const app = await start('receiver', behind('127.0.0.1', { WEBHOOK_RATE_PER_MINUTE: '2' }));
    expect(await posts(app, 2, from('2001:db8::1'))).toEqual([200, 200]);
    expect(await posts(app, 1, from('2001:db8::2'))).toEqual([429]);
    expect(await posts(app, 2, from('one'))).toEqual([200, 200]);
    expect(await posts(app, 1, from('another'))).toEqual([429]);
  });

  test('counts all webhooks behind a proxy as one source without TRUST_PROXY', async () => {
    const app = await start('receiver', behind('', { WEBHOOK_RATE_PER_MINUTE: '3' }));
    await posts(app, 3, from('192.0.2.66'));
    expect(await posts(app, 1, from('192.0.2.1'))).toEqual([429]);
  });
});

describe('session cookie behind proxies', () => {
  const signIn = async (app: App) => {
    const visitor = signedOutVisitor(app);
    await visitor.postRaw('/sign-in', `key=${app.apiKey}`, { 'x-forwarded-proto': 'https' });
    return visitor.cookies;
  };

  test('sets a Secure session cookie that reads the API when a trusted proxy was reached over TLS', async () => {
    const app = await start('console', behind('127.0.0.1'));
    const id = (await signIn(app)).get('__Host-towhook_session') ?? '';
    expect(id).not.toBe('');
    const headers = { cookie: `__Host-towhook_session=${id}`, 'x-forwarded-proto': 'https' };
    expect((await api(app, null).get('/api/tows').set(headers)).status).toBe(200);
  });

  test('sets a session cookie without Secure when a proxy that is not in TRUST_PROXY claims TLS', async () => {
    const cookies = await signIn(await start('console', behind('10.0.0.0/8')));
    expect(cookies.get('__Host-towhook_session')).toBeUndefined();
    expect(cookies.get('towhook_session')).toBeDefined();
  });
});

describe('TRUST_PROXY', () => {
  test.each(['127.0.0.1', '10.0.0.0/8,::1', '2001:db8::/32', '::ffff:10.0.0.1', '3'])(
    'accepts TRUST_PROXY=%s',
    (value) => {
      const { trustProxy } = loadConfig({ TRUST_PROXY: value });
      expect(() => express().set('trust proxy', trustProxy)).not.toThrow();
    },
  );

  test.each(['true', 'proxy.example', '10.0.0.0/33', '10.0.0.0/0', '10.0.0', '-1', '1.5', '100', 'fe80::1%eth0'])(
    'refuses TRUST_PROXY=%s at the start',
    (value) => {
      expect(() => loadConfig({ TRUST_PROXY: value })).toThrow(
        'TRUST_PROXY must be a comma list of addresses and networks (10.0.0.0/8), or a number of proxies up to 99',
      );
    },
  );
});

describe('a proxy that TRUST_PROXY does not name', () => {
  const noted = (lines: readonly RecordedLine[]) => lines.filter(({ event }) => event === 'proxy.untrusted');

  test('is logged once for receiver and console, with its address and without the values of its headers', async () => {
    const { log, lines } = recordedLog();
    const app = await start('all', { log });
    for (const url of [app.receiverUrl, app.receiverUrl, app.consoleUrl]) {
      await fetch(`${url}/nothing`, { headers: from('192.0.2.1') });
    }
    expect(noted(lines)).toEqual([
      expect.objectContaining({ level: 'warn', peer: '127.0.0.1', variable: 'TRUST_PROXY' }),
    ]);
    expect(JSON.stringify(noted(lines))).not.toContain('192.0.2.1');
  });

  test('is not logged if it is trusted, or if a request has no X-Forwarded-For', async () => {
    const trusting = recordedLog();
    const trusted = await start('receiver', { log: trusting.log, ...behind('127.0.0.1') });
    await fetch(`${trusted.receiverUrl}/nothing`, { headers: from('192.0.2.1') });
    const direct = recordedLog();
    const plain = await start('receiver', { log: direct.log });
    await fetch(`${plain.receiverUrl}/nothing`);
    expect([...noted(trusting.lines), ...noted(direct.lines)]).toEqual([]);
  });
});
