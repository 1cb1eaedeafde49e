import type { Finding } from '../cli';
import { ConfigurationError, environmentWithout, faultsOf, loadConfig, type Config } from '../platform/config/config';
import { NOTIFICATION_VARIABLES } from '../platform/config/notification-variables';
import { authoritiesIn } from '../platform/tls-files';
import { redisVariables } from '../platform/config/redis-variables';
import { SIGN_IN_VARIABLES } from '../platform/config/sign-in-variables';
import type { Environment } from '../platform/config/variable-rules';
import { unverifiedPaths } from '../receiver/secrets';
import { notesOf } from './finding';

export interface ConfigurationCheck {
  readonly findings: readonly Finding[];
  /** The configuration with defaults in place of wrong variables. */
  readonly config: Config;
  readonly wrong: readonly string[];
}

/** Checks the environment as the roles do, and continues with defaults for wrong variables. Names every fault. */
export function checkConfiguration(environment: Environment | undefined): ConfigurationCheck {
  const notes = notesOf('configuration');
  const faults: ConfigurationError['faults'][number][] = [];
  const leftOut = new Set<string>();
  for (;;) {
    try {
      const config = loadConfig(environmentWithout([...leftOut], environment));
      faults.push(...faultsOfNotices(config));
      const unknown = unknownIn(config);
      if (faults.length > 0)
        return { findings: [...variableFaults({ faults }), ...unknown], config, wrong: wrongIn(faults) };
      const valid = notes.fine('valid', 'every variable is valid');
      return { findings: [valid, ...unknown, ...unverifiedWebhooks(config)], config, wrong: [] };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const countBefore = leftOut.size;
      const found = error.faults.map((fault) => ({ fault, isLeftOut: leftOut.has(fault.variable) }));
      for (const { fault, isLeftOut } of found) {
        // A variable that was left out, for an earlier fault, is missing here because another one needs it.
        if (!isLeftOut) faults.push(fault);
        for (const name of isLeftOut ? groupOf(fault.variable) : contradicting(fault.variable)) leftOut.add(name);
      }
      // Each round leaves out at least one more variable, so the loop ends.
      if (leftOut.size === countBefore) throw error;
    }
  }
}

/** The files that workers and consoles read at their start for notices. */
function faultsOfNotices({ notifications: { mail, webhook } }: Config): ConfigurationError['faults'] {
  try {
    if (mail !== null && mail.caFile !== null) authoritiesIn('NOTIFY_SMTP_CA_FILE', mail.caFile);
    if (webhook.caFile !== null) authoritiesIn('NOTIFY_CA_FILE', webhook.caFile);
    return [];
  } catch (error) {
    return faultsOf(error);
  }
}

function wrongIn(faults: ConfigurationError['faults']): string[] {
  return [...new Set(faults.flatMap(({ variable }) => withFile(variable)))];
}

/** Without one of them the others contradict each other. */
const CONTRADICTING: readonly (readonly string[])[] = [
  ['WEBHOOK_SHARED_SECRET', 'WEBHOOK_SHARED_SECRET_FILE', 'WEBHOOK_SHARED_SECRET_HEADER'],
  ['SERVICE_CLIENT_CERT_FILE', 'SERVICE_CLIENT_KEY_FILE'],
  Object.keys(redisVariables),
];

/** Without one of them the others may be incomplete. */
const GROUPS = [NOTIFICATION_VARIABLES, SIGN_IN_VARIABLES].map((group) => Object.keys(group));

/** The variable in both its forms, and the variables that contradict each other without it. */
function contradicting(variable: string): string[] {
  return [...withFile(variable), ...CONTRADICTING.filter((names) => names.includes(variable)).flat()];
}

function groupOf(variable: string): string[] {
  return GROUPS.filter((names) => names.includes(variable)).flat();
}

/** A secret and the variable of its file are two forms of one setting. */
function withFile(variable: string): string[] {
  return [variable, variable.endsWith('_FILE') ? variable.slice(0, -'_FILE'.length) : `${variable}_FILE`];
}

/** A finding for each wrong variable. */
export function variableFaults({ faults }: Pick<ConfigurationError, 'faults'>): Finding[] {
  return faults.map(({ variable, rule }) =>
    notesOf('configuration').fault(
      'variable_invalid',
      `${variable} ${rule}`,
      `Set ${variable} right; docs/configuration.md lists its values.`,
    ),
  );
}

function unknownIn({ unknownVariables }: Config): Finding[] {
  if (unknownVariables.length === 0) return [];
  const what = `variables that look like those of towhook and have no effect: ${unknownVariables.join(', ')}`;
  const fix = 'Correct their names; those of other programs may stay.';
  return [notesOf('configuration').warning('variables_unknown', what, fix)];
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
