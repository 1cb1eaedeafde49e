import { OAuth2Server } from 'oauth2-mock-server';
import { lastingPort } from './lasting-port';

/** A provider of OpenID Connect over real HTTP, which signs everyone in with the claims that a test sets. */
export interface TestProvider {
  readonly issuer: string;
  /** Claims of the next ID tokens, besides those of the provider. */
  claims: Readonly<Record<string, unknown>>;
  /** The requests at the token endpoint. */
  readonly tokenRequests: { readonly authorization: string | undefined; readonly body: unknown }[];
  /** Signs in at the address that the console has sent the browser to. Returns the path that leads back. */
  signIn(address: string): Promise<string>;
  /** Sends the next browser back to this origin, for a console whose port is not known before its start. */
  sendBackTo(origin: string): void;
  /** Sends the next browser that has signed out back to this origin. */
  sendBackFromSignOutTo(origin: string): void;
  /** Stops answering, until it is started again at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** An address of https, with the certificate of these files. */
interface TlsOptions {
  readonly key: string;
  readonly certificate: string;
  /** Instead of a free port of this machine only: this one, and the name under which it is reached. */
  readonly public?: { readonly port: number; readonly name: string };
}

/** Starts a provider. */
export async function startProvider(tls?: TlsOptions): Promise<TestProvider> {
  const server = new OAuth2Server(tls?.key, tls?.certificate);
  await server.issuer.keys.generate('RS256');
  const host = tls?.public === undefined ? '127.0.0.1' : '0.0.0.0';
  const port = tls?.public?.port ?? (await lastingPort());
  await server.start(port, host);
  const issuer = `${tls ? 'https' : 'http'}://${tls?.public?.name ?? host}:${port}`;
  const tokenRequests: TestProvider['tokenRequests'] = [];
  const provider: TestProvider = {
    issuer,
    claims: {},
    tokenRequests,
    async signIn(address) {
      const answer = await fetch(address, { redirect: 'manual' });
      const { pathname, search } = new URL(answer.headers.get('location') ?? '');
      return `${pathname}${search}`;
    },
    sendBackTo(origin) {
      const { host } = new URL(origin);
      server.service.once('beforeAuthorizeRedirect', ({ url }: { url: URL }) => {
        Object.assign(url, { protocol: 'http:', host });
      });
    },
    sendBackFromSignOutTo(origin) {
      const { host } = new URL(origin);
      server.service.once('beforePostLogoutRedirect', ({ url }: { url: URL }) => {
        Object.assign(url, { protocol: 'http:', host });
      });
    },
    stop: () => server.stop(),
    async start() {
      await server.start(port, host);
      server.issuer.url = issuer;
    },
  };
  server.issuer.url = issuer;
  server.service.on('beforeTokenSigning', ({ payload }: { payload: object }) => {
    Object.assign(payload, provider.claims);
  });
  server.service.on(
    'beforeResponse',
    (_answer: unknown, { headers, body }: { headers: { authorization?: string }; body: unknown }) => {
      tokenRequests.push({ authorization: headers.authorization, body });
    },
  );
  return provider;
}

/** Starts a provider for the tests of a file. */
export function useProvider(): TestProvider {
  let provider: TestProvider | undefined;
  beforeAll(async () => {
    provider = await startProvider();
  });
  afterAll(() => provider?.stop());
  const current = (): TestProvider => {
    if (provider === undefined) throw new Error('the provider of useProvider() runs only while tests run');
    return provider;
  };
  return {
    get issuer() {
      return current().issuer;
    },
    get claims() {
      return current().claims;
    },
    set claims(claims) {
      current().claims = claims;
    },
    get tokenRequests() {
      return current().tokenRequests;
    },
    signIn: (address) => current().signIn(address),
    sendBackTo: (origin) => current().sendBackTo(origin),
    sendBackFromSignOutTo: (origin) => current().sendBackFromSignOutTo(origin),
    stop: () => current().stop(),
    start: () => current().start(),
  };
}

/** The variables of a console whose people sign in at this provider. */
export function providerVariables({ issuer }: Pick<TestProvider, 'issuer'>): Readonly<Record<string, string>> {
  return {
    CONSOLE_PUBLIC_URL: 'https://console.example',
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'console-of-the-tests',
    OIDC_CLIENT_SECRET: 'secret-of-the-provider',
    OIDC_ROLES: JSON.stringify({ 'yard-crew': 'crew', 'towing-desk': 'dispatcher', 'towing-ops': 'ops' }),
  };
}
