import { isIP } from 'node:net';
import { z } from 'zod';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/timestamp';
import { OPERATION_NAMES, type ServicePaths } from '../../domain/vocabulary';
import { jsonIn } from '../../domain/json';
import { DECIMAL_NUMBER, WHOLE_NUMBER } from '../../domain/numerals';

/** Rules for the values of environment variables, as zod schemas with their defaults. */

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that have a value, without the white space around it: secrets in files are read so too. */
export function givenIn(environment: Environment): Environment {
  const values = Object.entries(environment).map(([name, value]) => [name, value?.trim()] as const);
  return Object.fromEntries(values.filter(([, value]) => value));
}

/** The variables of `names` whose whole value is in quotes. `docker run --env-file` keeps them; files have none added. */
export function quotedIn(given: Environment, names: readonly string[]): { variable: string; rule: string }[] {
  return names
    .filter((variable) => /^(["']).*\1$/s.test(given[variable] ?? ''))
    .map((variable) => ({ variable, rule: 'is in quotes, which env files may keep: leave them out' }));
}

const SERVICE_LINK =
  'is the address of a Service that Kubernetes has put there: set `enableServiceLinks: false` in the pod';

/** Reads the text of a variable as a number. */
const numberIn =
  (isNumber: RegExp, rule: string) =>
  <S extends z.ZodDefault<z.ZodNumber>>(schema: S) =>
    z.preprocess((given: unknown, context) => {
      if (typeof given !== 'string') return given;
      if (given.startsWith('tcp://')) {
        context.addIssue({ code: 'custom', message: SERVICE_LINK });
        return z.NEVER;
      }
      const value = Number(given);
      // The schema refuses what is no number at all.
      if (isNumber.test(given) || Number.isNaN(value)) return value;
      context.addIssue({ code: 'custom', message: rule });
      return z.NEVER;
    }, schema);

/** A whole number in digits, with the limits and the default of the schema. */
export const wholeNumber = numberIn(WHOLE_NUMBER, 'must be a whole number');
/** A number in digits with at most one decimal point, with the limits and the default of the schema. */
export const decimalNumber = numberIn(DECIMAL_NUMBER, 'must be a number in digits, such as 0.5');

export const port = (fallback: number) => wholeNumber(z.int().min(0).max(65_535).default(fallback));
export const count = (fallback: number) => wholeNumber(z.int().min(0).default(fallback));
/** Hours and minutes allow fractions and 0: half an hour is 0.5. `hoursMs` and `minutesMs` turn them into whole ms. */
export const hours = (fallback: number) => decimalNumber(z.number().min(0).max(87_600).default(fallback));
export const minutes = (fallback: number) => decimalNumber(z.number().min(0).max(525_600).default(fallback));
export const hoursMs = (count: number) => Math.round(count * HOUR_MS);
export const minutesMs = (count: number) => Math.round(count * MINUTE_MS);
/**
 * At most a day: Node runs a timer of more than 2^31 - 1 ms (24.8 days) after 1 ms, so a longer grace would end the
 * process at once. The end of a stop is a timer of two durations.
 */
export const durationMs = (fallback: number, { min = 0, max = DAY_MS } = {}) =>
  wholeNumber(z.int().min(min).max(max).default(fallback));

export const list = z.string().transform((text) => splitList(text));

/** A comma list with at least one value. */
export const names = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) => splitList(text))
    .refine((items) => items.length > 0, 'must name at least one value');

/** Paths of the console's port that can be read without a key. */
export const openPaths = list.pipe(z.array(z.enum(['metrics', 'docs']))).default([]);

export const flag = (fallback: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(fallback)
    .transform((text) => text === 'true');

export const httpAddress = z
  .string()
  .refine(isHttpAddress, 'must be an http(s) address without user, query or fragment')
  .optional();

/** The address of a proxy, with credentials or without. */
export const proxyAddress = z
  .string()
  .transform((text) => text.trim())
  .refine(isProxyAddress, 'must be an http(s) address such as http://user:password@proxy.example:3128');

function isProxyAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(text);
  if (!/^https?:$/.test(protocol) || pathname !== '/' || search + hash !== '') return false;
  return isDecodable(username + password);
}

/** A percent sign that begins no character would fail with each call. */
function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text).length >= 0;
  } catch {
    return false;
  }
}

const ADDRESS_RULE = 'must be a path that begins with /, or an http(s) address, without user, query or fragment';

/** A JSON object from operations to their paths or addresses. The texts of its faults repeat no value. */
export const servicePaths = z
  .string()
  .transform((text, context): ServicePaths => {
    const fault = (message: string) => context.addIssue({ code: 'custom', message });
    const given = z.record(z.string(), z.unknown()).safeParse(jsonIn(text));
    if (!given.success) {
      fault('must be a JSON object such as {"started":"/v2/tow/started"}');
      return {};
    }
    const paths: Partial<Record<keyof ServicePaths, string>> = {};
    for (const [name, path] of Object.entries(given.data)) {
      const operation = OPERATION_NAMES.find((known) => known === name);
      if (operation === undefined) fault(`names an unknown operation${/^\w{1,40}$/.test(name) ? `, ${name}` : ''}`);
      else if (typeof path !== 'string' || !isCallAddress(path.trim())) fault(`${operation}: ${ADDRESS_RULE}`);
      else paths[operation] = path.trim();
    }
    return paths;
  })
  .default({});

