import type { Route } from '../../src/contracts/operator-routes';
import type { Actor } from '../../src/domain/audit';
import type { Role } from '../../src/domain/vocabulary';
import { openOperator, openSignIn } from '../../src/main/operator';
import type { Foundation } from '../../src/main/foundation';
import { listen } from '../../src/platform/http';
import type { ApiAnswer, ApiRefusal } from '../../src/workflow/operator-port';
import type { Response } from 'supertest';
import { errorOf } from './client';

/** The operator API as the pages of the same process call it. */

export const actorOf = (role: Role): Actor => ({ id: `id of ${role}`, name: `${role} in process`, role });

/** Opens a second operator API over the records of a running console; it is closed with the console. */
export function operatorOn(foundation: Foundation, access: Partial<Parameters<typeof openOperator>[1]> = {}) {
  const operator = openOperator(foundation, { signIn: openSignIn(foundation), ...access });
  return foundation.resources.add('operator of the test', operator, (opened) => opened.close());
}

/** Serves an application on a free port while `doing` runs. */
export async function serving<T>(application: Parameters<typeof listen>[0], doing: (url: string) => Promise<T>) {
  const ready = () => Promise.resolve({ ready: true, details: {} });
  const listener = await listen(application, { ready }, { host: '127.0.0.1', port: 0 });
  try {
    return await doing(listener.url);
  } finally {
    await listener.stop(100);
  }
}

/** The path parameters by their names in the route. */
export function paramsIn(route: Route, path: string): Record<string, string> {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  const found = new RegExp(`^${route.path.replaceAll(/:\w+/g, '([^/]+)')}$`).exec(path);
  if (!found) throw new Error(`${path} is not at ${route.path}`);
  return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? '')]));
}

export function valueIn<T>(answer: ApiAnswer<T>): T {
  if (!answer.ok) throw new Error(`refused: ${JSON.stringify(answer.refusal)}`);
  return answer.value;
}

export function refusalIn(answer: ApiAnswer<unknown>): ApiRefusal {
  if (answer.ok) throw new Error(`not refused: ${JSON.stringify(answer.value)}`);
  return answer.refusal;
}

/** The refusal in an HTTP response, in the shape of a refusal in process. `Retry-After` counts whole seconds. */
export function refusalOver(response: Response): ApiRefusal {
  const seconds = response.get('retry-after');
  return {
    httpStatus: response.status,
    ...errorOf(response),
    retryAfterMs: seconds === undefined ? null : Number(seconds) * 1000,
  };
}
