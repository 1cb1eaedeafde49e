import type { Server } from 'node:net';

/** The port that a server listens on. Throws for one that does not listen on a port. */
export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen on a port');
  return address.port;
}
