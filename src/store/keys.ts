/**
 * Every Redis key of towhook is built here. All carry one hash tag, so that partitions over Redis Cluster can come
 * later without a migration. BullMQ uses the tag as its prefix (`{p0}:deliveries:…`); our own names are singular or lead
 * with another word, so that throwing every queue away touches no record.
 */
export const PARTITION = '{p0}';

const key = (...parts: readonly string[]) => [PARTITION, ...parts].join(':');

export const KEYS = {
  /** The version of the schema of everything below (schema.ts). */
  schemaVersion: key('schema-version'),
  dueTows: key('due', 'tows'),
  dueDeliveries: key('due', 'deliveries'),
  dueViolations: key('due', 'violations'),
  dueBulk: key('due', 'bulk'),
  indexTows: key('index', 'tows'),
  indexDeliveries: key('index', 'deliveries'),
  attention: key('index', 'attention'),
  search: key('index', 'search'),
  indexViolations: key('index', 'violations'),
  searchViolations: key('index', 'violation-search'),
  /** Violations by the id in their metadata and by our own id; by the service's names of them. */
  violationAliases: key('violation-aliases'),
  violationReferences: key('violation-references'),
  tasks: key('tasks'),
  openTasks: key('index', 'tasks'),
  /** The circuit breakers, one versioned record; and those that closed and have members to release. */
  circuits: key('circuits'),
  releasing: key('circuits', 'releasing'),
  /** Tows that wait for a permit of their rate limit, in the order they will be served. */
  slotWaiting: key('budget-waiting'),
  /** Violations that wait for a permit of theirs, first come first served. */
  violationSlotWaiting: key('budget-waiting', 'violations'),
  /** The progress of the conservation check, and its last complete scan (conservation.ts). */
  walk: key('walk'),
  lastWalk: key('last-walk'),
  /** The hash-chained record of what people did (lua/commit.lua). */
  audit: key('audit'),
  retireTows: key('retire', 'tows'),
  retireDeliveries: key('retire', 'deliveries'),
  retireViolations: key('retire', 'violations'),
  /** Tows that were archived and are remembered, by the moment they left. */
  tombstones: key('tombstones'),
  /** Publish/subscribe channel that tells pollers which queue has something due now. */
  nudges: key('nudges'),
  /** Publish/subscribe channel of everything that changes. */
  events: key('events'),
  /** Never there: a write to it shows whether Redis takes writes. */
  writeProbe: key('write-probe'),
  quarantine: key('quarantine'),
  /** The id of the disk that console and workers share (spool-marker.ts). */
  spoolMarker: key('spool-marker'),
  /** When the disk was claimed although it was in use before, Unix ms: its records are missing (spool-marker.ts). */
  spoolAlarm: key('spool-alarm'),
  /** The processes that live, and when each was last heard of (lua/beat.lua). */
  processes: key('processes'),
  processBeats: key('process-beats'),
  /** With the number of a minute behind: the figures of all processes in it; and the right to look at the backlog. */
  figures: key('figures'),
  figuresSampling: key('figures-sampling'),
  token: key('token'),
  tokenLock: key('token-lock'),
  apiKeys: key('api-keys'),
  apiKeyHashes: key('api-key-hashes'),
  /** API key ids by name: of the keys that live, no two have the same. */
  apiKeyNames: key('api-key-names'),
  /** Decisions on many tasks at once, by the moment they were previewed. */
  bulkRuns: key('index', 'bulk'),
} as const;

export const towKey = (ref: string) => key('tow', ref);
export const towsInStateKey = (state: string) => `${KEYS.indexTows}:${state}`;
/** What else lists find tows by (indexes.ts): since when they are in a state, what they owe, their crew. */
export const towsSinceKey = (state: string) => `${KEYS.indexTows}:since:${state}`;
export const unsentTowsKey = `${KEYS.indexTows}:unsent`;
/** The crew '' means that no crew is assigned. */
export const towsOfCrewKey = (crew: string) => `${KEYS.indexTows}:crew:${crew.toWellFormed()}`;
export const crewsKey = `${KEYS.indexTows}:crews`;
/** Open tasks by what they ask, `<type>` or `<type>.<kind>`, and the names of these groups (task-groups.ts). */
export const taskGroupKey = (group: string) => `${KEYS.openTasks}:group:${group}`;
export const taskGroupsKey = `${KEYS.openTasks}:groups`;
export const violationKey = (id: string) => key('violation', id);
export const violationsInStateKey = (state: string) => `${KEYS.indexViolations}:${state}`;
export const deliveryKey = (id: string) => key('delivery', id);
export const idempotencyKey = (scope: string) => key('idempotency', scope);
/** A person who has signed in, by the hash of the cookie (sessions.ts). */
export const sessionKey = (idHash: string) => key('session', idHash);
/** The sessions that began with one API key, by its id, in the order they began. */
export const signInsKey = (holderId: string) => key('sign-ins', holderId);
/** The last wrong API keys of one source (lua/count-wrong-key.lua). */
export const wrongKeysKey = (source: string) => key('wrong-keys', source);
/** A lock that one process holds at a time, and the fencing number of its last holder (locks.ts). */
export const lockKey = (name: string) => key('lock', name);
export const lockEpochKey = (name: string) => key('lock-epoch', name);
/** The records that an open circuit blocks, and those of them whose head is safe to repeat. */
export const blockedKey = (circuit: string) => key('blocked', circuit);
export const probesKey = (circuit: string) => key('probes', circuit);
/** The log of granted permits of one rate limit (lua/shared/budget.lua). */
export const budgetKey = (name: string) => key('budget', name);
/** A bulk run and its tasks; both expire (bulk.ts). Not `bulk:<id>`: the keys of the queue `bulk` begin so. */
export const bulkRunKey = (id: string) => key('bulk-run', id);
export const bulkItemsKey = (id: string) => key('bulk-items', id);
/** What the service answered to a question, by the hash of the question, and the right to ask it (lookups.ts). */
export const lookupKey = (hash: string) => key('lookup', hash);
export const lookupLockKey = (hash: string) => key('lookup-lock', hash);
