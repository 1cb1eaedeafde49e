import { isIP } from 'node:net';
import { z } from 'zod';

/** Every environment variable, its rule and its default: the one list that the configuration and the README share. */

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const count = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
/** Fractions are allowed: half an hour is 0.5. */
const hours = (fallback: number) => z.coerce.number().min(0).max(87_600).default(fallback);
const minutes = (fallback: number) => z.coerce.number().min(0).max(525_600).default(fallback);
const durationMs = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
const list = z.string().transform((text) => splitList(text));
const words = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) => splitList(text))
    .refine((items) => items.length > 0, 'must name at least one value');
/** What of the console's port can be read without a key. */
const openPaths = list.pipe(z.array(z.enum(['metrics', 'docs']))).default([]);
const flag = (fallback: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(fallback)
    .transform((text) => text === 'true');
/** A number of proxies, or their addresses and networks. */
const trustedProxies = z
  .string()
  .transform((text) => (/^\d{1,2}$/.test(text.trim()) ? Number(text) : splitList(text)))
  .refine(
    (proxies) => typeof proxies === 'number' || (proxies.length > 0 && proxies.every(isNetwork)),
    'must be a comma list of addresses and networks (10.0.0.0/8), or a number of proxies up to 99',
  );
const signingSecrets = list
  .refine((secrets) => secrets.length > 0, 'must name at least one secret')
  .refine((secrets) => secrets.every(isSigningSecret), 'must be a comma list of whsec_… secrets')
  .default([]);

export const VARIABLES = z.object({
  NODE_ENV: z.string().default('development'),
  SERVICE_BASE_URL: z
    .string()
    .refine(isHttpAddress, 'must be an http(s) address without user, query or fragment')
    .optional(),
  SERVICE_CLIENT_ID: z.string().min(1).optional(),
  SERVICE_CLIENT_SECRET: z.string().min(1).optional(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/.+/, 'must start with redis:// or rediss://')
    .optional(),
  REDIS_STRICT: flag('false'),
  REDIS_SERVER_BIN: z.string().min(1).optional(),
  DATA_DIR: z.string().min(1).default('./data'),
  HOST: z.string().min(1).default('127.0.0.1'),
  RECEIVER_HOST: z.string().min(1).optional(),
  CONSOLE_HOST: z.string().min(1).optional(),
  RECEIVER_PORT: port(3000),
  CONSOLE_PORT: port(3001),
  SIMULATOR_PORT: port(3002),
  OPS_PORT: port(0),
  WEBHOOK_SECRETS: signingSecrets,
  WEBHOOK_SECRETS_TOW_REQUEST: signingSecrets,
  WEBHOOK_SECRETS_TOW_INVOICE: signingSecrets,
  WEBHOOK_SHARED_SECRET: z.string().optional(),
  WEBHOOK_SHARED_SECRET_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be a header name')
    .transform((name) => name.toLowerCase())
    .optional(),
  WEBHOOK_UNVERIFIED: z.enum(['accept']).optional(),
  WEBHOOK_BODY_LIMIT_BYTES: z.coerce.number().int().min(1).default(131_072),
  WEBHOOK_RATE_PER_MINUTE: count(0),
  BOOTSTRAP_API_KEY: z.string().optional(),
  CONSOLE_OPEN_PATHS: openPaths,
  TRUST_PROXY: trustedProxies.optional(),
  SERVICE_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(1)
    .max(14_000, 'must be at most 14000: a claim lasts 20 s')
    .default(10_000),
  RETRY_BASE_MS: z.coerce.number().int().min(1).default(1000),
  RETRY_CAP_MS: z.coerce.number().int().min(1).default(300_000),
  NOT_FOUND_RETRIES: count(3),
  NOT_FOUND_RETRY_MS: durationMs(5000),
  UNKNOWN_GRACE_MS: durationMs(15_000),
  REPORT_GIVE_UP_AFTER_HOURS: hours(48),
  BUDGET_AUTH_PER_MINUTE: count(20),
  BUDGET_SITE_PER_MINUTE: count(30),
  BUDGET_VIOLATIONS_PER_MINUTE: count(20),
  BUDGET_TICKETS_PER_MINUTE: count(40),
  BUDGET_TOW_PER_MINUTE: count(0),
  // Open question Q11: only one vehicle type is documented; others can be allowed here.
  VEHICLE_TYPES: words('HEAVY'),
  // Open question Q12: only one payment status is documented; others can be allowed here.
  PAYMENT_STATUSES: words('PAID'),
  FREE_DAYS: count(0),
  VIOLATION_API: z.enum(['reference', 'guide']).default('reference'),
  VIOLATION_PROOF_HOURS: hours(1),
  VIOLATION_TICKET_CHECK: flag('false'),
  LOOKUP_CACHE_MS: durationMs(10_000),
  RELEASE_REQUIRES_PAYMENT: z.enum(['invoiced', 'always', 'never']).default('invoiced'),
  OVERDUE_REQUESTED_MINUTES: minutes(45),
  OVERDUE_STARTED_MINUTES: minutes(240),
  OVERDUE_REPORT_MINUTES: minutes(15),
  WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(50),
  STOP_GRACE_MS: durationMs(15_000),
  WORKER_STANDSTILL_MS: z.coerce.number().int().min(1000).default(60_000),
  KEEP_DELIVERIES_HOURS: hours(168),
  KEEP_TOWS_HOURS: hours(720),
  KEEP_VIOLATIONS_HOURS: hours(720),
  KEEP_AUDIT_HOURS: hours(720),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'http', 'verbose', 'debug', 'silly']).default('info'),
  SIMULATOR_ASSESS_AFTER_MS: durationMs(3000),
  SIMULATOR_WEBHOOK_URL: z.string().refine(isHttpAddress, 'must be an http(s) address').optional(),
});

/** What the `towhook` command line reads besides: nothing of it configures a role, and no role is told of it. */
export const COMMAND_LINE_VARIABLES = z.object({
  TOWHOOK_URL: z
    .string()
    .refine(isHttpAddress, 'must be an http(s) address without user, query or fragment')
    .optional(),
  TOWHOOK_API_KEY: z.string().optional(),
  NO_COLOR: z.string().optional(),
  // Where the console of this machine listens and what its first key is, should the two above be absent.
  ...VARIABLES.pick({ CONSOLE_PORT: true, CONSOLE_HOST: true, HOST: true, BOOTSTRAP_API_KEY: true }).shape,
});

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function isHttpAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username + url.password === '';
}

/** An IP address, alone or with the length of a prefix. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function isSigningSecret(secret: string): boolean {
  return signingKeyOf(secret) !== null;
}

/** The keys of a comma list of `whsec_…` secrets; empty when one of them is none. */
export function signingKeysIn(text: string): readonly Buffer[] {
  const keys = splitList(text).map((secret) => signingKeyOf(secret));
  return keys.every((key) => key !== null) ? keys : [];
}

function signingKeyOf(secret: string): Buffer | null {
  const [, encoded = ''] = /^whsec_(.+)$/.exec(secret) ?? [];
  const key = Buffer.from(encoded, 'base64');
  // Only text that survives the round trip is base64.
  return encoded !== '' && key.toString('base64') === encoded ? key : null;
}
