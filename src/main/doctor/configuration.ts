import type { Finding } from '../../cli';
import { DELIVERY_KINDS } from '../../domain/vocabulary';
import { ConfigurationError, environmentWithout, loadConfig, type Config } from '../../platform/config';
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

/** What is allowed, and better otherwise. */
function unwise(config: Config): Finding[] {
  const notes = notesOf('configuration');
  const { secrets, sharedSecret } = config.webhook;
  const open = DELIVERY_KINDS.filter((kind) => secrets[kind].length === 0);
  if (sharedSecret !== null || open.length === 0) return [];
  const whose = open.length === DELIVERY_KINDS.length ? 'no webhook is' : `webhooks ${open.join(', ')} are not`;
  return [
    notes.warning(
      'webhooks_unverified',
      `${whose} proved by a secret: anybody who knows the address can post them`,
      'Set WEBHOOK_SECRETS, or WEBHOOK_SHARED_SECRET with WEBHOOK_SHARED_SECRET_HEADER, if the service signs its calls.',
    ),
  ];
}
