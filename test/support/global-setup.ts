import { compile } from './compiled';
import { testServer } from './redis-server';

/** Compiles the project and provides a Redis server once, not per worker. */
export default async function globalSetup(): Promise<void> {
  await Promise.all([compile(), testServer()]);
}
