import type { Finding } from '../cli';
import { ConfigurationError, environmentWithout, loadConfig, type Config } from '../platform/config';
import { NOTIFICATION_VARIABLES } from '../platform/notification-variables';
import { redisVariables } from '../platform/redis-variables';
import { SIGN_IN_VARIABLES } from '../platform/sign-in-variables';
import { unverifiedPaths } from '../receiver/unverified-paths';
import { notesOf } from './finding';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigurationCheck {
  readonly findings: readonly Finding[];
  /** The configuration with defaults in place of wrong variables. */
  readonly config: Config;
  readonly wrong: readonly string[];
}

/** Checks the environment as the roles do, and continues with defaults for wrong variables. */
export function checkConfiguration(environment: Environment | undefined): ConfigurationCheck {
  const notes = notesOf('configuration');
  try {
    const config = loadConfig(environment);
    return { findings: [notes.fine('valid', 'every variable is valid'), ...unwise(config)], config, wrong: [] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const wrong = error.faults.map(({ variable }) => variable);
    // A fault of a combination names one of two variables.
    const together = wrong.flatMap((variable) => OTHER_OF_PAIR[variable] ?? groupOf(variable));
    const config = loadConfig(environmentWithout([...wrong, ...together], environment));
    return { findings: variableFaults(error), config, wrong };
  }
}

const OTHER_OF_PAIR: Readonly<Record<string, string>> = {
  WEBHOOK_SHARED_SECRET: 'WEBHOOK_SHARED_SECRET_HEADER',
  SERVICE_CLIENT_CERT_FILE: 'SERVICE_CLIENT_KEY_FILE',
};

/** Variables that depend on each other: without one of them the others may contradict, or be incomplete. */
const GROUPS = [redisVariables, NOTIFICATION_VARIABLES, SIGN_IN_VARIABLES].map((group) => Object.keys(group));

function groupOf(variable: string): readonly string[] {
  return GROUPS.find((group) => group.includes(variable)) ?? [];
}

/** A finding for each wrong variable. */
export function variableFaults({ faults }: ConfigurationError): Finding[] {
  return faults.map(({ variable, rule }) =>
    notesOf('configuration').fault(
      'variable_invalid',
      `${variable} ${rule}`,
      `Set ${variable} right; docs/configuration.md lists its values.`,
    ),
  );
}

/** Settings that are valid and must not be forgotten. */
function unwise(config: Config): Finding[] {
  return [...shadowMode(config), ...unverifiedWebhooks(config)];
}

function shadowMode({ service }: Config): Finding[] {
  if (service.mode === 'live') return [];
  const what = 'SERVICE_MODE=shadow: nothing is sent to the service but the token call';
  return [notesOf('configuration').warning('shadow_mode', what, 'To go live: SERVICE_MODE=live for all processes.')];
}

/** Unverified webhooks: allowed in development, and with WEBHOOK_UNVERIFIED. */
function unverifiedWebhooks(config: Config): Finding[] {
  const notes = notesOf('configuration');
  const paths = unverifiedPaths(config);
  if (paths.length === 0) return [];
  const [code, what] = ['webhooks_unverified', `no secret verifies webhooks on ${paths.join(' and ')}`];
  const { isProduction, webhook } = config;
  if (isProduction && !webhook.acceptsUnverified)
    return [notes.fault(code, `${what}: the receiver does not start`, FIX)];
  return [notes.warning(code, `${what}: anyone who knows the address can post them`, FIX)];
}

const FIX =
  'Set WEBHOOK_SECRETS, or WEBHOOK_SHARED_SECRET with WEBHOOK_SHARED_SECRET_HEADER. If the service signs none of its calls: WEBHOOK_UNVERIFIED=accept, and let the firewall pass its addresses alone.';
