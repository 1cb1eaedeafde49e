import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES } from '../../src/contracts/operator-routes';
import { auditLineOf } from '../../src/domain/ops/audit-chain';
import type { Actor } from '../../src/domain/ops/audit';
import type { Role } from '../../src/domain/vocabulary';
import { auditEntry, auditTexts } from '../../src/contracts/ops/audit';
import { openFoundation, type Foundation } from '../../src/main/foundation';
import type { Operator } from '../../src/operator';
import { openRunHandlerTools } from '../../src/main/handlers';
import { openOperator, openSignIn } from '../../src/main/console';
import { runJob } from '../../src/contracts/ops/jobs';
import { runPreviewBody, type RunItemView, type RunState, type RunView } from '../../src/contracts/ops/runs';
import { loadConfig } from '../../src/platform/config/config';
import { silentLog } from '../../src/platform/log/log';
import { createApiKeyStore } from '../../src/store/person/api-keys';
import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { KEYS } from '../../src/store/keys';
import { createRunStore } from '../../src/store/ops/runs';
import { createTaskStore } from '../../src/store/ops/tasks';
import { createDifferenceStore } from '../../src/store/service/differences';
import { createDeliveryStore } from '../../src/store/webhook/deliveries';
import { createTowStore } from '../../src/store/tow/tows';
import { abortRun, previewRun, runViewOf, startRun, type RunTools } from '../../src/workflow/run/runs';
import type { ActionResult } from '../../src/workflow/action-result';
import { carryOutRun, type CarryOutRunTools } from '../../jobs/carry-out-run';
import type { OperatorApi } from '../../src/workflow/operator-port';
import { auditEntryOf } from '../support/audit';
import { eventually } from '../support/eventually';
import { LOST_AFTER_MS, startRunWorker } from '../support/run-worker';
import { useOwnRedis, type OwnRedis } from '../support/redis';
import { answerHead, deliver, newTow, WHEREABOUTS } from '../operator/world';
import { noSession } from '../operator/in-process';

/**
 * Runs over the real queue and the real use cases, on a real Redis. Workers run only where a test starts them, and they
 * carry out runs alone: nothing else changes but what the test changes.
 */
export interface RunWorld {
  readonly redis: OwnRedis;
  readonly foundation: Foundation;
  readonly api: OperatorApi;
  /** What a worker carries out runs with, for tests that replace a part. */
  parts(): CarryOutRunTools;
  /** Runs as a console process offers them. */
  console(): Runs;
  /** Starts a worker; it is stopped after the test, unless the test does. */
  worker(also?: Partial<CarryOutRunTools>): { stop(): Promise<void> };
}

/** A run with all its items. */
export type RunWithItems = RunView & { readonly items: readonly RunItemView[] };

export type Runs = ReturnType<typeof runsOf>;

/** What the operator API previews, starts and shows runs with. */
export function openRuns({ clock, redis }: Pick<Foundation, 'clock' | 'redis'>): RunTools {
  return {
    runs: createRunStore(redis),
    tasks: createTaskStore(redis),
    deliveries: createDeliveryStore(redis),
    differences: createDifferenceStore(redis),
    readers: WEBHOOK_READERS,
    clock,
  };
}

/** Runs as the API of one process offers them, without a key. */
export function runsOf(foundation: Pick<Foundation, 'clock' | 'redis'>) {
  const tools = openRuns(foundation);
  const idempotency = undefined;
  const itemsOf = async (id: string): Promise<readonly RunItemView[]> => {
    const found: RunItemView[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await tools.runs.items(id, { outcome: null, cursor, limit: 200 });
      found.push(...(page?.items ?? []));
      cursor = page?.nextCursor ?? null;
      if (cursor === null) return found;
    }
  };
  return {
    preview: (asked: unknown, actor: Actor): Promise<ActionResult<RunView>> =>
      previewRun(tools, { asked: runPreviewBody.parse(asked), actor, idempotency }),
    start: (id: string, actor: Actor) => startRun(tools, { id, actor, idempotency }),
    abort: (id: string, actor: Actor) => abortRun(tools, { id, actor, idempotency }),
    async read(id: string): Promise<RunWithItems | null> {
      const run = await tools.runs.read(id);
      return run && { ...runViewOf(run), items: await itemsOf(id) };
    },
    recent: async () => (await tools.runs.recent(10)).map(runViewOf),
  };
}

