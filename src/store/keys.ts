import { INSTALLATION } from '../platform/config/installation';

/**
 * Builds every Redis key; docs/redis-data-model.md describes their content. All keys and channels of an
 * installation share one hash tag, and no other has it. BullMQ uses the tag as its prefix
 * (`{towhook-main}:deliveries:…`). No other key begins with the name of a queue, so deleting all queues deletes no record.
 */
export const PARTITION = `{towhook-${INSTALLATION}}`;

const key = (...parts: readonly string[]) => [PARTITION, ...parts].join(':');

export const KEYS = {
  /** The version of the stored data (schema.ts). */
  schemaVersion: key('schema-version'),
  /** Names the history that the data has had: new at the first start and after a restore (schema.ts). */
  epoch: key('epoch'),
  /** The place of the running migration, the complete ones, and which processes may use the data (schema.ts). */
  migrations: key('migrations'),
  dueTows: key('due', 'tows'),
  dueDeliveries: key('due', 'deliveries'),
  dueViolations: key('due', 'violations'),
  dueRuns: key('due', 'runs'),
  dueSubscriptions: key('due', 'subscriptions'),
  indexTows: key('index', 'tows'),
  indexDeliveries: key('index', 'deliveries'),
  attention: key('index', 'attention'),
  search: key('index', 'search'),
  indexViolations: key('index', 'violations'),
  searchViolations: key('index', 'violation-search'),
  /** Violation ids by their own id and the id in their metadata; and by their references at the service. */
  violationAliases: key('violation-aliases'),
  violationReferences: key('violation-references'),
  tasks: key('tasks'),
  openTasks: key('index', 'tasks'),
  /** Tows and violations that are withheld and wait for a decision, as members of circuits, by time. */
  withheld: key('index', 'withheld'),
  /**
   * One versioned record of all circuits, with the budget states in fields of their own; and the closed circuits and
   * decided differences with members to release.
   */
  circuits: key('circuits'),
  releasing: key('circuits', 'releasing'),
  /** The kinds of differences, by the time at which they were first seen (differences.ts). */
  differences: key('index', 'differences'),
  /** What all processes have seen of the service (seen-service.ts). */
  seenService: key('seen-service', 'counts'),
  /** Tows that wait for a rate limit permit, by rank. */
  permitQueueTows: key('budget-waiting'),
  /** Violations that wait for a rate limit permit, by rank. */
  permitQueueViolations: key('budget-waiting', 'violations'),
  /** The state of notifications (notification-record.ts). */
  notifications: key('notifications'),
  /** The progress of the running conservation scan, and the result of the last complete one (conservation.ts). */
  scan: key('check'),
  lastScan: key('last-check'),
  /** The hash-chained audit (lua/commit.lua). */
  audit: key('audit'),
  retireTows: key('retire', 'tows'),
  retireDeliveries: key('retire', 'deliveries'),
  retireViolations: key('retire', 'violations'),
  /** Markers of archived tows, by the time at which they were archived. */
  archivedMarkers: key('tombstones'),
  /** The stream of all changes, and the id of the last entry that retention removed from it (changes.ts). */
  changes: key('changes'),
  changesFloor: key('changes', 'floor'),
  /** Channel without listeners: its events mark a place in the stream to the replicas. */
  replicas: key('replicas'),
  /** Never exists: a write to it shows whether Redis takes writes. */
  writeProbe: key('write-probe'),
  /** Calls on paths of no webhook. */
  otherCalls: key('other-calls'),
  /** What receivers answered per path since the last accepted call; and the accepted calls by hour. */
  webhookAnswers: key('webhook-answers'),
  webhookHours: key('webhook-hours'),
  /** Groups of refused calls by their last call; and the prefix of their lists. */
  refusedGroups: key('refused-groups'),
  refusedCalls: key('refused-calls'),
  /** A fault of the files of webhook secrets. */
  webhookSecrets: key('webhook-secrets'),
  /** The id of the disk that consoles and workers share (spool-marker.ts). */
  spoolMarker: key('spool-marker'),
  /** Unix ms when a disk in use was claimed by a Redis without records (spool-marker.ts). */
  spoolAlarm: key('spool-alarm'),
  /** The live processes, and the time of their last heartbeats (lua/heartbeat.lua). */
  processes: key('processes'),
  heartbeats: key('process-beats'),
  /** `figures:<minute>`: the metrics of all processes in that minute. And the process that samples the backlog. */
  metrics: key('figures'),
  metricsSampling: key('figures-sampling'),
  /** When the last backup began, and when the last verified one was taken and verified (backup-record.ts). */
  backup: key('backup'),
  /** The data keys that the data needs, with check values (data-key-record.ts). */
  dataKeys: key('data-keys'),
  token: key('token'),
  tokenLock: key('token-lock'),
  apiKeys: key('api-keys'),
  apiKeyHashes: key('api-key-hashes'),
  /** API key ids by name. The names of existing keys are unique. */
  apiKeyNames: key('api-key-names'),
  /** Subscriptions, by the time of their creation (subscriptions.ts). */
  subscriptions: key('index', 'subscriptions'),
  /** Runs, by the time of their preview. */
  runs: key('index', 'runs'),
} as const;

