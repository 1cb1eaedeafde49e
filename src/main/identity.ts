import type * as oidcModule from '../oidc';
import { throttledLog } from '../platform/log-throttle';
import { openProviderAgents } from '../service/outbound';
import { createSignInLimit } from '../store/source-limits';
import type { IdentityProvider } from '../workflow/identity-port';
import type { Foundation } from './foundation';

/** The library is loaded only where people sign in through a provider. */
declare const require: (module: '../oidc') => typeof oidcModule;

/**
 * Opens the identity provider; null without one. It is not called before a person signs in.
 * @throws ConfigurationError when a file of certificates cannot be used.
 */
export function openIdentityProvider({ config, clock, log, redis }: Foundation): IdentityProvider | null {
  const { oidc } = config.signIn;
  if (oidc === null) return null;
  const agents = openProviderAgents(oidc.outbound);
  const limit = createSignInLimit(redis);
  const tools = { agents, clock, limit, log: throttledLog(log, { clock, by: ['problem'] }) };
  return require('../oidc').createIdentityProvider(oidc, tools);
}
