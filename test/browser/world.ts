import type { Page } from 'playwright-core';
import type { z } from 'zod';
import { newApiKeyView, taskView, towView, type TowView } from '../../src/contracts/operator';
import { page as pageOf } from '../../src/contracts/paging';
import { simulatorCalls, simulatorOrders, type SimulatorCall } from '../../src/contracts/simulator';
import type { Role, TowState } from '../../src/domain/vocabulary';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { startSimulator, type Simulator } from '../../src/simulator';
import { startApp, type App } from '../support/app';
import { waitForPath } from '../support/browser';
import { eventually } from '../support/eventually';
import { useRedis, type SharedRedis } from '../support/redis';

/** Everything the console stands on: the service that orders tows, the workers that report them, keys of every role. */
export interface ConsoleWorld {
  readonly app: App;
  readonly simulator: Simulator;
  readonly redis: SharedRedis;
  /** The whole address of a path of the console. */
  at(path: string): string;
  /** A key of this role, made through the API once per test; its name is the role's. */
  keyOf(role: Role): Promise<string>;
  /** Signs in by the form, and waits for the page behind it: `next`, or the board. */
  signIn(page: Page, role: Role, next?: string): Promise<void>;
  /** The service orders a tow; resolves with its reference once the console knows it. */
  orderTow(changes?: TowOrder): Promise<string>;
  orderTows(count: number): Promise<readonly string[]>;
  /** The next call of this operation is refused by the service, in the words that go with the status. */
  refuseOnce(operation: string, status?: '400' | '403' | '404'): Promise<void>;
  /** What goes wrong at the service from now on: `PUT /simulator/faults`; none ends it. */
  setFaults(faults: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  /** What the service was told by an operation, oldest first. */
  callsOf(operation: string): Promise<readonly SimulatorCall[]>;
  tow(ref: string): Promise<TowView>;
  /** Waits until a tow is so, and returns it. */
  towWhen(ref: string, check: TowState | ((tow: TowView) => boolean)): Promise<TowView>;
  /** Says what happened by the API, as another program does; fails unless it is taken. */
  record(ref: string, event: string, body?: object): Promise<void>;
  /** The tasks that are open. */
  tasks(): Promise<z.infer<typeof taskView>[]>;
  /** Any call of the operator API with the ops key; `path` without `/api`. */
  call(method: string, path: string, body?: object): Promise<Response>;
}

export interface TowOrder {
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Of a violation that the service has; null leaves it without one. */
  readonly plate_number?: string | null;
  readonly violation_reference_id?: string;
}

/** Where a vehicle stood and what its plate says: the body of `started`. */
export const WHEREABOUTS = {
  plate_number: 'ABJ 1234',
  towed_location: 'King Fahd Road, Riyadh',
  latitude: 24.7136,
  longitude: 46.6753,
};

/** No wait of the real world is worth a second of a test's. */
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

/**
 * A whole towhook (role `all`) and a service for the tests of a file; both are new for each test, so that nothing of one
 * is seen by the next. May be used once tests run. `environment` goes over the fast settings.
 */
export function useConsole(environment: Readonly<Record<string, string>> = {}): ConsoleWorld {
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
      const app = await startApp({ redisUrl: redis.url, environment: { ...service, ...FAST, ...environment } });
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
  const call: ConsoleWorld['call'] = (method, path, body) =>
    sendJson(at(`/api${path}`), { method, body, key: current().app.apiKey });
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
      return items.filter((made) => made.operation === operation);
    },
    towWhen: (ref, check) =>
      eventually(async () => {
        const seen = await tow(ref);
        const isSo = typeof check === 'string' ? seen.state === check : check(seen);
        if (!isSo) throw new Error(`the tow is not so yet: ${JSON.stringify(seen)}`);
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
  { method, body, key }: { method: string; body?: object | undefined; key?: string },
): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The answer, which must be one of success. */
async function taken(sent: Promise<Response>): Promise<Response> {
  const answer = await sent;
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}
