import { capacityView, ticketView } from '../../src/contracts/lookups';
import { simulatorCalls } from '../../src/contracts/simulator';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { startSimulator, type SimulatorOptions } from '../../src/simulator';
import type { TestRedis } from '../support/redis';
import { startApp, type App } from '../support/app';
import { get, post, type Answer, type CallOptions } from './client';

/** Consoles that ask a simulated service. */

export const ZONE = '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c';
/** The simulator knows every zone but those it is told not to. */
export const UNKNOWN_ZONE = '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1d';
export const VEHICLE = { zoneId: ZONE, plateNumber: 'QZWX 1234', plateType: 'PRIVATE' };

type Console = Pick<App, 'consoleUrl' | 'apiKey'>;

const cleanups: (() => Promise<unknown>)[] = [];

/** Ends what a test started, newest first. */
export async function endAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

/** A console; its service is whatever the environment says. */
export async function startConsoleWith(
  redis: Pick<TestRedis, 'url'>,
  environment: Readonly<Record<string, string>>,
): Promise<App> {
  const app = await startApp({ role: 'console', redisUrl: redis.url, environment });
  cleanups.push(() => app.stop());
  return app;
}

/** A simulated service, to be named in a console's environment. */
export async function simulate(options: Partial<SimulatorOptions> = {}) {
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    webhookUrl: 'http://127.0.0.1:1',
    unknownZones: [UNKNOWN_ZONE],
    clock: systemClock,
    log: silentLog,
    ...options,
  });
  cleanups.push(() => simulator.stop(0));
  const control = (method: string, path: string, body?: unknown) =>
    fetch(`${simulator.url}/simulator${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    environment: { SERVICE_BASE_URL: `${simulator.url}/parking/api` },
    async faults(...rules: object[]) {
      const answer = await control('PUT', '/faults', rules);
      if (answer.status !== 200) throw new Error(await answer.text());
    },
    async callsOf(operation: string) {
      const { items } = simulatorCalls.parse(await (await control('GET', '/calls')).json());
      return items.filter((call) => call.operation === operation);
    },
  };
}

export function askCapacity(app: Console, zoneId = ZONE, options?: CallOptions): Promise<Answer> {
  return get(app, `/api/zones/${encodeURIComponent(zoneId)}/capacity`, options);
}

export function askTicket(app: Console, body: object = VEHICLE): Promise<Answer> {
  return post(app, '/api/tickets/check', body);
}

export function capacityIn(answer: Answer) {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return capacityView.parse(answer.json);
}

export function ticketIn(answer: Answer) {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return ticketView.parse(answer.json);
}

/** Status, code and whether and when to come back. */
export function problemIn(answer: Answer): { status: number; code: unknown; retryAfter: number | null } {
  const { json } = answer;
  const code = typeof json === 'object' && json !== null && 'code' in json ? json.code : undefined;
  const retryAfter = answer.headers.get('retry-after');
  return { status: answer.status, code, retryAfter: retryAfter === null ? null : Number(retryAfter) };
}

/** A simulated service and a console that asks it. */
export async function startWorld(
  redis: Pick<TestRedis, 'url'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ service: Awaited<ReturnType<typeof simulate>>; app: App }> {
  const service = await simulate();
  const app = await startConsoleWith(redis, { ...service.environment, ...environment });
  return { service, app };
}