function isCallAddress(text: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\')) return false;
  return text.startsWith('/') ? !/[?#]/.test(text) : isHttpAddress(text);
}

/** A number of proxies, or their addresses and networks. */
export const trustedProxies = z
  .string()
  .transform((text) => (/^\d{1,2}$/.test(text.trim()) ? Number(text) : splitList(text)))
  .refine(
    (proxies) => typeof proxies === 'number' || (proxies.length > 0 && proxies.every(isNetwork)),
    'must be a comma list of addresses and networks (10.0.0.0/8), or a number of proxies up to 99',
  );

export const signingSecrets = list
  .refine((secrets) => secrets.length > 0, 'must name at least one secret')
  .superRefine((secrets, context) => {
    if (secrets.every((secret) => signingKey(secret) !== null)) return;
    const hasPrefix = secrets.every((secret) => secret.startsWith('whsec_'));
    const message = hasPrefix ? 'must be a comma list of whsec_… secrets' : PREFIX_RULE;
    context.addIssue({ code: 'custom', message: secrets.includes('v1') ? VERSION_RULE : message });
  })
  .default([]);

const VERSION_RULE = 'has `v1,` in front of a secret: leave it out, so that whsec_ comes first';
const PREFIX_RULE =
  'has a secret without whsec_ in front: add it if the secret is base64, else put whsec_ in front of the base64 of its text';

/** Secrets that are sent in a header: a comma list, or lines, as the text of a file is, whose commas belong to them. */
export const sharedSecrets = z
  .string()
  .transform(sharedSecretsIn)
  .refine((secrets) => secrets.length > 0, 'must name at least one secret')
  .refine(
    (secrets) => secrets.every((secret) => /^\P{Cc}+$/u.test(secret)),
    'must have no control characters, since it is sent in a header',
  );

export const signingSecret = z
  .string()
  .trim()
  .refine((secret) => signingKey(secret) !== null, 'must be a whsec_… secret');

/** The address of a mail server, with credentials or without. */
export const smtpAddress = z
  .string()
  .trim()
  .refine(isSmtpAddress, 'must be an address such as smtp://user:password@mail.example:587');

function isSmtpAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  if (!/^smtps?:$/.test(protocol) || hostname === '' || /[^/]/.test(pathname) || search + hash !== '') return false;
  return (username === '') === (password === '') && isDecodable(username + password);
}

/** The keys of a comma list of `whsec_…` secrets; empty if one of them is invalid. */
function signingKeysIn(text: string): readonly Buffer[] {
  const keys = splitList(text).map(signingKey);
  return keys.every((key) => key !== null) ? keys : [];
}

/** Null if the secret is not `whsec_` followed by base64. */
function signingKey(secret: string): Buffer | null {
  const [, encoded = ''] = /^whsec_(.+)$/.exec(secret) ?? [];
  const key = Buffer.from(encoded, 'base64');
  // Buffer ignores characters that are not base64; only valid base64 survives the round trip.
  return encoded !== '' && key.toString('base64') === encoded ? key : null;
}

function sharedSecretsIn(text: string): string[] {
  return splitList(text, text.includes('\n') ? '\n' : ',');
}

function splitList(text: string, separator = ','): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Matches the text, which is used as it is: `URL` drops an empty query or user and repairs other faults. */
const HTTP_ADDRESS = /^https?:\/\/[^\s/?#@\\]+(\/[\x21-\x7e]*)?$/i;

/** True for an http(s) address without user, query and fragment, in the form that src/service/addresses.ts takes. */
export function isHttpAddress(text: string): boolean {
  return HTTP_ADDRESS.test(text) && !/[?#]/.test(text) && URL.canParse(text);
}

/** An IP address, alone or with the length of a prefix. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

const SECRET_CHARACTERS_MIN = 24;
/** Standard Webhooks requires 24 to 64 bytes. */
const SIGNING_KEY_BYTES_MIN = 24;

const SECRET_TEXTS = { BOOTSTRAP_API_KEY: (text: string) => [text], WEBHOOK_SHARED_SECRET: sharedSecretsIn };
const SECRET_LISTS = [
  'WEBHOOK_SECRETS',
  'WEBHOOK_SECRETS_TOW_REQUEST',
  'WEBHOOK_SECRETS_TOW_INVOICE',
  'NOTIFY_WEBHOOK_SECRET',
];

const TEXT_RULE = `must have at least ${SECRET_CHARACTERS_MIN} characters when NODE_ENV is production`;
const SIGNING_RULE = `must hold secrets of at least ${SIGNING_KEY_BYTES_MIN} bytes (32 characters after whsec_) when NODE_ENV is production`;

/** The secrets that are too short for production; none outside production. Values that break another rule are skipped. */
export function weakSecrets(env: Environment): { variable: string; rule: string }[] {
  if (env['NODE_ENV'] !== 'production') return [];
  return [
    ...Object.entries(SECRET_TEXTS)
      .filter(([variable, secretsIn]) => secretsIn(env[variable] ?? '').some(isShort))
      .map(([variable]) => ({ variable, rule: TEXT_RULE })),
    ...SECRET_LISTS.filter((variable) => hasShortKey(env[variable])).map((variable) => ({
      variable,
      rule: SIGNING_RULE,
    })),
  ];
}

function isShort(text: string): boolean {
  return text !== '' && text.length < SECRET_CHARACTERS_MIN;
}

function hasShortKey(secrets = ''): boolean {
  return signingKeysIn(secrets).some((key) => key.length < SIGNING_KEY_BYTES_MIN);
}
