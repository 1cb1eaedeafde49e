import { z } from 'zod';
import { ROLES, type Role } from '../../domain/vocabulary';
import { jsonIn } from '../../domain/json';
import { flag, httpAddress, isHttpAddress, proxyAddress, type Environment } from './variable-rules';

const filePath = z.string().min(1).optional();

/** The path of the console to which the provider sends a person back. */
export const OIDC_CALLBACK_PATH = '/sign-in/oidc/callback';

/** The path of the console to which the provider sends a person back after a sign-out. */
export const SIGNED_OUT_PATH = '/sign-in';

const ROLES_RULE = 'must be a JSON object such as {"towing-ops":"ops"}';

/** A JSON object from values of the claim to roles. The texts of its faults repeat no value. */
const rolesOfClaim = z.string().transform((text, context): ReadonlyMap<string, Role> => {
  const fault = (message: string) => context.addIssue({ code: 'custom', message });
  const given = z.record(z.string().min(1), z.unknown()).safeParse(jsonIn(text));
  const roles = new Map<string, Role>();
  if (!given.success || Object.keys(given.data).length === 0) fault(ROLES_RULE);
  else {
    for (const [value, name] of Object.entries(given.data)) {
      const role = ROLES.find((known) => known === name);
      if (role === undefined) fault(`must give each value one of the roles ${ROLES.join(', ')}`);
      else roles.set(value, role);
    }
  }
  return roles;
});

/** The variables of the sign-in of people, like those of variables.ts. */
export const SIGN_IN_VARIABLES = {
  CONSOLE_KEY_SIGN_IN: flag('true').describe(
    'Whether people may sign in to the console with an API key. `false` leaves OpenID Connect alone; API and command line still take keys.',
  ),
  CONSOLE_PUBLIC_URL: z
    .string()
    .trim()
    .refine(
      isPublicAddress,
      'must be an http(s) address such as https://console.example or https://ours.example/towhook; its path may not begin like one of the console',
    )
    .transform((text) => `${new URL(text).origin}${pathOf(text)}`)
    .optional()
    .describe(
      `Address at which people open the console, with its path if a proxy serves it below one. Notices about alarms link to it, and \`${OIDC_CALLBACK_PATH}\` below it is the redirect address of OpenID Connect.`,
    ),
  OIDC_ISSUER: httpAddress.describe(
    'Issuer of the OpenID Connect provider through which people sign in, as its discovery document spells it. Absent: with API keys only. See [Sign-in](operations/sign-in.md).',
  ),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('Client id of the console at the provider.'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('Secret of that client.'),
  OIDC_CLIENT_SECRET_FILE: filePath.describe('File with `OIDC_CLIENT_SECRET`, instead of the variable.'),
  OIDC_ROLES: rolesOfClaim
    .optional()
    .describe(
      'JSON object from values of the claim to roles, such as `{"towing-ops":"ops","towing-desk":"dispatcher"}`. Of several the highest role counts; without any the person is refused.',
    ),
  OIDC_ROLE_CLAIM: z
    .string()
    .trim()
    .min(1)
    .default('roles')
    .describe(
      'Claim of the ID token with these values: text or a list. A dot leads into an object, as in `realm_access.roles`.',
    ),
  OIDC_SCOPES: z
    .string()
    .refine((text) => text.split(/\s+/).includes('openid'), 'must be scopes with spaces between, one of them openid')
    .default('openid profile')
    .describe('Scopes that are asked for, with spaces between.'),
  OIDC_CA_FILE: filePath.describe(
    'PEM file with certificates of authorities that are trusted for the provider besides the usual ones.',
  ),
  OIDC_PROXY_URL: proxyAddress.optional().describe('HTTP proxy for calls to the provider, like `SERVICE_PROXY_URL`.'),
  OIDC_PROXY_URL_FILE: filePath.describe('File with `OIDC_PROXY_URL`, instead of the variable.'),
};

type SignInVariables = z.output<z.ZodObject<typeof SIGN_IN_VARIABLES>>;

/** How people sign in to the console. */
export type SignInSettings = ReturnType<typeof signInSettings>;

/** The provider of OpenID Connect, and what its claims mean here. */
export type OidcSettings = NonNullable<SignInSettings['oidc']>;

export function signInSettings(env: SignInVariables) {
  const publicPath = env.CONSOLE_PUBLIC_URL === undefined ? '' : pathOf(env.CONSOLE_PUBLIC_URL);
  return { withKeys: env.CONSOLE_KEY_SIGN_IN, publicPath, oidc: oidcSettings(env) };
}

/** Null unless all of it is configured; `signInFaults` refuses a part of it. */
function oidcSettings(env: SignInVariables) {
  const {
    CONSOLE_PUBLIC_URL: publicUrl,
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES: roles,
  } = env;
  const isComplete = publicUrl && issuer && clientId && clientSecret && roles;
  if (!isComplete) return null;
  return {
    issuer,
    clientId,
    clientSecret,
    redirectUrl: `${publicUrl}${OIDC_CALLBACK_PATH}`,
    signedOutUrl: `${publicUrl}${SIGNED_OUT_PATH}`,
    scopes: env.OIDC_SCOPES,
    roleClaim: env.OIDC_ROLE_CLAIM,
    /** Values of the claim and their roles. */
    roles,
    outbound: {
      /** May have credentials. */
      proxyUrl: env.OIDC_PROXY_URL ?? null,
      caFile: env.OIDC_CA_FILE ?? null,
      clientCertFile: null,
      clientKeyFile: null,
    },
  };
}

const REQUIRED = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES', 'CONSOLE_PUBLIC_URL'];

/** A file of a secret is not among them: what it holds is given as the variable itself. */
const OF_PROVIDER = Object.keys(SIGN_IN_VARIABLES).filter((name) =>
  /^OIDC_(?!CLIENT_SECRET_FILE|PROXY_URL_FILE)/.test(name),
);

/** What the sign-in of people lacks, and an issuer without TLS in production. */
export function signInFaults(given: Environment): { variable: string; rule: string }[] {
  const provider = OF_PROVIDER.find((name) => given[name] !== undefined);
  const wanting = provider ?? (given['CONSOLE_KEY_SIGN_IN'] === 'false' ? 'CONSOLE_KEY_SIGN_IN=false' : null);
  if (wanting === null) return [];
  const missing = REQUIRED.filter((name) => given[name] === undefined);
  const isPlain = given['NODE_ENV'] === 'production' && given['OIDC_ISSUER']?.trim().startsWith('http://');
  return [
    ...missing.map((variable) => ({ variable, rule: `is required with ${wanting}` })),
    ...(isPlain ? [{ variable: 'OIDC_ISSUER', rule: 'must begin with https:// when NODE_ENV is production' }] : []),
  ];
}

/** Below such a path, it would be unclear whether a proxy has removed the path of an address. */
const OWN_PATHS =
  /^\/(?:api|assets|board|docs|healthz|lookups|metrics|openapi\.json|ops|preferences|queues|readyz|runs|shortcuts|sign-in|sign-out|sign-out-everywhere|tasks|tows|violations)(?:\/|$)/;

function isPublicAddress(text: string): boolean {
  return (
    isHttpAddress(text) && /^(?:(?:\/[\w.~-]+)+\/?|\/)$/.test(new URL(text).pathname) && !OWN_PATHS.test(pathOf(text))
  );
}

/** The path of an address without its last slash; empty without one. */
function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '');
}
