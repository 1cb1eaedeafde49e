/** What a folder may import, and the reason shown when it imports something else. */
export interface LayerRule {
  /** Other folders; a folder may always import itself. */
  readonly folders: readonly string[];
  /** npm packages and node's own modules; `node:*` is all of these, `@scope/*` every package of a scope. */
  readonly libraries: readonly string[];
  /** Packages that may be imported for their types alone. */
  readonly typesOf?: readonly string[];
  readonly why: string;
}

const GROUND = ['domain', 'contracts', 'platform'];
const BELOW_LAYER_4 = [...GROUND, 'workflow', 'jobs'];

/**
 * The layers. Imports point down; folders of one layer never import each other, so that each can be read,
 * tested and replaced without the others.
 */
export const LAYERS: Readonly<Record<string, LayerRule>> = {
  domain: {
    folders: [],
    libraries: ['zod'],
    why: 'the rules of towing are pure: no clock, no library but the one that describes the shapes of records',
  },
  contracts: {
    folders: ['domain'],
    libraries: ['zod'],
    why: 'contracts describe what goes over a wire, not how it is sent or stored',
  },
  platform: {
    folders: ['domain'],
    libraries: ['zod', 'winston', 'prom-client', 'express-rate-limit', 'leven', '@opentelemetry/*', 'node:*'],
    why: 'the platform serves every part and knows none; main hands it what it needs of them',
  },
  workflow: {
    folders: GROUND,
    libraries: ['node:crypto'],
    typesOf: ['node:http', 'node:stream'],
    why: 'use cases reach the world only through their ports',
  },
  jobs: {
    folders: [...GROUND, 'workflow'],
    libraries: [],
    why: 'a job is a function from a payload to an outcome and knows no queue',
  },
  service: {
    folders: BELOW_LAYER_4,
    libraries: ['axios', 'form-data', 'https-proxy-agent', 'node:*'],
    typesOf: ['zod'],
    why: 'the client of the parking service knows neither store nor queue',
  },
  store: {
    folders: BELOW_LAYER_4,
    libraries: ['ioredis', 'rate-limiter-flexible', 'node:*'],
    why: 'the store keeps records; who is woken and who is called is not its business',
  },
  queue: {
    folders: BELOW_LAYER_4,
    libraries: ['bullmq', 'ioredis', 'node:*'],
    why: 'the queue is the only translator between BullMQ and the outcomes of jobs',
  },
  receiver: {
    folders: BELOW_LAYER_4,
    libraries: ['express', 'express-rate-limit', 'helmet', 'node:*'],
    why: 'the receiver takes webhooks in; main gives it a place to put them',
  },
  operator: {
    folders: BELOW_LAYER_4,
    libraries: [
      'express',
      'helmet',
      'express-rate-limit',
      'busboy',
      'swagger-ui-dist',
      '@bull-board/*',
      'zod',
      'node:*',
    ],
    typesOf: ['bullmq'],
    why: 'the operator API acts through the workflow; bull-board is handed its queues',
  },
  console: {
    folders: BELOW_LAYER_4,
    libraries: ['express', 'helmet', 'compression', 'cookie', 'hono', 'intl-messageformat', '@github/hotkey', 'node:*'],
    typesOf: ['zod'],
    why: 'the console shows and asks; what changes anything is the operator API, which main hands it',
  },
  simulator: {
    folders: ['contracts', 'platform'],
    libraries: ['express', 'standardwebhooks', 'busboy', 'zod', 'node:*'],
    why: 'the simulator is the other side of the wire: sharing rules with what it tests, it would share the mistakes',
  },
  oidc: {
    folders: BELOW_LAYER_4,
    libraries: ['openid-client', 'node:*'],
    why: 'the identity provider names a person; sessions, pages and roles are decided elsewhere',
  },
  notify: {
    folders: BELOW_LAYER_4,
    libraries: ['axios', 'https-proxy-agent', 'ipaddr.js', 'nodemailer', 'node:*'],
    why: 'delivering a notice needs its text and its address; which alarms hold is decided by the workflow',
  },
  spool: {
    folders: BELOW_LAYER_4,
    libraries: ['image-size', 'node:*'],
    why: 'the spool is files and nothing else; who uploads them and who sends them is not its business',
  },
  client: {
    folders: ['domain', 'contracts'],
    libraries: [],
    typesOf: ['zod'],
    why: 'the client is what any dispatch software could have: the API over HTTP, and nothing of our inside',
  },
  cli: {
    folders: [...GROUND, 'client'],
    libraries: ['commander', 'cli-progress', 'csv-parse', 'node:*'],
    typesOf: ['zod'],
    why: 'the command line is a user of the API like any other; what looks inside is handed to it by main',
  },
  archive: {
    folders: BELOW_LAYER_4,
    libraries: ['node:*'],
    why: 'the archive is files and nothing else: it is read where no Redis runs',
  },
  'embedded-redis': {
    folders: ['platform'],
    libraries: ['ioredis', 'node:*'],
    why: 'the embedded Redis is a server process and its files; what is stored in it belongs to the store',
  },
  commands: {
    folders: [...GROUND, 'workflow', 'archive', 'store', 'spool', 'embedded-redis', 'cli'],
    libraries: ['node:*'],
    why: 'a command reads the disk or Redis once and ends; it starts no role',
  },
  backup: {
    folders: [...GROUND, 'workflow', 'archive', 'store', 'queue', 'spool', 'cli', 'embedded-redis'],
    libraries: ['node:*'],
    why: 'a backup reads an installation from outside, and a restore writes it before any role runs',
  },
  doctor: {
    folders: [
      ...GROUND,
      'workflow',
      'service',
      'oidc',
      'store',
      'receiver',
      'console',
      'spool',
      'client',
      'cli',
      'embedded-redis',
    ],
    libraries: ['node:*'],
    why: 'the doctor examines an installation from outside; it starts no role',
  },
  demo: {
    folders: [...GROUND, 'client', 'simulator', 'main'],
    libraries: ['node:*'],
    why: 'the demo runs the roles and acts as a user of the API',
  },
  main: {
    folders: [
      ...BELOW_LAYER_4,
      'archive',
      'service',
      'store',
      'queue',
      'receiver',
      'operator',
      'console',
      'simulator',
      'notify',
      'oidc',
      'spool',
      'client',
      'cli',
      'commands',
      'backup',
      'doctor',
      'embedded-redis',
    ],
    libraries: ['node:*'],
    why: 'main puts the parts together and leaves every library to the part that owns it',
  },
};
