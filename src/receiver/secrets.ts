import { WEBHOOKS } from '../contracts/webhook/webhooks';
import { DELIVERY_KINDS, type DeliveryKind } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { ConfigurationError, faultsOf, type Config, type ReceiverSecrets } from '../platform/config/config';
import type { Log } from '../platform/log/log';
import type { SecretsFault } from '../domain/webhook/webhook-answers';
import type { VerifySettings } from './verify';

/** The secrets that verify webhooks now. */
export interface SecretWatch {
  settings(): Readonly<Record<DeliveryKind, VerifySettings>>;
  /** Reads the files again and replaces the secrets. Files that cannot be used leave the earlier secrets in place. */
  check(): Promise<void>;
}

/**
 * Watches the files of webhook secrets by their content, so replaced links and network disks are noticed, too.
 *
 * @param report stores a fault of the files for the alarm, with every check while it lasts; null once it is over.
 */
export function createSecretWatch(tools: {
  readonly initial: ReceiverSecrets;
  readonly reload: () => Promise<ReceiverSecrets>;
  readonly report: (fault: SecretsFault | null) => Promise<void>;
  readonly host: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
}): SecretWatch {
  const { reload, report, log } = tools;
  let current = settingsOf(tools.initial);
  let problem: { readonly text: string; readonly sinceMs: number } | null = null;

  const replaced = async () => {
    const before = JSON.stringify(current);
    current = settingsOf(await reload());
    if (JSON.stringify(current) !== before) log.info('receiver.secrets_replaced');
  };
  return {
    settings: () => current,
    async check() {
      const faults = await replaced().then(() => [], faultsOf);
      if (faults.length === 0) {
        if (problem !== null) await report(null);
        problem = null;
        return;
      }
      const text = JSON.stringify(faults);
      if (text !== problem?.text) log.warn('receiver.secrets_not_replaced', { faults });
      problem = { text, sinceMs: problem?.sinceMs ?? tools.clock.nowMs() };
      const variables = [...new Set(faults.map(({ variable }) => variable))];
      await report({ variables, host: tools.host, sinceMs: problem.sinceMs });
    },
  };
}

function settingsOf({ secrets, sharedSecret }: ReceiverSecrets): Readonly<Record<DeliveryKind, VerifySettings>> {
  return {
    tow_request: { secrets: secrets.tow_request, sharedSecret },
    tow_invoice: { secrets: secrets.tow_invoice, sharedSecret },
  };
}

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
