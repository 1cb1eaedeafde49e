import { QUEUE_NAMES } from '../../src/domain/vocabulary';
import { archiveFailingTask } from '../../src/domain/ops/tasks';
import { KEYS, PARTITION } from '../../src/store/keys';
import { openGeneralTask } from '../../src/store/ops/tasks';
import { eventually } from '../support/eventually';
import { startProcess } from '../support/process';
import { type RoleProcess } from '../support/role-process';
import { auditOfAll, codeOf, openTasks, person, previewed, useRunWorld } from '../workflow/run-world';

const ITEMS = 5000;

const world = useRunWorld();

async function startWorker(): Promise<RoleProcess> {
  const worker = await startProcess('worker', {
    REDIS_URL: world.redis.url,
    SERVICE_BASE_URL: 'http://127.0.0.1:1/parking/api',
    SERVICE_CLIENT_ID: 'client-of-the-tests',
    SERVICE_CLIENT_SECRET: 'secret-of-the-tests',
  });
  await worker.logged('worker.started');
  return worker;
}

/** Opens tasks that only inform, without tows; returns their ids. */
async function openMany(): Promise<string[]> {
  const ids = Array.from({ length: ITEMS }, (_, index) => `made-up-${index}`);
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50);
    await Promise.all(
      some.map((subject) =>
        openGeneralTask(world.foundation.redis, { ...archiveFailingTask('EIO'), subject, actions: ['resolve'] }),
      ),
    );
  }
  return ids;
}

/** Deletes everything that BullMQ keeps; returns how many keys that were. */
async function deleteQueues(): Promise<number> {
  const { redis } = world.foundation;
  const lists = await Promise.all(QUEUE_NAMES.map((name) => redis.keys(`${PARTITION}:${name}:*`)));
  return redis.del(...lists.flat());
}

/** How often each task was closed, by the audit. */
async function timesClosed(): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const { action, on } of await auditOfAll(world)) {
    if (action === 'task.resolved') times.set(on.task_id ?? '', (times.get(on.task_id ?? '') ?? 0) + 1);
  }
  return times;
}

test('a run of 5,000 items counts exactly what was done, none twice, though its worker is killed, all keys of BullMQ are deleted and it is aborted at half', async () => {
  const task_ids = await openMany();
  const who = await person(world, 'dispatcher');
  const runs = world.console();
  const { id } = await previewed(runs, { action: 'resolve', type: 'archive_failing', reason: 'proof' }, who);
  const countsOf = async () => (await runs.recent())[0]?.counts;

  const killed = await startWorker();
  expect(await codeOf(runs.start(id, who))).toBe('done');
  await eventually(async () => expect((await countsOf())?.done).toBeGreaterThan(200));
  killed.kill('SIGKILL');
  await killed.exited;
  const before = (await countsOf())?.done ?? 0;
  expect(before).toBeLessThan(ITEMS / 2);
  expect(await deleteQueues()).toBeGreaterThan(0);

  const second = await startWorker();
  await eventually(async () => expect((await countsOf())?.done).toBeGreaterThanOrEqual(ITEMS / 2));
  expect(await codeOf(runs.abort(id, who))).toBe('done');
  const aborted = await countsOf();
  second.kill('SIGTERM');
  await second.exited;

  const run = await runs.read(id);
  expect([run?.state, run?.counts]).toEqual(['aborted', aborted]);
  const done = run?.items.filter(({ outcome }) => outcome === 'done').map(({ id: taskId }) => taskId) ?? [];
  expect(done).toHaveLength(run?.counts.done ?? -1);
  expect(done.length).toBeLessThan(ITEMS);
  expect(run?.counts).toMatchObject({ waiting: 0, skipped: ITEMS - done.length });
  const times = await timesClosed();
  expect([...times.keys()].toSorted()).toEqual(done.toSorted());
  expect(new Set(times.values())).toEqual(new Set([1]));
  const closed = new Set(done);
  expect(await openTasks(world)).toEqual(task_ids.filter((taskId) => !closed.has(taskId)).toSorted());
  expect(await world.foundation.redis.zscore(KEYS.dueRuns, id)).toBeNull();
});
