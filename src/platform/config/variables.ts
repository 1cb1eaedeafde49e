import { z } from 'zod';
import { HOUR_MS } from '../../domain/timestamp';
import {
  API_KEY_RULE,
  CREDENTIAL_RULE,
  isSendableCredential,
  isSendableKey,
  OPERATION_NAMES,
  SERVICE_MODES,
} from '../../domain/vocabulary';
import { NOTIFICATION_VARIABLES } from './notification-variables';
import { redisVariables } from './redis-variables';
import { SIGN_IN_VARIABLES } from './sign-in-variables';
import {
  count,
  decimalNumber,
  durationMs,
  flag,
  hours,
  httpAddress,
  minutes,
  names,
  openPaths,
  port,
  proxyAddress,
  servicePaths,
  sharedSecrets,
  signingSecrets,
  trustedProxies,
  wholeNumber,
} from './variable-rules';

/**
 * Every environment variable with its rule, default and description. `npm run generate` writes docs/configuration.md from
 * this list: a group is a section, and the page has the order of this file.
 */

const filePath = z.string().min(1).optional();
const credential = z.string().refine(isSendableCredential, CREDENTIAL_RULE).optional();

const service = {
  SERVICE_BASE_URL: httpAddress.describe(
    'Address of the service with its path prefix. Paths are appended to it. Required by the roles worker and all.',
  ),
  SERVICE_CLIENT_ID: credential.describe(
    'Client id for the access token, issued by the service. Required like the address.',
  ),
  SERVICE_CLIENT_SECRET: credential.describe('Secret of the client id. Required like the address.'),
  SERVICE_CLIENT_SECRET_FILE: filePath.describe('File with `SERVICE_CLIENT_SECRET`, instead of the variable.'),
  SERVICE_PATHS: servicePaths.describe(
    'JSON object of operations whose address differs from the documented one: a path below `SERVICE_BASE_URL`, or a whole address, such as `{"token":"https://auth.example/token","started":"/v2/tow/started"}`. Operations: `'.concat(
      OPERATION_NAMES.join('`, `'),
      '`. `towhook doctor` prints the addresses in use.',
    ),
  ),
  SERVICE_PROXY_URL: proxyAddress
    .optional()
    .describe(
      'HTTP proxy for all calls to the service, such as `http://user:password@proxy.example:3128`. It must open tunnels (CONNECT).',
    ),
  SERVICE_PROXY_URL_FILE: filePath.describe('File with `SERVICE_PROXY_URL`, instead of the variable.'),
  SERVICE_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'PEM file with certificates of authorities that are trusted besides the usual ones: those of Node and of `NODE_EXTRA_CA_CERTS`. With such a file, `--use-openssl-ca` and `--use-system-ca` of Node have no effect on these connections.',
    ),
  SERVICE_CLIENT_CERT_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file with a certificate that the service asks of its clients. Both or neither of it and its key.'),
  SERVICE_CLIENT_KEY_FILE: z.string().min(1).optional().describe('PEM file with the key of that certificate.'),
  SERVICE_ENVELOPE_CODE: z
    .enum(['refusal', 'ignore'])
    .default('refusal')
    .describe(
      'What a 2xx means whose body has a `code` of 400 or more: `refusal` takes it as a refusal with that status (above 599 with 400), `ignore` takes the status of HTTP alone.',
    ),
  SERVICE_LENIENT_HTTP: flag('false').describe(
    'Reads answers whose head breaks HTTP as curl reads them, such as a length beside chunks, a control character or line feeds alone. Each call has a connection of its own then. Set it only while the service or its proxy cannot be repaired.',
  ),
  SERVICE_MODE: z
    .enum(SERVICE_MODES)
    .default('live')
    .describe(
      '`shadow` receives, records and shows everything, and sends nothing but the token call. One process with it is enough for all; `towhook mode` does the same without a restart. See [Shadow mode](operations/running.md#shadow-mode).',
    ),
  SERVICE_TIMEOUT_MS: wholeNumber(
    z.int().min(1).max(14_000, 'must be at most 14000: a claim lasts 20 s').default(10_000),
  ).describe('Time limit of one call to the service without images.'),
  SERVICE_UPLOAD_TIMEOUT_MS: wholeNumber(z.int().min(1).max(3_600_000).default(120_000)).describe(
    'Time limit of one call with images. It also ends after 10 s in which no byte was sent or received.',
  ),
};

