import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { simulatorCalls } from '../../src/contracts/simulator';
import { taskView, towView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { violationView, type ViolationView } from '../../src/contracts/violations';
import { API_KEY, buildTown, type Town } from '../support/town';

/** A town with a console through which a patrol reports violations, and what the service got of them. */

/** Every field of the form (service-api 2.1). */
export const FORM = {
  date: '2026-11-20T18:05:00Z',
  latitude: '24.7136',
  longitude: '46.6753',
  location: 'King Fahd Road 12, Riyadh',
  plateNumber: 'ABJ 1235',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  imagesDescription: 'Front, side and back',
  violationType: 'OBS_CLS_PARKING',
  isSaudi: 'true',
  metadata: '{"id":"case-77","shift":{"name":"night","cars":2}}',
  fullName: 'A Reporter',
  identityNumber: '1000000008',
  mobileNumber: '0512345678',
  supervisorFullName: 'A Supervisor',
  supervisorIdentityNumber: '2000000006',
  supervisorMobileNumber: '+966512345678',
};

/** The smallest picture there is, with bytes behind it that make each one another. */
export function picture(bytes: number): Buffer {
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  return Buffer.concat([Buffer.from(dot, 'base64'), randomBytes(bytes)]);
}

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Receiver, console and worker; the worker is left out when a test starts its own. */
export async function openPatrol(
  redisUrl: string,
  options: { environment?: Record<string, string>; worker?: 'started' | 'later' } = {},
) {
  const town = await buildTown(redisUrl);
  await town.start('receiver');
  const operator = await town.start('console', options.environment);
  const worker = options.worker === 'later' ? null : await town.start('worker', options.environment);
  const headers = { authorization: `Bearer ${API_KEY}` };
  const url = await operator.url('console');
  const read = async <T extends z.ZodType>(path: string, contract: T) =>
    contract.parse(await (await fetch(`${url}/api${path}`, { headers })).json());
  return {
    town,
    worker,
    violation: (id: string) => read(`/violations/${id}`, violationView),
    tow: (ref: string) => read(`/tows/${ref}`, towView),
    tasks: async () => (await read('/tasks', page(taskView))).items,
    post: async (path: string, body: object = {}) => {
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
      return fetch(`${url}/api${path}`, { ...init, body: JSON.stringify(body) });
    },
    report: async (fields: Record<string, string>, images: readonly Buffer[] = []): Promise<ViolationView> => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      for (const [index, image] of images.entries()) {
        form.append('images', new Blob([new Uint8Array(image)], { type: 'image/png' }), `صورة ${index + 1}.png`);
      }
      const response = await fetch(`${url}/api/violations`, { method: 'POST', headers, body: form });
      expect(response.status).toBe(202);
      return violationView.parse(await response.json());
    },
  };
}

/** Asks or tells the simulator something. */
export async function simulate(
  town: Town,
  method: 'GET' | 'PUT' | 'POST',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return (await fetch(`${town.simulator.url}/simulator/${path}`, { method, ...init })).json();
}

/** What the service was told by an operation. */
export async function callsOf(town: Town, operation: string) {
  const { items } = simulatorCalls.parse(await simulate(town, 'GET', 'calls'));
  return items.filter((call) => call.operation === operation);
}

/** The service orders a tow for a violation it has. */
export async function order(town: Town, reference: string): Promise<string> {
  const orders = z.object({ items: z.array(z.object({ towing_reference_id: z.string() })) });
  const made = orders.parse(await simulate(town, 'POST', 'tow-requests', { violation_reference_id: reference }));
  return made.items[0]?.towing_reference_id ?? '';
}

/** The reference of the violation that the simulator took, whoever heard of it. */
export async function takenReference(town: Town): Promise<string> {
  const taken = z.object({ items: z.array(z.object({ violation_reference_id: z.string() })) });
  return taken.parse(await simulate(town, 'GET', 'violations')).items.at(-1)?.violation_reference_id ?? '';
}
