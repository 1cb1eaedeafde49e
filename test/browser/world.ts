import { parseCookie } from 'cookie';
import type { Page } from 'playwright-core';
import type { z } from 'zod';
import { newApiKeyView, taskView, towView, type TowView } from '../../src/contracts/operator';
import { page as pageOf } from '../../src/contracts/paging';
import { simulatorCalls, simulatorOrders, type SimulatorCall } from '../../src/contracts/service/simulator';
import type { Role, TowState } from '../../src/domain/vocabulary';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { startSimulator, type Simulator } from '../../src/simulator';
import { startApp, type App } from '../support/app';
import { waitForPath } from '../support/browser';
import { eventually } from '../support/eventually';
import { useRedis, type SharedRedis } from '../support/redis';

/** A console with all that it needs: a simulated service, workers, and API keys of every role. */
export interface ConsoleWorld {
  readonly app: App;
  readonly simulator: Simulator;
  readonly redis: SharedRedis;
  /** The absolute URL of a path of the console. */
  at(path: string): string;
  /** An API key of this role, created once per test; its name is the role. */
  keyOf(role: Role): Promise<string>;
  /** Gives the page a session of this role without the form, and opens `next`, by default the board. */
  signIn(page: Page, role: Role, next?: string): Promise<void>;
  /** Signs in with the form of the sign-in page, and waits for `next`, by default the board. */
  signInByForm(page: Page, role: Role, next?: string): Promise<void>;
  /** Lets the service order a tow; resolves with its reference when the API shows the tow. */
  orderTow(changes?: TowOrder): Promise<string>;
  orderTows(count: number): Promise<readonly string[]>;
  /** Lets the service refuse the next call of this operation with the message of the status. */
  refuseOnce(operation: string, status?: '400' | '403' | '404'): Promise<void>;
  /** Sets the faults of the service (`PUT /simulator/faults`); an empty list ends them. */
  setFaults(faults: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  /** The calls of an operation that the service received to their last byte, oldest first. */
  callsOf(operation: string): Promise<readonly SimulatorCall[]>;
  tow(ref: string): Promise<TowView>;
  /** Waits until a tow has the state or passes the check, and returns it. */
  towWhen(ref: string, check: TowState | ((tow: TowView) => boolean)): Promise<TowView>;
  /** Records an event of a tow through the API; fails unless the API accepts it. */
  record(ref: string, event: string, body?: object): Promise<void>;
  /** The open tasks. */
  tasks(): Promise<z.infer<typeof taskView>[]>;
  /** Any call of the operator API with the ops key; `path` without `/api`. */
  call(method: string, path: string, body?: object): Promise<Response>;
}

export interface TowOrder {
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The plate of a violation that the service has; null for a violation without a plate. */
  readonly plate_number?: string | null;
  readonly violation_reference_id?: string;
}

/** The body of `started`: plate and place. */
export const WHEREABOUTS = {
  plate_number: 'ABJ 1234',
  towed_location: 'King Fahd Road, Riyadh',
  latitude: 24.7136,
  longitude: 46.6753,
};

/** Short retry delays and no rate limits. */
const FAST = {
  RETRY_BASE_MS: '50',
  RETRY_CAP_MS: '200',
  NOT_FOUND_RETRY_MS: '50',
  UNKNOWN_GRACE_MS: '300',
  BUDGET_AUTH_PER_MINUTE: '0',
  BUDGET_SITE_PER_MINUTE: '0',
  BUDGET_VIOLATIONS_PER_MINUTE: '0',
  BUDGET_TICKETS_PER_MINUTE: '0',
  LOOKUP_CACHE_MS: '0',
};
const CREDENTIALS = { clientId: 'client-of-the-tests', clientSecret: 'secret-of-the-tests' };
const SIMULATOR_GRACE_MS = 100;
type Settings = Readonly<Record<string, string>>;

/**
 * Starts a towhook (role `all`) and a simulated service for each test of a file. The properties may be read while tests
 * run, not while they are declared. `environment` overrides the fast settings; a function gets the address of the service.
 */
export function useConsole(environment: Settings | ((serviceUrl: string) => Promise<Settings>) = {}): ConsoleWorld {
  let world: { app: App; simulator: Simulator; keys: Map<Role, Promise<string>> } | undefined;
  const current = () => {
    if (world === undefined) throw new Error('the world of useConsole() exists only while a test runs');
    return world;
  };
  const redis = useRedis();
  beforeEach(async () => {
    const simulator = await startSimulator({
      host: '127.0.0.1',
      port: 0,
      webhookUrl: () => current().app.receiverUrl,
      credentials: CREDENTIALS,
      clock: systemClock,
      log: silentLog,
    });
    try {
      const service = { SERVICE_BASE_URL: simulator.url };
      const own = typeof environment === 'function' ? await environment(simulator.url) : environment;
      const app = await startApp({ redisUrl: redis.url, environment: { ...service, ...FAST, ...own } });
      world = { app, simulator, keys: new Map() };
    } catch (error) {
      await simulator.stop(SIMULATOR_GRACE_MS);
      throw error;
    }
  });
  afterEach(async () => {
    const ended = world;
    world = undefined;
    await ended?.simulator.stop(SIMULATOR_GRACE_MS);
    await ended?.app.stop();
  });

  const at = (path: string) => `${current().app.consoleUrl}${path}`;
  const call: ConsoleWorld['call'] = (method, path, body) => {
    const idempotencyKey = systemClock.id();
    return eventually(async () => {
      const answer = await sendJson(at(`/api${path}`), { method, body, key: current().app.apiKey, idempotencyKey });
      // A busy machine may be too slow for Redis; the API asks to repeat the call.
      if (answer.status === 503) throw new Error(`${method} ${path} is still answered with 503`);
      return answer;
    });
  };
  const simulate = async (method: string, path: string, body?: object): Promise<unknown> =>
    (await taken(sendJson(`${current().simulator.url}/simulator/${path}`, { method, body }))).json();
  const read = async <T extends z.ZodType>(path: string, contract: T) =>
    contract.parse(await (await taken(call('GET', path))).json());

  const tow = (ref: string) => read(towPath(ref), towView);
  const order = async (wanted: object) => {
    const { items } = simulatorOrders.parse(await simulate('POST', 'tow-requests', wanted));
    const refs = items.map(({ towing_reference_id }) => towing_reference_id);
    for (const ref of refs) await eventually(() => tow(ref));
    return refs;
  };
  const setFaults: ConsoleWorld['setFaults'] = async (faults) => void (await simulate('PUT', 'faults', faults));
  const keyOf = (role: Role): Promise<string> => {
    const { keys } = current();
    const made =
      keys.get(role) ??
      taken(call('POST', '/keys', { name: role, role })).then(
        async (answer) => newApiKeyView.parse(await answer.json()).api_key,
      );
    keys.set(role, made);
    return made;
  };

  const beginSession = async (key: string): Promise<{ name: string; value: string }> => {
    const body = new URLSearchParams({ key, next: '/board' });
    const response = await fetch(at('/sign-in'), { method: 'POST', body, redirect: 'manual' });
    const [name, value] = Object.entries(parseCookie(response.headers.getSetCookie()[0] ?? ''))[0] ?? [];
    if (name === undefined || value === undefined) throw new Error(`no session: HTTP ${response.status}`);
    return { name, value };
  };

  return {
    redis,
    at,
    call,
    tow,
    keyOf,
    setFaults,
    get app() {
      return current().app;
    },
    get simulator() {
      return current().simulator;
    },
    async signIn(page, role, next = '/board') {
      await page.context().addCookies([{ ...(await beginSession(await keyOf(role))), url: at('/') }]);
      await page.goto(at(next));
    },
    async signInByForm(page, role, next = '/board') {
      await page.goto(at(`/sign-in?next=${encodeURIComponent(next)}`));
      await page.locator('input[name=key]').fill(await keyOf(role));
      await page.locator('form[action="/sign-in"] button[type=submit]').click();
      await waitForPath(page, next);
    },
    orderTow: async (wanted = {}) => (await order(wanted))[0] ?? '',
    orderTows: (count) => order({ count }),
    refuseOnce: (operation, status = '400') => setFaults([{ operation, fault: status, times: 1 }]),
    async callsOf(operation) {
      const { items } = simulatorCalls.parse(await simulate('GET', 'calls'));
      return items.filter(({ operation: made, body }) => made === operation && body !== null);
    },
    towWhen: (ref, check) =>
      eventually(async () => {
        const seen = await tow(ref);
        const isSo = typeof check === 'string' ? seen.state === check : check(seen);
        if (!isSo) throw new Error(`the tow does not pass the check yet: ${JSON.stringify(seen)}`);
        return seen;
      }),
    async record(ref, event, body = event === 'started' ? WHEREABOUTS : {}) {
      await taken(call('POST', `${towPath(ref)}/${event}`, body));
    },
    tasks: async () => (await read('/tasks', pageOf(taskView))).items,
  };
}

const towPath = (ref: string) => `/tows/${encodeURIComponent(ref)}`;

function sendJson(
  url: string,
  options: { method: string; body?: object | undefined; key?: string; idempotencyKey?: string },
): Promise<Response> {
  const { method, body, key, idempotencyKey } = options;
  return fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Returns the response; throws unless it is a success. */
async function taken(sent: Promise<Response>): Promise<Response> {
  const answer = await sent;
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}
