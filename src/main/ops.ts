import { LISTENER_GRACE_MS, listen, type Health, type Listener } from '../platform/http';
import type { Foundation } from './foundation';

/** Starts the private listener of a receiver or worker: health and metrics, nothing else. */
export async function startOps(foundation: Foundation, health: Required<Health>): Promise<Listener> {
  const { config, log, resources } = foundation;
  const listener = await listen(null, health, config.ops);
  resources.add('ops', listener, (opened) => opened.stop(Math.min(config.stopGraceMs, LISTENER_GRACE_MS)));
  log.info('ops.listening', { host: listener.host, port: listener.port });
  return listener;
}
