import { readFileSync } from 'node:fs';
import type { Environment } from './variable-rules';

/** Secrets that may be in a file, which `<variable>_FILE` names, instead of the environment. */

type Secrets = Readonly<Record<string, (text: string) => string>>;

/** Secrets that are read again while a receiver runs: each variable, and how the text of its file becomes its value. */
const WEBHOOK_SECRETS: Secrets = {
  WEBHOOK_SECRETS: linesAsList,
  WEBHOOK_SECRETS_TOW_REQUEST: linesAsList,
  WEBHOOK_SECRETS_TOW_INVOICE: linesAsList,
  // A line break at the end shows that commas belong to the secrets.
  WEBHOOK_SHARED_SECRET: (text) => text.trim() && `${text.trim()}\n`,
};

/** All secrets of the roles. The others are read once, at the start. */
const SECRETS: Secrets = {
  ...WEBHOOK_SECRETS,
  SERVICE_CLIENT_SECRET: (text) => text.trim(),
  SERVICE_PROXY_URL: (text) => text.trim(),
  BOOTSTRAP_API_KEY: (text) => text.trim(),
  OIDC_CLIENT_SECRET: (text) => text.trim(),
  OIDC_PROXY_URL: (text) => text.trim(),
  REDIS_PASSWORD: (text) => text.trim(),
  REDIS_SENTINEL_PASSWORD: (text) => text.trim(),
  NOTIFY_WEBHOOK_SECRET: (text) => text.trim(),
  NOTIFY_PROXY_URL: (text) => text.trim(),
  NOTIFY_SMTP_URL: (text) => text.trim(),
};

/** The secrets of the command line. */
const COMMAND_LINE_SECRETS: Secrets = {
  TOWHOOK_API_KEY: (text) => text.trim(),
  BOOTSTRAP_API_KEY: (text) => text.trim(),
};

/** Of a text with a NUL, as the letters of UTF-16 have. */
export const NOT_UTF_8_RULE = 'must name a file in UTF-8; this one is UTF-16 or binary';

type VariableFault = { readonly variable: string; readonly rule: string };

/** Returns the text of a file; null if it cannot be read. */
export type ReadText = (path: string) => string | null;

export const readTextNow: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

/** The variables that the secrets of webhooks depend on, to read them again later. */
export function secretVariablesIn(given: Environment): Environment {
  const names = [
    'NODE_ENV',
    'WEBHOOK_SHARED_SECRET_HEADER',
    ...Object.keys(WEBHOOK_SECRETS).flatMap((name) => [name, fileOf(name)]),
  ];
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
}

/** The files of webhook secrets that variables name. */
export function secretFilesIn(given: Environment): readonly string[] {
  return Object.keys(WEBHOOK_SECRETS).flatMap((name) => given[fileOf(name)] ?? []);
}

/** The variables with the contents of the files of `secrets`, and the files that cannot be used. */
export function withSecretFiles(
  given: Environment,
  read: ReadText,
  secrets: Secrets = SECRETS,
): { readonly given: Environment; readonly faults: readonly VariableFault[] } {
  const contents: Record<string, string> = {};
  const faults: VariableFault[] = [];
  for (const [name, valueOf] of Object.entries(secrets)) {
    const variable = fileOf(name);
    const path = given[variable];
    if (path === undefined) continue;
    const text = read(path);
    const value = text === null ? '' : valueOf(text);
    if (given[name] !== undefined) faults.push({ variable, rule: `and ${name} must not both be set` });
    else if (text === null) faults.push({ variable, rule: 'must name a file that can be read' });
    else if (text.includes('\0')) faults.push({ variable, rule: NOT_UTF_8_RULE });
    else if (value === '') faults.push({ variable, rule: 'must name a file that is not empty' });
    else contents[name] = value;
  }
  return { given: { ...given, ...contents }, faults };
}

/** The same for the command line, without variables that another one replaces: their faults do not affect it. */
export function commandLineVariables(given: Environment): ReturnType<typeof withSecretFiles> {
  const hasOwnKey = given['TOWHOOK_API_KEY'] !== undefined || given['TOWHOOK_API_KEY_FILE'] !== undefined;
  const replaced = [
    ...(hasOwnKey ? ['BOOTSTRAP_API_KEY', 'BOOTSTRAP_API_KEY_FILE'] : []),
    ...(given['TOWHOOK_URL'] === undefined ? [] : ['CONSOLE_HOST', 'CONSOLE_PORT', 'HOST']),
  ];
  const used = Object.fromEntries(Object.entries(given).filter(([name]) => !replaced.includes(name)));
  return withSecretFiles(used, readTextNow, COMMAND_LINE_SECRETS);
}

/** Names the variable of the file in a fault of a value that came from a file. */
export function faultOfFile({ variable, rule }: VariableFault, given: Environment): VariableFault {
  const isFromFile = given[variable] === undefined && given[fileOf(variable)] !== undefined;
  return { variable: isFromFile ? fileOf(variable) : variable, rule };
}

function fileOf(name: string): string {
  return `${name}_FILE`;
}

function linesAsList(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(',');
}
