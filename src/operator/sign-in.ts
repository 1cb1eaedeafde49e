import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import { throttledLog } from '../platform/log-throttle';
import type { Metrics } from '../platform/metrics';
import type { SignIn, WrongKeyStore } from '../workflow/operator-port';
import { createAuthenticator, type AuthenticatorOptions } from './authenticate';
import { createGuessing } from './guessing';

export interface SignInOptions extends Omit<AuthenticatorOptions, 'guessing'> {
  readonly wrongKeys: WrongKeyStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'keyRefused'>;
}

/** The keys as a way in. One per process: its log of wrong keys is throttled. */
export function createSignIn({ wrongKeys, clock, log, metrics, ...options }: SignInOptions): SignIn {
  const guessing = createGuessing({ wrongKeys, log: throttledLog(log, { clock }), metrics });
  return createAuthenticator({ ...options, guessing });
}
