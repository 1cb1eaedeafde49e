import { WEBHOOKS } from '../contracts/webhooks';
import { DELIVERY_KINDS, type DeliveryKind } from '../domain/vocabulary';
import { ConfigurationError, type Config } from '../platform/config';
import type { Check } from './health';

const OWN_SECRETS: Readonly<Record<DeliveryKind, string>> = {
  tow_request: 'WEBHOOK_SECRETS_TOW_REQUEST',
  tow_invoice: 'WEBHOOK_SECRETS_TOW_INVOICE',
};

/** The paths on which no secret proves a webhook: anybody who can reach them can post. */
export function unverifiedPaths(config: Config): string[] {
  return unverified(config).map((kind) => WEBHOOKS[kind].path);
}

/** Throws ConfigurationError in production unless webhooks on both paths are proved, or WEBHOOK_UNVERIFIED is `accept`. */
export function requireWebhookProof(config: Config): void {
  const [first, ...others] = unverified(config);
  if (!config.isProduction || config.webhook.acceptsUnverified || first === undefined) return;
  const variable = others.length > 0 ? 'WEBHOOK_SECRETS' : OWN_SECRETS[first];
  const paths = unverifiedPaths(config).join(' and ');
  const rule = `is required when NODE_ENV is production: nothing proves webhooks on ${paths}; or set WEBHOOK_SHARED_SECRET and WEBHOOK_SHARED_SECRET_HEADER, or WEBHOOK_UNVERIFIED=accept to take them from anybody`;
  throw new ConfigurationError([{ variable, rule }]);
}

/** Names the unverified paths on a private `/readyz`; never makes a process unready. */
export function webhookCheck(config: Config): Check {
  const paths = unverifiedPaths(config);
  return () => Promise.resolve({ ready: true, details: paths.length > 0 ? { unverified_webhooks: paths } : {} });
}

function unverified({ webhook: { secrets, sharedSecret } }: Config): DeliveryKind[] {
  return sharedSecret === null ? DELIVERY_KINDS.filter((kind) => secrets[kind].length === 0) : [];
}
