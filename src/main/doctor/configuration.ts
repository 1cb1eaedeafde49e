import type { Finding } from '../../cli';
import { ConfigurationError, environmentWithout, loadConfig, type Config } from '../../platform/config';
import { unverifiedPaths } from '../webhook-proof';
import { notesOf } from './finding';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigurationLook {
  readonly findings: readonly Finding[];
  /** With the defaults in place of the variables that are wrong. */
  readonly config: Config;
  /** The variables that are wrong. */
  readonly wrong: readonly string[];
}

/** Reads the environment as the roles do, and goes on beside what is wrong in it. */
export function lookAtConfiguration(environment: Environment | undefined): ConfigurationLook {
  const notes = notesOf('configuration');
  try {
    const config = loadConfig(environment);
    return { findings: [notes.fine('valid', 'every variable keeps its rule'), ...unwise(config)], config, wrong: [] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const wrong = error.faults.map(({ variable }) => variable);
    // Of two variables that are wrong only together, the fault names one.
    const together = wrong.includes('WEBHOOK_SHARED_SECRET') ? ['WEBHOOK_SHARED_SECRET_HEADER'] : [];
    const config = loadConfig(environmentWithout([...wrong, ...together], environment));
    const findings = error.faults.map(({ variable, rule }) =>
      notes.fault('variable_invalid', `${variable} ${rule}`, `Set ${variable} right; the README lists what it may be.`),
    );
    return { findings, config, wrong };
  }
}

/** Webhooks that no secret proves: allowed in development, and where WEBHOOK_UNVERIFIED accepts them. */
function unwise(config: Config): Finding[] {
  const notes = notesOf('configuration');
  const paths = unverifiedPaths(config);
  if (paths.length === 0) return [];
  const [code, what] = ['webhooks_unverified', `no secret proves webhooks on ${paths.join(' and ')}`];
  const { isProduction, webhook } = config;
  if (isProduction && !webhook.acceptsUnverified)
    return [notes.fault(code, `${what}: the receiver does not start`, FIX)];
  return [notes.warning(code, `${what}: anybody who knows the address can post them`, FIX)];
}

const FIX =
  'Set WEBHOOK_SECRETS, or WEBHOOK_SHARED_SECRET with WEBHOOK_SHARED_SECRET_HEADER. If the service proves none of its calls: WEBHOOK_UNVERIFIED=accept, and let the firewall pass its addresses alone.';
