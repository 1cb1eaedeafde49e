import { errorFacts } from '../platform/log';
import { LISTENER_GRACE_MS, listen, type Listener } from '../platform/http';
import { subscribeToEvents } from '../store/events';
import { createTowStore } from '../store/tows';
import { createViolationStore } from '../store/violations';
import type { Foundation } from './foundation';
import { healthOf, recentSpoolCheck } from './health';
import { openOperator, openSignIn } from './operator';
import { openPages, openSessions } from './pages';

/** Starts the console: its pages, the operator API, the queue pages. */
export async function startConsole(foundation: Foundation): Promise<Listener> {
  const { config, log, resources, redis } = foundation;
  const tows = createTowStore(redis);
  const violations = createViolationStore(redis);
  const signIn = openSignIn(foundation);
  const sessions = openSessions(foundation, signIn);
  const operator = openOperator(foundation, {
    signIn,
    sessionActor: (request) => sessions.readerOf(request),
  });
  const pages = openPages(foundation, { operator, signIn, sessions });
  if (config.bootstrapApiKey === null) {
    log.warn('console.no_bootstrap_key', {
      problem: 'BOOTSTRAP_API_KEY is not set: only keys made before can be used',
    });
  }
  subscribeToEvents(foundation.patient(), (event) => operator.publish(event)).catch((error: unknown) => {
    log.error('events.failed', errorFacts(error));
  });
  const sweeping = foundation.spool.startSweeping({
    violation: async (id) => (await violations.read(id)) !== null,
    photosOf: async (ref) => (await tows.read(ref))?.tow.dispatch.photos.map(({ file }) => file) ?? null,
  });
  resources.add('spool sweep', sweeping, (opened) => opened.stop());
  // Its metrics need a key: the application serves them.
  const { ready } = healthOf(foundation, recentSpoolCheck(foundation));
  const listener = await listen(pages, { ready }, config.console);
  resources.add('console', listener, async (opened) => {
    operator.close();
    await opened.stop(Math.min(config.stopGraceMs, LISTENER_GRACE_MS));
  });
  log.info('console.listening', { host: listener.host, port: listener.port });
  return listener;
}
