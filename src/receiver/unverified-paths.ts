import { WEBHOOKS } from '../contracts/webhooks';
import { DELIVERY_KINDS, type DeliveryKind } from '../domain/vocabulary';
import { ConfigurationError, type Config } from '../platform/config';

/** The kinds of webhooks that neither a signing secret nor the shared secret verifies. */
function unverifiedKinds({ webhook: { secrets, sharedSecret } }: Config): DeliveryKind[] {
  return sharedSecret === null ? DELIVERY_KINDS.filter((kind) => secrets[kind].length === 0) : [];
}

/** The paths of unverified webhooks: anyone who can reach them can post. */
export function unverifiedPaths(config: Config): string[] {
  return unverifiedKinds(config).map((kind) => WEBHOOKS[kind].path);
}

const SECRETS_OF_KIND: Readonly<Record<DeliveryKind, string>> = {
  tow_request: 'WEBHOOK_SECRETS_TOW_REQUEST',
  tow_invoice: 'WEBHOOK_SECRETS_TOW_INVOICE',
};

/** @throws ConfigurationError in production if a webhook is unverified, unless WEBHOOK_UNVERIFIED is `accept`. */
export function requireVerification(config: Config): void {
  const [first, ...others] = unverifiedKinds(config);
  if (!config.isProduction || config.webhook.acceptsUnverified || first === undefined) return;
  const variable = others.length > 0 ? 'WEBHOOK_SECRETS' : SECRETS_OF_KIND[first];
  const paths = unverifiedPaths(config).join(' and ');
  const rule = `is required when NODE_ENV is production: nothing verifies webhooks on ${paths}; or set WEBHOOK_SHARED_SECRET and WEBHOOK_SHARED_SECRET_HEADER, or WEBHOOK_UNVERIFIED=accept to accept them from anyone`;
  throw new ConfigurationError([{ variable, rule }]);
}
