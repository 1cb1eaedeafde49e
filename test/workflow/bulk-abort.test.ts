import type { DecideTasksTools } from '../../jobs/decide-tasks';
import { eventually } from '../support/eventually';
import {
  auditOfAll,
  codeOf,
  openTasks,
  outcomes,
  person,
  previewed,
  refusedReports,
  runIn,
  timesDecided,
  useBulkWorld,
} from './bulk-world';

const world = useBulkWorld();
/** A worker that waits at a gate is not lost, however long the test takes. */
const NEVER_LOST_MS = 60_000;

/** An API whose calls wait until the test lets them pass, so that it can act in the middle of a run. */
function gated(): {
  readonly api: DecideTasksTools['api'];
  readonly waiting: () => number;
  readonly pass: () => void;
  readonly open: () => void;
} {
  const { api } = world.parts();
  const waiting: (() => void)[] = [];
  let isOpen = false;
  return {
    api: {
      ...api,
      call: async (route, call) => {
        if (!isOpen) await new Promise<void>((resolve) => void waiting.push(resolve));
        return api.call(route, call);
      },
    },
    waiting: () => waiting.length,
    pass: () => waiting.shift()?.(),
    open: () => {
      isOpen = true;
      waiting.splice(0).forEach((pass) => pass());
    },
  };
}

it('an abort takes effect before the next task: the current decision is recorded, and the rest is skipped', async () => {
  const task_ids = await refusedReports(world, 12);
  const who = await person(world, 'dispatcher');
  const { api, waiting, pass, open } = gated();
  world.worker({ api }, NEVER_LOST_MS);
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.start(id, who);
  await eventually(() => expect(waiting()).toBe(1));
  pass();
  await eventually(async () => expect((await bulk.read(id))?.counts.done).toBe(1));
  await eventually(() => expect(waiting()).toBe(1));
  // A second after the abort, a job would settle the current task.
  await world.foundation.queues.byName.bulk.pause();
  expect(await codeOf(bulk.abort(id, who))).toBe('ok');
  expect(outcomes(await runIn(bulk, id, 'aborted')).slice(0, 3)).toEqual(['done', 'waiting', 'skipped']);
  open();

  const run = await eventually(async () => {
    const now = await bulk.read(id);
    expect(now?.counts).toEqual({ waiting: 0, done: 2, skipped: 10, refused: 0, gone: 0 });
    return now;
  });
  expect(run?.state).toBe('aborted');
  const times = await timesDecided(world, task_ids, 'report.retried');
  expect(times).toEqual((run ? outcomes(run) : []).map((outcome) => (outcome === 'done' ? 1 : 0)));
  expect(await openTasks(world)).toHaveLength(10);
});

it('a decision that ends after a worker took it for skipped is recorded as done', async () => {
  const task_ids = await refusedReports(world, 2);
  const who = await person(world, 'dispatcher');
  const { api, waiting, open } = gated();
  world.worker({ api }, NEVER_LOST_MS);
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.start(id, who);
  await eventually(() => expect(waiting()).toBe(1));
  await bulk.abort(id, who);
  world.worker();
  await eventually(async () => expect((await bulk.read(id))?.counts).toMatchObject({ waiting: 0, skipped: 2 }));
  open();
  await eventually(async () => expect((await bulk.read(id))?.counts).toMatchObject({ done: 1, skipped: 1 }));
  expect(await timesDecided(world, task_ids, 'report.retried')).toEqual([1, 0]);
});

it('every role that may make the decision of a bulk run may abort it, and the audit contains the abort once', async () => {
  const task_ids = await refusedReports(world, 8);
  const [who, colleague, crew] = [
    await person(world, 'dispatcher'),
    await person(world, 'dispatcher'),
    await person(world, 'crew'),
  ];
  const { api, waiting, open } = gated();
  world.worker({ api }, NEVER_LOST_MS);
  const [bulk, other] = [world.console(), world.console()];
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.start(id, who);
  await eventually(() => expect(waiting()).toBe(1));
  expect(await codeOf(other.abort(id, crew))).toBe('role_not_allowed');
  expect(await codeOf(other.abort(id, colleague))).toBe('ok');
  expect(await codeOf(other.abort(id, colleague))).toBe('bulk_aborted');
  open();
  await eventually(async () => expect((await other.read(id))?.counts).toMatchObject({ done: 1, skipped: 7 }));
  const aborts = (await auditOfAll(world)).filter(({ action }) => action === 'bulk.aborted');
  expect(aborts).toMatchObject([{ by_id: colleague.id, what: { bulk_id: id, task_count: 8 } }]);
});

it('a preview that was aborted can be neither started nor resumed', async () => {
  const task_ids = await refusedReports(world, 2);
  const who = await person(world, 'dispatcher');
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.abort(id, who);
  expect(await codeOf(bulk.start(id, who))).toBe('bulk_aborted');
  expect(await codeOf(bulk.resume(id, who))).toBe('bulk_aborted');
  expect(await bulk.read(id)).toMatchObject({ state: 'aborted', counts: { skipped: 2 } });
  expect(await openTasks(world)).toEqual(task_ids.toSorted());
});