export const towKey = (ref: string) => key('tow', ref);
export const towsInStateKey = (state: string) => `${KEYS.indexTows}:${state}`;
/** Further indexes of tows (indexes.ts): since when they are in a state that may be overdue, unsent reports, crew. */
export const towsSinceKey = (state: string) => `${KEYS.indexTows}:since:${state}`;
export const unsentTowsKey = `${KEYS.indexTows}:unsent`;
/** The crew '' means: no crew is assigned. */
export const towsOfCrewKey = (crew: string) => `${KEYS.indexTows}:crew:${crew.toWellFormed()}`;
export const crewsKey = `${KEYS.indexTows}:crews`;
/** Open tasks by group, `<type>` or `<type>.<kind>`, and the names of the groups (task-effects.ts). */
export const taskGroupKey = (group: string) => `${KEYS.openTasks}:group:${group}`;
export const taskGroupsKey = `${KEYS.openTasks}:groups`;
/** The newest refused calls of a group, `<reason> <hash of the source>` (webhook-answers.ts). */
export const refusedCallsKey = (group: string) => `${KEYS.refusedCalls}:${group}`;
export const violationKey = (id: string) => key('violation', id);
export const unsentViolationsKey = `${KEYS.indexViolations}:unsent`;
export const violationsInStateKey = (state: string) => `${KEYS.indexViolations}:${state}`;
/** The deliveries that differ, by kind of difference and time of receipt. */
export const differingDeliveriesKey = (differenceId: string) => `${KEYS.indexDeliveries}:differing:${differenceId}`;
export const deliveryKey = (id: string) => key('delivery', id);
export const idempotencyKey = (scope: string) => key('idempotency', scope);
/** A session, by the hash of its cookie (sessions.ts). */
export const sessionKey = (idHash: string) => key('session', idHash);
/** The sessions of one API key or person, by the id of that key or person. */
export const signInsKey = (holderId: string) => key('sign-ins', holderId);
/** The number of wrong API keys of one source, in a key with this prefix (source-limits.ts). */
export const WRONG_KEYS_PREFIX = key('wrong-keys');
/** The number of webhooks of one source, in a key with this prefix (source-limits.ts). */
export const CALLS_PREFIX = key('calls');
/** Sign-ins at the identity provider that a source has begun and not finished. */
export const SIGN_IN_STARTS_PREFIX = key('sign-in-starts');
/** Returns from the identity provider, by the sign-in that they finish. */
export const SIGN_IN_RETURNS_PREFIX = key('sign-in-returns');
/** A lock, and its last fencing number (locks.ts). */
export const lockKey = (name: string) => key('lock', name);
export const lockEpochKey = (name: string) => key('lock-epoch', name);
/** The records that an open circuit blocks, and those of them that may probe it: their next call is idempotent. */
export const blockedKey = (circuit: string) => key('blocked', circuit);
export const probesKey = (circuit: string) => key('probes', circuit);
/** A kind of difference (differences.ts). */
export const differenceKey = (id: string) => key('difference', id);
/** The granted permits of one rate limit (lua/shared/rate-limit.lua). */
export const budgetKey = (name: string) => key('budget', name);
/** The field of `circuits` with what the service says about one rate limit (contracts/service/stored-budgets.ts). */
export const budgetStateField = (name: string) => `limit:${name}`;
/** A run of one action on many items; it expires (runs.ts). */
export const runKey = (id: string) => key('run', id);
export const subscriptionKey = (id: string) => key('subscription', id);
/** The cached answer to a lookup, by the hash of the question, and its lock (lookups.ts). */
export const lookupKey = (hash: string) => key('lookup', hash);
export const lookupLockKey = (hash: string) => key('lookup-lock', hash);