const storage = {
  ...redisVariables,
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe(
      'Folder for the embedded Redis, spooled images, photos and the archive. Workers and consoles need the same folder.',
    ),
  DATA_KEYS_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the keys that personal data is encrypted with at rest, one `<id>:<base64 of 32 bytes>` per line. All roles need the same file. It is read again when it changes. Absent: the data is not encrypted. See [Encryption](operations/encryption.md).',
    ),
};

const listeners = {
  HOST: z.string().min(1).default('127.0.0.1').describe('Address that all listeners bind to.'),
  RECEIVER_HOST: z.string().min(1).optional().describe('Address of the receiver. `HOST` if absent.'),
  CONSOLE_HOST: z.string().min(1).optional().describe('Address of the console. `HOST` if absent.'),
  RECEIVER_PORT: port(3000).describe('Port for webhooks, the only one meant for the internet.'),
  CONSOLE_PORT: port(3001).describe('Port for the console, the operator API, the queue pages and metrics.'),
  SIMULATOR_PORT: port(3002).describe('Port of the simulator.'),
  OPS_PORT: port(0).describe(
    'Port for health and metrics of receiver and worker. 0 means any free port; the log names it.',
  ),
  TRUST_PROXY: trustedProxies
    .optional()
    .describe(
      'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are used: a comma list of addresses and networks (`10.0.0.0/8,::1`), or their number. See [Proxies](operations/deployment.md#proxies).',
    ),
};

const webhooks = {
  WEBHOOK_SECRETS: signingSecrets.describe(
    'Comma list of `whsec_…` secrets that sign webhooks. All of them are valid, for rotation.',
  ),
  WEBHOOK_SECRETS_TOW_REQUEST: signingSecrets.describe('Secrets of `/tow-request` alone. `WEBHOOK_SECRETS` if absent.'),
  WEBHOOK_SECRETS_TOW_INVOICE: signingSecrets.describe('Secrets of `/tow/invoice` alone. `WEBHOOK_SECRETS` if absent.'),
  WEBHOOK_SHARED_SECRET: sharedSecrets
    .optional()
    .describe(
      'Comma list of secrets that the service sends in a header instead of a signature. All of them are valid, for rotation. One with a comma: in a file.',
    ),
  WEBHOOK_SHARED_SECRET_HEADER: z
    .string()
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a header name')
    .transform((name) => name.toLowerCase())
    .optional()
    .describe(
      'Name of that header, such as `api_key`. Both or neither of the two must be set. nginx passes a name with an underscore only with `underscores_in_headers on`.',
    ),
  WEBHOOK_SECRETS_FILE: filePath.describe(
    'File with `WEBHOOK_SECRETS`, one per line or as a comma list, instead of the variable. Read again when it changes; no restart is needed.',
  ),
  WEBHOOK_SECRETS_TOW_REQUEST_FILE: filePath.describe('The same for `WEBHOOK_SECRETS_TOW_REQUEST`.'),
  WEBHOOK_SECRETS_TOW_INVOICE_FILE: filePath.describe('The same for `WEBHOOK_SECRETS_TOW_INVOICE`.'),
  WEBHOOK_SHARED_SECRET_FILE: filePath.describe(
    'The same for `WEBHOOK_SHARED_SECRET`: one per line; a comma belongs to its secret.',
  ),
  WEBHOOK_UNVERIFIED: z
    .enum(['accept'])
    .optional()
    .describe(
      'With `NODE_ENV=production`, lets a receiver start although no secret verifies the webhooks of a path. See [operations/deployment.md](operations/deployment.md).',
    ),
  WEBHOOK_BODY_LIMIT_BYTES: wholeNumber(z.int().min(1).default(131_072)).describe(
    'Largest body of a webhook. A larger one gets 413.',
  ),
  WEBHOOK_SILENCE_INTERVALS: count(10).describe(
    'An alarm is raised when no webhook has arrived for so many times the interval that is usual at these hours of the day. 0 means never.',
  ),
  WEBHOOK_RATE_PER_MINUTE: count(0).describe('Webhooks per minute from one source. 0 means no limit.'),
};

