import { createHash, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { taskView, towView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { violationView, type ViolationView } from '../../src/contracts/violation/violations';
import { API_KEY } from '../support/town';

/** Every field of the violation form (docs/service-api.md#violation-form). */
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

/** A PNG of one pixel followed by random bytes, so that each image differs. */
export function picture(bytes: number): Buffer {
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  return Buffer.concat([Buffer.from(dot, 'base64'), randomBytes(bytes)]);
}

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** The operator API as a patrol uses it. */
export function createPatrol(consoleUrl: string) {
  const headers = { authorization: `Bearer ${API_KEY}` };
  const read = async <T extends z.ZodType>(path: string, contract: T) =>
    contract.parse(await (await fetch(`${consoleUrl}/api${path}`, { headers })).json());
  return {
    violation: (id: string) => read(`/violations/${id}`, violationView),
    tow: (ref: string) => read(`/tows/${ref}`, towView),
    tasks: async () => (await read('/tasks', page(taskView))).items,
    post: async (path: string, body: object = {}) => {
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
      return fetch(`${consoleUrl}/api${path}`, { ...init, body: JSON.stringify(body) });
    },
    report: async (fields: Record<string, string>, images: readonly Buffer[] = []): Promise<ViolationView> => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      for (const [index, image] of images.entries()) {
        form.append('images', new Blob([new Uint8Array(image)], { type: 'image/png' }), `صورة ${index + 1}.png`);
      }
      const response = await fetch(`${consoleUrl}/api/violations`, { method: 'POST', headers, body: form });
      expect(response.status).toBe(202);
      return violationView.parse(await response.json());
    },
  };
}