export function useRunWorld(): RunWorld {
  let foundation: Foundation;
  let operator: Operator;
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
    folder = await mkdtemp(join(tmpdir(), 'towhook-run-'));
    const config = loadConfig({
      REDIS_URL: redis.url,
      DATA_DIR: folder,
      SERVICE_BASE_URL: 'http://127.0.0.1:1/parking/api',
      SERVICE_CLIENT_ID: 'client-of-the-tests',
      SERVICE_CLIENT_SECRET: 'secret-of-the-tests',
    });
    foundation = await openFoundation({ config, log: silentLog });
    operator = openOperator(foundation, { signIn: openSignIn(foundation), sessionActor: noSession });
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
    parts: () => openRunHandlerTools(foundation),
    console: () => runsOf(foundation),
    worker(also = {}) {
      const tools = { ...this.parts(), ...also };
      const work = async (payload: unknown) => carryOutRun(runJob.parse(payload), tools);
      const worker = startRunWorker(foundation, work, LOST_AFTER_MS);
      workers.push(worker);
      return worker;
    },
  };
}

let keysMade = 0;

/** A person with an API key of this role. */
export async function person({ foundation }: Pick<RunWorld, 'foundation'>, role: Role): Promise<Actor> {
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
export async function refusedReport(world: RunWorld): Promise<string> {
  const ref = await newTow(world);
  const call = { actor: tester, params: { towing_reference_id: ref }, body: WHEREABOUTS };
  const answer = await world.api.call(ROUTES.started, call);
  if (!answer.ok) throw new Error(answer.refusal.message);
  return `${await answerHead(world, ref, 'refused')}.${ref}`;
}

/** A number of such tasks, oldest first. */
export async function refusedReports(world: RunWorld, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await refusedReport(world));
  return ids;
}

/** A task that only informs; returns its id. */
export async function informing(world: RunWorld): Promise<string> {
  const ref = await newTow(world);
  await deliver(world, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
  return `rival_request.${ref}`;
}

/** The towing reference in the id of a task of a tow. */
export function refOf(taskId: string): string {
  return taskId.slice(taskId.indexOf('.') + 1);
}

export async function reportState({ foundation }: RunWorld, taskId: string): Promise<string | undefined> {
  return (await createTowStore(foundation.redis).read(refOf(taskId)))?.entries[0]?.state;
}

export async function openTasks({ foundation }: RunWorld): Promise<string[]> {
  return (await foundation.redis.zrange(KEYS.openTasks, '0', '-1')).toSorted();
}

/** Everything in the audit, oldest first. */
export async function auditOfAll({ foundation }: RunWorld) {
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
export async function timesDecided(world: RunWorld, taskIds: readonly string[], action: string): Promise<number[]> {
  const entries = await auditOfAll(world);
  return taskIds.map(
    (taskId) =>
      entries.filter((entry) => entry.action === action && entry.on.towing_reference_id === refOf(taskId)).length,
  );
}

/** Creates a preview; fails the test when it is refused. */
export async function previewed(runs: Runs, asked: unknown, actor: Actor): Promise<RunWithItems> {
  const preview = await runs.preview(asked, actor);
  if (preview.kind !== 'done') throw new Error(preview.kind === 'refused' ? preview.refusal.code : preview.kind);
  const run = await runs.read(preview.value.id);
  if (!run) throw new Error('the run is gone');
  return run;
}

/** The code of what was refused; 'done' when it was not. */
export async function codeOf(asking: Promise<ActionResult<unknown>>): Promise<string> {
  const answer = await asking;
  return answer.kind === 'refused' ? answer.refusal.code : answer.kind;
}

/** The run once it is in this state. */
export function runIn(runs: Runs, id: string, state: RunState): Promise<RunWithItems> {
  return eventually(async () => {
    const run = await runs.read(id);
    if (run?.state !== state) throw new Error(`the run is ${run?.state}`);
    return run;
  });
}

export function outcomes(run: RunWithItems): string[] {
  return run.items.map(({ outcome }) => outcome);
}