const operatorApi = {
  BOOTSTRAP_API_KEY: z
    .string()
    .refine(isSendableKey, API_KEY_RULE)
    .optional()
    .describe('The first API key, with the role ops. At least 24 characters with `NODE_ENV=production`.'),
  BOOTSTRAP_API_KEY_FILE: filePath.describe('File with `BOOTSTRAP_API_KEY`, instead of the variable.'),
  CONSOLE_OPEN_PATHS: openPaths.describe(
    'Comma list of pages on the console port that need no key: `metrics` (`/metrics`), `docs` (`/docs` and `/openapi.json`).',
  ),
  LOOKUP_CACHE_MS: durationMs(10_000).describe(
    "Time for which the answer about a zone's capacity or a vehicle's ticket is reused.",
  ),
  OVERDUE_REQUESTED_MINUTES: minutes(45).describe(
    'Age after which a tow in the state requested is shown as overdue. 0 means never.',
  ),
  OVERDUE_STARTED_MINUTES: minutes(240).describe(
    'Age after which a tow in the state started is shown as overdue. 0 means never.',
  ),
  OVERDUE_REPORT_MINUTES: minutes(15).describe(
    'Age of an unsent report after which its tow is shown as overdue and an alarm begins; violations likewise. 0 means never.',
  ),
};

/** The conservation check takes a wait of more than 75 minutes for the work of a clock that jumped. */
const RETRY_MAX_MS = HOUR_MS;

const sending = {
  RETRY_BASE_MS: durationMs(1000, { min: 1, max: RETRY_MAX_MS }).describe(
    'First wait before a failed call is retried.',
  ),
  RETRY_CAP_MS: durationMs(300_000, { min: 1, max: RETRY_MAX_MS }).describe(
    'Longest backoff between two attempts, before up to 25 % of jitter. A wait that the service asks for may be longer, up to 1 h.',
  ),
  NOT_FOUND_RETRIES: count(3).describe('Retries after "Violation not found" or "Plate number not found".'),
  NOT_FOUND_RETRY_MS: durationMs(5000, { max: RETRY_MAX_MS }).describe('Wait before each of these retries.'),
  UNKNOWN_GRACE_MS: durationMs(15_000, { max: RETRY_MAX_MS }).describe(
    'Wait for proof of an unanswered invoice request before it counts as unproved, and of any call that creates something before it is retried after a 500 or 503. For unanswered violations see `VIOLATION_PROOF_HOURS`.',
  ),
  REPORT_GIVE_UP_AFTER_HOURS: hours(48).describe(
    'Time after which a report that keeps failing becomes a task. Time blocked by an open circuit does not count. 0 means after the first failure.',
  ),
  // Open question Q30: the rate limits of the service are not documented; these are our own.
  BUDGET_AUTH_PER_MINUTE: count(20).describe(
    'Token calls per minute, counted for all processes together. Calls wait for a permit. 0 means no limit.',
  ),
  BUDGET_SITE_PER_MINUTE: count(30).describe('The same for site capacity.'),
  BUDGET_VIOLATIONS_PER_MINUTE: count(20).describe('The same for violations.'),
  BUDGET_TICKETS_PER_MINUTE: count(40).describe('The same for ticket checks.'),
  BUDGET_TOW_PER_MINUTE: count(0).describe('The same for reports about tows.'),
  SERVICE_LIMIT_HEADERS: z
    .enum(['follow', 'ignore'])
    .default('follow')
    .describe(
      'What `X-RateLimit-Limit`, `-Remaining` and `-Reset` of the service do, also spelled `RateLimit-…` or `X-Rate-Limit-…`: `follow` keeps to a limit below ours for 10 minutes, and waits for the reset when no call is left; `ignore` does neither. A 429 always counts.',
    ),
};

