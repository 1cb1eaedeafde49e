import { compile } from './compiled';
import { testServer } from './redis-server';

/** Compiles the project and makes sure that there is a Redis server, so that each happens once and not per worker. */
export default async function globalSetup(): Promise<void> {
  await Promise.all([compile(), testServer()]);
}
