import { requireService } from '../platform/config';
import { AFTER_START_MS, repeat } from '../platform/timers';
import type { Foundation } from './foundation';
import { openServiceClient } from './service';

/** A valid token is kept; without one the service is asked again after this time. */
const EVERY_MS = 10_000;

/** In shadow mode: gets an access token as a worker would, to prove address and credentials. */
export function startTokenProof(foundation: Foundation): void {
  const { config, resources, troubleLog: log } = foundation;
  if (config.service.mode === 'live') return;
  const service = openServiceClient(foundation, { access: requireService(config), resources });
  const proving = repeat({
    name: 'shadow.token',
    everyMs: EVERY_MS,
    firstAfterMs: AFTER_START_MS,
    log,
    async work(signal) {
      if (signal.aborted || (await service.hasToken())) return 'wait';
      const failure = await service.getToken();
      if (failure === null) log.info('shadow.token_given', {});
      else log.warn('shadow.token_missing', { exchange: failure.kind });
      return 'wait';
    },
  });
  resources.add('token proof', proving, (opened) => opened.stop());
}
