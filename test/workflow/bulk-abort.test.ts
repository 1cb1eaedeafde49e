import type { BulkOptions } from '../../src/workflow/bulk';
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

/** An API whose calls wait at a gate, so that a test can act in the middle of a run. */
function gated(): {
  also: Partial<BulkOptions>;
  waiting: () => number;
  open: () => void;
  let: (count: number) => void;
} {
  const parts = world.parts();
  const atGate: (() => void)[] = [];
  let isOpen = false;
  return {
    also: {
      api: {
        ...parts.api,
        call: async (route, call) => {
          if (!isOpen) await new Promise<void>((resolve) => void atGate.push(resolve));
          return parts.api.call(route, call);
        },
      },
    },
    waiting: () => atGate.length,
    let: (count) => atGate.splice(0, count).forEach((pass) => pass()),
    open: () => {
      isOpen = true;
      atGate.splice(0).forEach((pass) => pass());
    },
  };
}

it('an abort takes effect before the next task: what has begun is finished, the rest is skipped', async () => {
  const task_ids = await refusedReports(world, 12);
  const who = await person(world, 'dispatcher');
  const gate = gated();
  const bulk = world.console(gate.also);
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.start(id, who);
  await eventually(() => expect(gate.waiting()).toBe(4));
  gate.let(1);
  await eventually(async () => expect((await bulk.read(id))?.counts.done).toBe(1));
  await eventually(() => expect(gate.waiting()).toBe(4));
  expect(await codeOf(bulk.abort(id, who.actor))).toBe('ok');
  expect(await bulk.read(id)).toMatchObject({ state: 'aborted', counts: { done: 1, waiting: 4, skipped: 7 } });
  gate.open();

  const run = await eventually(async () => {
    const now = await bulk.read(id);
    expect(now?.counts.waiting).toBe(0);
    return now;
  });
  expect(run).toMatchObject({ state: 'aborted', counts: { done: 5, skipped: 7, refused: 0, gone: 0 } });
  const times = await timesDecided(world, task_ids, 'report.retried');
  expect(times).toEqual((run ? outcomes(run) : []).map((outcome) => (outcome === 'done' ? 1 : 0)));
  expect(await openTasks(world)).toHaveLength(7);
});

it('any process can abort a run of another, by whoever may decide', async () => {
  const task_ids = await refusedReports(world, 8);
  const [who, colleague, crew] = [
    await person(world, 'dispatcher'),
    await person(world, 'dispatcher'),
    await person(world, 'crew'),
  ];
  const gate = gated();
  const [bulk, other] = [world.console(gate.also), world.console()];
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.start(id, who);
  await eventually(() => expect(gate.waiting()).toBe(4));
  expect(await codeOf(other.abort(id, crew.actor))).toBe('role_not_allowed');
  expect(await codeOf(other.abort(id, colleague.actor))).toBe('ok');
  expect(await codeOf(other.abort(id, colleague.actor))).toBe('bulk_aborted');
  gate.open();
  await eventually(async () => expect((await other.read(id))?.counts).toMatchObject({ done: 4, skipped: 4 }));
  const last = (await auditOfAll(world)).find(({ action }) => action === 'bulk.aborted');
  expect(last).toMatchObject({ by_id: colleague.actor.id, what: { bulk_id: id, task_count: 8 } });
});

it('a preview that is aborted is never started', async () => {
  const task_ids = await refusedReports(world, 2);
  const who = await person(world, 'dispatcher');
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.abort(id, who.actor);
  expect(await codeOf(bulk.start(id, who))).toBe('bulk_aborted');
  expect(await codeOf(bulk.resume(id, who))).toBe('bulk_aborted');
  expect(await bulk.read(id)).toMatchObject({ state: 'aborted', counts: { skipped: 2 } });
  expect(await openTasks(world)).toEqual(task_ids.toSorted());
});

it('a console that is stopped finishes what has begun, and another goes on with the rest', async () => {
  const task_ids = await refusedReports(world, 10);
  const who = await person(world, 'dispatcher');
  const gate = gated();
  const [bulk, other] = [world.console(gate.also), world.console()];
  const { id } = await previewed(bulk, { action: 'retry', task_ids }, who);
  await bulk.start(id, who);
  await eventually(() => expect(gate.waiting()).toBe(4));
  const closed = bulk.close();
  gate.open();
  await closed;
  const run = await other.read(id);
  expect(run).toMatchObject({ state: 'interrupted', interruption: 'console_stopped', counts: { done: 4, waiting: 6 } });
  expect(await codeOf(bulk.resume(id, who))).toBe('console_stopping');
  expect(await codeOf(other.resume(id, who))).toBe('ok');
  await runIn(other, id, 'done');
  expect(await timesDecided(world, task_ids, 'report.retried')).toEqual(task_ids.map(() => 1));
});
