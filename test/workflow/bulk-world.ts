import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES } from '../../src/contracts/operator-routes';
import { auditLineOf } from '../../src/domain/audit-line';
import type { Actor } from '../../src/domain/audit';
import type { Role } from '../../src/domain/vocabulary';
import { auditEntry, auditTexts } from '../../src/contracts/audit';
import { openFoundation, type Foundation } from '../../src/main/foundation';
import type { Operator } from '../../src/operator';
import { openBulk, openBulkTools } from '../../src/main/bulk';
import { openOperator, openSignIn } from '../../src/main/console';
import type { BulkState } from '../../src/contracts/bulk';
import { bulkJob } from '../../src/contracts/jobs';
import { loadConfig } from '../../src/platform/config';
import { silentLog } from '../../src/platform/log';
import { createApiKeyStore } from '../../src/store/api-keys';
import { createBulkStore } from '../../src/store/bulk';
import { KEYS } from '../../src/store/keys';
import { createTowStore } from '../../src/store/tows';
import type { Bulk } from '../../src/workflow/bulk';
import { decideTasks, type DecideTasksTools } from '../../jobs/decide-tasks';
import type { BulkRunWithItems } from '../../src/workflow/bulk-port';
import type { OperatorApi } from '../../src/workflow/operator-port';
import { auditEntryOf } from '../support/audit';
import { eventually } from '../support/eventually';
import { LOST_AFTER_MS, startBulkWorker } from '../support/bulk-runs';
import { useOwnRedis, type OwnRedis } from '../support/redis';
import { answerHead, deliver, newTow, WHEREABOUTS } from '../operator/world';
import { noSession } from '../operator/in-process';

/**
 * Bulk runs over the real queue and the real operator API, on a real Redis. Workers run only where a test starts them, and
 * they carry out bulk runs alone: nothing else changes but what the test changes.
 */
export interface BulkWorld {
  readonly redis: OwnRedis;
  readonly foundation: Foundation;
  readonly api: OperatorApi;
  /**
   * What a worker carries out bulk runs with, for tests that replace a part. A worker that records nothing for
   * `lostAfterMs` is replaced.
   */
  parts(lostAfterMs?: number): DecideTasksTools;
  /** Bulk decisions as a console process offers them. */
  console(): Bulk;
  /** Starts a worker; it is stopped after the test, unless the test does. */
  worker(also?: Partial<DecideTasksTools>, lostAfterMs?: number): { stop(): Promise<void> };
}

export function useBulkWorld(): BulkWorld {
  let foundation: Foundation;
  let operator: Operator;
  let parts: DecideTasksTools;
  let folder: string;
  const workers: { stop(): Promise<void> }[] = [];
  // Hooks run in the order they are declared: the process ends before its Redis server does.
  afterAll(async () => {
    operator.close();
    await foundation.resources.closeAll();
    await rm(folder, { recursive: true, force: true });
  });
  const redis = useOwnRedis();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towhook-bulk-'));
    const config = loadConfig({
      REDIS_URL: redis.url,
      DATA_DIR: folder,
      SERVICE_BASE_URL: 'http://127.0.0.1:1/parking/api',
      SERVICE_CLIENT_ID: 'client-of-the-tests',
      SERVICE_CLIENT_SECRET: 'secret-of-the-tests',
    });
    // With deduplication, the job of a dead worker blocks the next one until BullMQ finds it stalled.
    foundation = await openFoundation({ config, log: silentLog });
    operator = openOperator(foundation, { signIn: openSignIn(foundation), sessionActor: noSession });
    parts = openBulkTools(foundation);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });
  return {
    redis,
    get foundation() {
      return foundation;
    },
    get api() {
      return operator.api;
    },
    parts: (lostAfterMs = LOST_AFTER_MS) => ({
      ...parts,
      store: createBulkStore(foundation.redis, { takeOverMs: lostAfterMs }),
    }),
    console: () => openBulk(foundation),
    worker(also = {}, lostAfterMs = LOST_AFTER_MS) {
      const tools = { ...this.parts(lostAfterMs), ...also };
      const work = async (payload: unknown) => decideTasks(bulkJob.parse(payload), tools);
      const worker = startBulkWorker(foundation, work, lostAfterMs);
      workers.push(worker);
      return worker;
    },
  };
}

