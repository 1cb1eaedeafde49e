import request, { type Response, type Test } from 'supertest';
import { capacityView, ticketView } from '../../src/contracts/routes/violations';
import { simulatorCalls } from '../../src/contracts/service/simulator';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { startSimulator, type SimulatorOptions } from '../../src/simulator';
import type { TestRedis } from '../support/redis';
import { startApp, type App } from '../support/app';
import { api, type ApiResponse, type ConsoleAccess } from './client';

/** Consoles that look up zones and tickets at a simulated service. */

export const ZONE = '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c';
/** A zone that the simulator is configured to reject; it accepts every other zone. */
export const UNKNOWN_ZONE = '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1d';
export const VEHICLE = { zoneId: ZONE, plateNumber: 'QZWX 1234', plateType: 'PRIVATE' };

const cleanups: (() => Promise<unknown>)[] = [];

/** Stops every simulator and console that a test started, newest first. */
export async function endAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

/** Starts a console. The environment names its service. */
export async function startConsoleWith(
  redis: Pick<TestRedis, 'url'>,
  environment: Readonly<Record<string, string>>,
): Promise<App> {
  const app = await startApp({ role: 'console', redisUrl: redis.url, environment });
  cleanups.push(() => app.stop());
  return app;
}

/** Starts a simulated service. A console reaches it with the returned `environment`. */
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
  const control = request(simulator.url);
  return {
    environment: { SERVICE_BASE_URL: `${simulator.url}/parking/api` },
    async faults(...rules: object[]) {
      await control.put('/simulator/faults').send(rules).expect(200);
    },
    async callsOf(operation: string) {
      const response = await control.get('/simulator/calls');
      const { items } = simulatorCalls.parse(response.body);
      return items.filter((call) => call.operation === operation);
    },
  };
}

export function askCapacity(app: ConsoleAccess, zoneId = ZONE): Test {
  return api(app).get(`/api/zones/${encodeURIComponent(zoneId)}/capacity`);
}

export function askTicket(app: ConsoleAccess, body: object = VEHICLE): Test {
  return api(app).post('/api/tickets/check').send(body);
}

export function capacityIn(response: ApiResponse) {
  if (response.status !== 200) throw new Error(`status ${response.status}: ${response.text}`);
  return capacityView.parse(response.body);
}

export function ticketIn(response: ApiResponse) {
  if (response.status !== 200) throw new Error(`status ${response.status}: ${response.text}`);
  return ticketView.parse(response.body);
}

/** The status and code of a refusal, and its `Retry-After` in seconds, null without one. */
export function problemIn(response: Response): { status: number; code: unknown; retryAfter: number | null } {
  const body: unknown = response.body;
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  const retryAfter = response.get('retry-after');
  return { status: response.status, code, retryAfter: retryAfter === undefined ? null : Number(retryAfter) };
}

/** Starts a simulated service and a console that uses it. */
export async function startWorld(
  redis: Pick<TestRedis, 'url'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ service: Awaited<ReturnType<typeof simulate>>; app: App }> {
  const service = await simulate();
  const app = await startConsoleWith(redis, { ...service.environment, ...environment });
  return { service, app };
}
