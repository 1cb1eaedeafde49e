/** What a folder may import, and what the reader is told when it imports something else. */
export interface Room {
  /** Other folders; a folder may always import itself. */
  readonly folders: readonly string[];
  /** npm packages and node's own modules; `node:*` is all of these, `@scope/*` every package of a scope. */
  readonly libraries: readonly string[];
  /** Packages that may be imported for their types alone. */
  readonly typesOf?: readonly string[];
  readonly why: string;
}

const GROUND = ['domain', 'contracts', 'platform'];
const BELOW_FLOOR_4 = [...GROUND, 'workflow', 'jobs'];

/**
 * The floors of the house. Imports point down; folders of one floor never import each other, so that each can be read,
 * tested and replaced without the others.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  domain: {
    folders: [],
    libraries: [],
    why: 'the rules of towing are pure: no library, no clock, nothing to install to test them',
  },
  contracts: {
    folders: ['domain'],
    libraries: ['zod'],
    why: 'contracts say what goes over a wire, not how it is sent or stored',
  },
  platform: {
    folders: ['domain'],
    libraries: ['zod', 'winston', 'prom-client', 'express-rate-limit', 'node:*'],
    why: 'the platform serves every part and knows none; main hands it what it needs of them',
  },
  workflow: {
    folders: GROUND,
    libraries: ['node:crypto'],
    typesOf: ['node:http'],
    why: 'use cases reach the world only through their ports',
  },
  jobs: {
    folders: [...GROUND, 'workflow'],
    libraries: [],
    why: 'a job is a function from a payload to an outcome and knows no queue',
  },
  service: {
    folders: BELOW_FLOOR_4,
    libraries: ['axios', 'form-data', 'node:*'],
    typesOf: ['zod'],
    why: 'the client of the parking service knows neither store nor queue',
  },
  store: {
    folders: BELOW_FLOOR_4,
    libraries: ['ioredis', 'node:*'],
    why: 'the store keeps records; who is woken and who is called is not its business',
  },
  queue: {
    folders: BELOW_FLOOR_4,
    libraries: ['bullmq', 'ioredis', 'node:*'],
    why: 'the queue is the only translator between BullMQ and the outcomes of jobs',
  },
  receiver: {
    folders: BELOW_FLOOR_4,
    libraries: ['express', 'express-rate-limit', 'helmet', 'node:*'],
    why: 'the receiver takes webhooks in; main gives it a place to put them',
  },
  operator: {
    folders: BELOW_FLOOR_4,
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
    folders: BELOW_FLOOR_4,
    libraries: ['express', 'helmet', 'compression', 'cookie', 'hono', '@github/hotkey', 'node:*'],
    typesOf: ['zod'],
    why: 'the console shows and asks; what changes anything is the operator API, which main hands it',
  },
  simulator: {
    folders: ['contracts', 'platform'],
    libraries: ['express', 'standardwebhooks', 'busboy', 'zod', 'node:*'],
    why: 'the simulator is the other side of the wire: sharing rules with what it tests, it would share the mistakes',
  },
  spool: {
    folders: BELOW_FLOOR_4,
    libraries: ['image-size', 'node:*'],
    why: 'the spool is files and nothing else; who uploads them and who sends them is not its business',
  },
  client: {
    folders: ['domain', 'contracts'],
    libraries: ['openapi-fetch'],
    why: 'the client is what any dispatch software could have: the API over HTTP, and nothing of our inside',
  },
  cli: {
    folders: [...GROUND, 'client'],
    libraries: ['commander', 'cli-progress', 'node:*'],
    typesOf: ['zod'],
    why: 'the command line is a user of the API like any other; what looks inside is handed to it by main',
  },
  archive: {
    folders: BELOW_FLOOR_4,
    libraries: ['node:*'],
    why: 'the archive is files and nothing else: it is read where no Redis runs',
  },
  main: {
    folders: [
      ...BELOW_FLOOR_4,
      'archive',
      'service',
      'store',
      'queue',
      'receiver',
      'operator',
      'console',
      'simulator',
      'spool',
      'client',
      'cli',
    ],
    libraries: ['json-schema-to-typescript', 'prettier', 'node:*'],
    why: 'main puts the parts together and leaves every library to the part that owns it',
  },
};
