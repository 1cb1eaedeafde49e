import type { Finding } from '../cli';
import { discoverProvider, providerFailureReason, signOutAddressOf } from '../oidc';
import { ConfigurationError, type Config } from '../platform/config';
import type { OidcSettings } from '../platform/sign-in-variables';
import { openProviderAgents } from '../service/outbound';
import { variableFaults } from './configuration';
import { notesOf, UNTRUSTED } from './finding';

const notes = notesOf('sign-in');

/** Reads the discovery document of the identity provider; nothing without one. */
export async function checkSignIn({ signIn: { oidc } }: Config): Promise<Finding[]> {
  if (oidc === null) return [];
  try {
    const agents = openProviderAgents(oidc.outbound);
    const signsOut = signOutAddressOf(await discoverProvider(oidc, agents), oidc) !== null;
    const after = signsOut ? `, and ${oidc.signedOutUrl} after a sign-out` : '';
    const what = `the identity provider answers; its client must allow the redirect address ${oidc.redirectUrl}${after}`;
    return [notes.fine('provider_right', what)];
  } catch (error) {
    return error instanceof ConfigurationError ? variableFaults(error) : [faultOf(providerFailureReason(error), oidc)];
  }
}

function faultOf(reason: string, { issuer }: OidcSettings): Finding {
  if (reason === 'issuer_differs') {
    const what = `the discovery document of ${issuer} names another issuer`;
    return notes.fault('provider_issuer_wrong', what, 'Set OIDC_ISSUER to the "issuer" of that document.');
  }
  const what = `the identity provider cannot be used: ${reason.replaceAll('_', ' ')}; people cannot sign in through it`;
  if (UNTRUSTED.test(reason)) {
    const fix = 'Set OIDC_CA_FILE to a PEM file with the certificate of its authority.';
    return notes.fault('provider_certificate_untrusted', what, fix);
  }
  const fix = `Check OIDC_ISSUER: ${issuer}/.well-known/openid-configuration must answer; firewalls, and OIDC_PROXY_URL.`;
  return notes.fault('provider_unreachable', what, fix);
}