const tows = {
  // Open question Q11: only one vehicle type is documented; others can be allowed here.
  VEHICLE_TYPES: names('HEAVY').describe(
    'Comma list of the values of `vehicle_type` that an invoice request may have.',
  ),
  // Open question Q12: only one payment status is documented; others can be allowed here.
  PAYMENT_STATUSES: names('PAID').describe('Comma list of the values of `payment_status` that may be reported.'),
  FREE_DAYS: count(0).describe('Days in the yard that do not count as delay.'),
  RELEASE_REQUIRES_PAYMENT: z
    .enum(['invoiced', 'always', 'never'])
    .default('invoiced')
    .describe(
      'Whether a release needs a recorded payment; `invoiced`: only if the tow has an invoice. Never if its invoice request was waived.',
    ),
};

const violations = {
  // Open question Q23: which way to create a violation is current is not documented; the reference form is our default.
  VIOLATION_API: z
    .enum(['reference', 'guide'])
    .default('reference')
    .describe(
      'Operation that creates violations: `reference` is `/v1/violations/public`; `guide` is `/violation/public/create`, without images and metadata.',
    ),
  // The conservation check takes a wait of more than 40 days for the fault of a clock.
  VIOLATION_PROOF_HOURS: decimalNumber(z.number().min(0).max(720).default(1)).describe(
    'Time in which a tow request may prove that a violation without an answer was created. Then a person decides.',
  ),
  // Open question Q33: "10MB" may be 10,000,000 or 10 x 2^20 bytes; the smaller limit keeps both.
  IMAGES_TOTAL_BYTES_MAX: wholeNumber(z.int().min(100_000).max(100_000_000).default(10_000_000)).describe(
    'Largest total size of the images of one violation, as the service accepts it, and of one upload of photos.',
  ),
  IMAGES_KEEP_ORIGINALS: flag('false').describe(
    'Send photos as they were taken. Otherwise the console scales photos down before the upload when all together are larger than `IMAGES_TOTAL_BYTES_MAX`.',
  ),
  VIOLATION_TICKET_CHECK: flag('false').describe(
    'Check for an active ticket before a violation `NO_TICKET` or `TICKET_ENDED` is sent. With a ticket it waits for a decision.',
  ),
};

const processes = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe(
      '`production` refuses the embedded Redis, weak secrets, and a receiver whose webhooks no secret verifies. See [operations/deployment.md](operations/deployment.md).',
    ),
  LOG_LEVEL: z
    .enum(['error', 'warn', 'info', 'http', 'verbose', 'debug', 'silly'])
    .default('info')
    .describe('Least important level that is logged.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress
    .optional()
    .describe(
      'Base address of a collector of OpenTelemetry; `/v1/traces` is appended. Absent: no traces. See [operations/tracing.md](operations/tracing.md).',
    ),
  OTEL_SERVICE_NAME: z.string().default('towhook').describe('Name under which the traces are kept.'),
  OTEL_TRACES_SAMPLER_ARG: decimalNumber(z.number().min(0).max(1).default(1)).describe(
    'Share of the tows and violations that are traced, from 0 to 1.',
  ),
  WORKER_CONCURRENCY: wholeNumber(z.int().min(1).max(1000).default(50)).describe(
    'Jobs of a queue that one worker process runs at a time; of violations, which carry photos, at most 2.',
  ),
  WORKER_STALLED_MS: durationMs(60_000, { min: 1000 }).describe(
    'Time after which a worker that completes no job while work waits is stalled: not ready, then ended.',
  ),
  STOP_DELAY_MS: durationMs(0).describe(
    'Time that a process works on after SIGTERM, while `/readyz` answers 503. Behind a load balancer: longer than it takes to notice.',
  ),
  STOP_GRACE_MS: durationMs(15_000).describe('Time that running requests and jobs have to end at a stop.'),
};

