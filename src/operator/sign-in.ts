import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import { throttledLog } from '../platform/log-throttle';
import type { Metrics } from '../platform/metrics';
import type { SignIn } from '../workflow/operator-port';
import { createAuthenticator, type AuthenticatorOptions } from './authenticate';
import { createGuessing } from './guessing';

export interface SignInOptions extends Omit<AuthenticatorOptions, 'guessing'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'keyRefused'>;
}

/** The keys as a way in. One per process: it remembers who guessed, on whichever page or address that was. */
export function createSignIn({ clock, log, metrics, ...options }: SignInOptions): SignIn {
  const guessing = createGuessing({ clock, log: throttledLog(log, { clock }), metrics });
  return createAuthenticator({ ...options, guessing });
}
