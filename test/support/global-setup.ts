import { testServer } from './redis';

/** Makes sure that there is a Redis server before any test runs, so that it is fetched once and not per worker. */
export default async function globalSetup(): Promise<void> {
  await testServer();
}