const retention = {
  KEEP_DELIVERIES_HOURS: hours(168).describe('Time that a processed delivery stays in Redis before it is archived.'),
  KEEP_TOWS_HOURS: hours(720).describe('The same for tows that are over.'),
  KEEP_VIOLATIONS_HOURS: hours(720).describe('The same for violations that are settled.'),
  KEEP_AUDIT_HOURS: hours(720).describe('The same for audit entries.'),
  SUBSCRIPTION_PRIVATE_ADDRESSES: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe(
      'Whether the receivers of subscriptions may have addresses of this machine, of private networks and of links, and `http://` ones.',
    ),
  SUBSCRIPTION_PROXY_URL: proxyAddress.optional().describe('HTTP proxy for subscriptions, like `SERVICE_PROXY_URL`.'),
  SUBSCRIPTION_PROXY_URL_FILE: filePath.describe('File with `SUBSCRIPTION_PROXY_URL`, instead of the variable.'),
  SUBSCRIPTION_GIVE_UP_HOURS: hours(72).describe(
    'After how long changes of a record that a receiver does not accept are left out, with a task; and a subscription is paused of which nothing is accepted. Less than `KEEP_CHANGES_HOURS`.',
  ),
  KEEP_CHANGES_HOURS: hours(168).describe(
    'Time that changes stay in the feed (GET /api/changes). A program that was away for longer reads everything again.',
  ),
};

const simulator = {
  SIMULATOR_ASSESS_AFTER_MS: durationMs(3000).describe(
    'Time after which the simulator requests a tow for a reported violation whose type can be towed.',
  ),
  SIMULATOR_PROFILE: z
    .string()
    .min(1)
    .default('document')
    .describe(
      'How the simulated service differs from its document: `document`, `odd`, or a JSON file. See [Simulator](simulator.md).',
    ),
  SIMULATOR_WEBHOOK_URL: z
    .string()
    .refine((text) => httpAddress.safeParse(text).success, 'must be an http(s) address')
    .optional()
    .describe('Address that the simulator posts webhooks to. The receiver on this machine if absent.'),
};

export const VARIABLES = z.object({
  ...service,
  ...storage,
  ...listeners,
  ...webhooks,
  ...operatorApi,
  ...SIGN_IN_VARIABLES,
  ...NOTIFICATION_VARIABLES,
  ...sending,
  ...tows,
  ...violations,
  ...processes,
  ...retention,
  ...simulator,
});

const commandLine = {
  TOWHOOK_URL: httpAddress.describe('Address of the console. That of this machine if absent.'),
  TOWHOOK_API_KEY: z
    .string()
    .optional()
    .describe('API key of the command line, which is never an argument. `BOOTSTRAP_API_KEY` if absent.'),
  TOWHOOK_API_KEY_FILE: filePath.describe('File with `TOWHOOK_API_KEY`, instead of the variable.'),
  NO_COLOR: z.string().optional().describe('Any value turns colours off.'),
};

/** Variables that only the `towhook` command line reads, and those that name the console of this machine. */
export const COMMAND_LINE_VARIABLES = z.object({
  ...commandLine,
  ...VARIABLES.pick({
    CONSOLE_PORT: true,
    CONSOLE_HOST: true,
    HOST: true,
    BOOTSTRAP_API_KEY_FILE: true,
  }).shape,
  // The command line checks the key that it uses, which may be the other one.
  BOOTSTRAP_API_KEY: z.string().optional(),
});

/** The sections of docs/configuration.md. */
export const VARIABLE_GROUPS: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  'The service': service,
  'Redis and files': storage,
  Listeners: listeners,
  Webhooks: webhooks,
  'Console and operator API': operatorApi,
  'Sign-in of people': SIGN_IN_VARIABLES,
  Notifications: NOTIFICATION_VARIABLES,
  'Sending and retries': sending,
  Tows: tows,
  Violations: violations,
  Processes: processes,
  Retention: retention,
  Simulator: simulator,
  'Command line': commandLine,
};
