import { causeOf } from '../domain/outbox/exchange-message';
import { refusesCredentials } from '../domain/ops/tasks';
import { requireService } from '../platform/config/config';
import { AFTER_START_MS, repeat } from '../platform/timers';
import { recordsOf } from '../store/outbox/records';
import { reportNoToken, reportToken } from '../workflow/outbox/prove-connection';
import type { Foundation } from './foundation';
import { openServiceClient } from './service';

/** A valid token is kept; without one the service is asked again after this time. */
const EVERY_MS = 10_000;

/**
 * While nothing is sent: gets an access token as a worker would, to prove address and credentials. Without one the
 * connection counts as broken, with alarm and task, until a token is there.
 */
export function startTokenProof(foundation: Foundation): void {
  const { config, mode, redis, resources, troubleLog: log } = foundation;
  const service = openServiceClient(foundation, { access: requireService(config), resources });
  const records = recordsOf(redis);
  let isProven = false;
  let failures = 0;
  const proven = async () => {
    if (!isProven) await reportToken(records);
    [isProven, failures] = [true, 0];
  };
  const proving = repeat({
    name: 'token_proof',
    everyMs: EVERY_MS,
    firstAfterMs: AFTER_START_MS,
    log,
    async work(signal) {
      if ((mode.last()?.sinceMs ?? null) === null) {
        isProven = false;
        return;
      }
      if (await service.hasToken()) {
        return proven();
      }
      const failure = await service.getToken();
      if (signal.aborted) return;
      if (failure === null) {
        log.info('token_proof.given', {});
        await proven();
      } else if (failure.kind !== 'dropped') {
        const cause = causeOf(failure);
        log.warn('token_proof.missing', { exchange: failure.kind, cause, variable: variableOf(cause) });
        isProven = false;
        failures += 1;
        await reportNoToken(records, { cause, delayMs: EVERY_MS, failures });
      } else {
        // No permit for a token call, or no Redis: it shows nothing about the connection.
        log.warn('token_proof.missing', {
          exchange: failure.kind,
          cause: causeOf(failure),
          variable: failure.cause === 'no_permit' ? 'BUDGET_AUTH_PER_MINUTE' : 'REDIS_URL',
        });
      }
    },
  });
  resources.add('token proof', proving, (opened) => opened.stop());
}

/** The variable to look at first. */
function variableOf(cause: string): string {
  return refusesCredentials(cause) ? 'SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET' : 'SERVICE_BASE_URL';
}