let keysMade = 0;

/** A person with an API key of this role. */
export async function person({ foundation }: Pick<BulkWorld, 'foundation'>, role: Role): Promise<Actor> {
  keysMade += 1;
  const id = `key-${keysMade}`;
  const keyHash = createHash('sha256').update(`the text of ${id}`).digest('hex');
  const key = { id, name: `${role} ${keysMade}`, role, createdAt: '2026-03-10T12:00:00.000Z' };
  const act = { audit: auditEntryOf('key.created'), idempotency: undefined, answer: {} };
  await createApiKeyStore(foundation.redis).create(key, keyHash, act);
  return { id, name: key.name, role };
}

const tester: Actor = { id: 'k1', name: 'tester', role: 'ops' };

/** A tow whose started report the service has refused; returns the id of the task. */
export async function refusedReport(world: BulkWorld): Promise<string> {
  const ref = await newTow(world);
  const call = { actor: tester, params: { towing_reference_id: ref }, body: WHEREABOUTS };
  const answer = await world.api.call(ROUTES.started, call);
  if (!answer.ok) throw new Error(answer.refusal.message);
  return `${await answerHead(world, ref, 'refused')}.${ref}`;
}

/** A number of such tasks, oldest first. */
export async function refusedReports(world: BulkWorld, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await refusedReport(world));
  return ids;
}

/** A task that only informs; returns its id. */
export async function informing(world: BulkWorld): Promise<string> {
  const ref = await newTow(world);
  await deliver(world, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
  return `rival_request.${ref}`;
}

/** The towing reference in the id of a task of a tow. */
export function refOf(taskId: string): string {
  return taskId.slice(taskId.indexOf('.') + 1);
}

export async function reportState({ foundation }: BulkWorld, taskId: string): Promise<string | undefined> {
  return (await createTowStore(foundation.redis).read(refOf(taskId)))?.reports[0]?.state;
}

export async function openTasks({ foundation }: BulkWorld): Promise<string[]> {
  return (await foundation.redis.zrange(KEYS.openTasks, '0', '-1')).toSorted();
}

/** Everything in the audit, oldest first. */
export async function auditOfAll({ foundation }: BulkWorld) {
  const lines = await foundation.redis.lrange(KEYS.audit, 0, -1);
  return lines.map((stored) => {
    const line = auditLineOf(stored);
    return {
      ...auditEntry.parse(JSON.parse(line?.json ?? '')),
      ...auditTexts.parse(JSON.parse(line?.texts ?? '')),
    };
  });
}

/** How often each of these tasks was decided, by the audit. */
export async function timesDecided(world: BulkWorld, taskIds: readonly string[], action: string): Promise<number[]> {
  const entries = await auditOfAll(world);
  return taskIds.map(
    (taskId) =>
      entries.filter((entry) => entry.action === action && entry.on.towing_reference_id === refOf(taskId)).length,
  );
}

/** Creates a preview; fails the test when it is refused. */
export async function previewed(bulk: Bulk, asked: unknown, actor: Actor): Promise<BulkRunWithItems> {
  const preview = await bulk.preview(asked, actor);
  if (!preview.ok) throw new Error(`${preview.refusal.code}: ${preview.refusal.message}`);
  return preview.run;
}

/** The code of what was refused; 'ok' when it was not. */
export async function codeOf(
  asking: Promise<{ readonly ok: true } | { readonly ok: false; readonly refusal: { readonly code: string } }>,
): Promise<string> {
  const answer = await asking;
  return answer.ok ? 'ok' : answer.refusal.code;
}

/** The run once it is in this state. */
export function runIn(bulk: Bulk, id: string, state: BulkState): Promise<BulkRunWithItems> {
  return eventually(async () => {
    const run = await bulk.read(id);
    if (run?.state !== state) throw new Error(`the run is ${run?.state}`);
    return run;
  });
}

export function outcomes(run: BulkRunWithItems): string[] {
  return run.items.map(({ outcome }) => outcome);
}
