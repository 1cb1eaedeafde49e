/**
 * Every Redis key of towhook is built here. All carry one hash tag, so that partitions over Redis Cluster can come
 * later without a migration. BullMQ uses the tag as its prefix (`{p0}:deliveries:…`); our own names are singular or lead
 * with another word, so that throwing every queue away touches no record.
 */
export const PARTITION = '{p0}';

const key = (...parts: readonly string[]) => [PARTITION, ...parts].join(':');

export const KEYS = {
  dueTows: key('due', 'tows'),
  dueDeliveries: key('due', 'deliveries'),
  indexTows: key('index', 'tows'),
  indexDeliveries: key('index', 'deliveries'),
  attention: key('index', 'attention'),
  search: key('index', 'search'),
  tasks: key('tasks'),
  openTasks: key('index', 'tasks'),
  connection: key('connection'),
  held: key('held'),
  /** Publish/subscribe channel of everything that changes. */
  events: key('events'),
  quarantine: key('quarantine'),
  token: key('token'),
  tokenLock: key('token-lock'),
  apiKeys: key('api-keys'),
  apiKeyHashes: key('api-key-hashes'),
} as const;

export const towKey = (ref: string) => key('tow', ref);
export const towTasksKey = (ref: string) => key('tow-tasks', ref);
export const towsInStateKey = (state: string) => `${KEYS.indexTows}:${state}`;
export const deliveryKey = (id: string) => key('delivery', id);
export const idempotencyKey = (scope: string) => key('idempotency', scope);

/** The KEYS of every script about one tow, in the order that lua/shared/tow.lua gives them names. */
export function towKeys(ref: string, also: { deliveryId?: string; idempotencyScope?: string } = {}): string[] {
  return [
    towKey(ref),
    key('tow-reports', ref),
    key('tow-timeline', ref),
    towTasksKey(ref),
    key('tow-parked', ref),
    key('tow-proof', ref),
    KEYS.dueTows,
    KEYS.dueDeliveries,
    KEYS.indexTows,
    KEYS.attention,
    KEYS.search,
    KEYS.tasks,
    KEYS.openTasks,
    KEYS.connection,
    KEYS.held,
    KEYS.events,
    idempotencyKey(also.idempotencyScope ?? ''),
    deliveryKey(also.deliveryId ?? ''),
  ];
}
