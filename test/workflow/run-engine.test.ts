import * as fc from 'fast-check';
import { carryOutRun, type CarryOutRunTools } from '../../jobs/carry-out-run';
import { KEYS } from '../../src/store/keys';
import { decideReport } from '../../src/workflow/outbox/decide';
import { eventually } from '../support/eventually';
import {
  auditOfAll,
  codeOf,
  openTasks,
  outcomes,
  person,
  previewed,
  refOf,
  refusedReport,
  refusedReports,
  reportState,
  runIn,
  timesDecided,
  useRunWorld,
} from './run-world';

const world = useRunWorld();

/** A started run of waivers over this many tasks. */
async function startedRun(count: number) {
  const task_ids = await refusedReports(world, count);
  const who = await person(world, 'dispatcher');
  const runs = world.console();
  const { id } = await previewed(runs, { action: 'waive', task_ids, reason: 'gone' }, who);
  expect(await codeOf(runs.start(id, who))).toBe('done');
  return { id, task_ids, who, runs };
}

/** Tools of which some decisions fail: before or after their commit. */
function failing(fails: (orderKey: string | null) => 'before' | 'after' | null): CarryOutRunTools {
  const parts = world.parts();
  const { records } = parts.facts;
  const transact: typeof records.transact = async (orderKey, decide) => {
    const how = fails(orderKey);
    if (how === 'before') throw new Error('Command timed out');
    const value = await records.transact(orderKey, decide);
    if (how === 'after') throw new Error('Command timed out');
    return value;
  };
  const facts = { ...parts.facts, records: { transact, isUnwritten: (error: unknown) => records.isUnwritten(error) } };
  return { ...parts, facts, isTransient: () => true };
}

it.each(['before', 'after'] as const)('an action that fails (%s) is tried again and takes effect once', async (how) => {
  const { id, task_ids, runs } = await startedRun(4);
  let calls = 0;
  const tools = failing(() => {
    calls += 1;
    return calls % 2 === 1 ? how : null;
  });
  for (let turn = 0; turn < 4; turn += 1) await carryOutRun({ run_id: id }, tools);

  expect(outcomes(await runIn(runs, id, 'done'))).toEqual(task_ids.map(() => 'done'));
  expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
});

it('an item whose action fails for another reason than Redis is left to a person and does not block the rest', async () => {
  const { id, task_ids, runs } = await startedRun(3);
  const cursed = refOf(task_ids[1] ?? '');
  const tools = failing((orderKey) => (orderKey === `tow ${cursed}` ? 'before' : null));
  await carryOutRun({ run_id: id }, { ...tools, isTransient: () => false });

  const run = await runIn(runs, id, 'done');
  expect(outcomes(run)).toEqual(['done', 'refused', 'done']);
  expect(run.items[1]?.code).toBe('not_decided');
  expect(await openTasks(world)).toEqual([task_ids[1]]);
});

it('a task that this worker cannot read is decided once it can, and is not recorded as gone', async () => {
  const { id, task_ids, runs } = await startedRun(1);
  const [taskId = ''] = task_ids;
  const { redis } = world.foundation;
  const text = (await redis.hget(KEYS.tasks, taskId)) ?? '';
  const later = text.replace('"waive"', '"an action of a later version"');
  expect(later).not.toBe(text);
  await redis.hset(KEYS.tasks, taskId, later);

  expect(await carryOutRun({ run_id: id }, world.parts())).toEqual({ kind: 'done', what: 'some later' });

  expect(await runs.read(id)).toMatchObject({ state: 'running', items: [{ outcome: 'waiting' }] });
  await redis.hset(KEYS.tasks, taskId, text);
  world.worker();
  expect(outcomes(await runIn(runs, id, 'done'))).toEqual(['done']);
});

it('an abort takes effect between two commits: what was done is recorded, and nothing is done after it', async () => {
  const { id, task_ids, who, runs } = await startedRun(30);
  let calls = 0;
  let aborted = '';
  const parts = world.parts();
  const { records } = parts.facts;
  const transact: typeof records.transact = async (orderKey, decide) => {
    calls += 1;
    if (calls === 8) aborted = await codeOf(runs.abort(id, who));
    return records.transact(orderKey, decide);
  };
  const facts = { ...parts.facts, records: { transact, isUnwritten: (error: unknown) => records.isUnwritten(error) } };

  await carryOutRun({ run_id: id }, { ...parts, facts });

  expect(aborted).toBe('done');
  const run = await runIn(runs, id, 'aborted');
  const times = await timesDecided(world, task_ids, 'report.waived');
  expect(times).toEqual(outcomes(run).map((outcome) => (outcome === 'done' ? 1 : 0)));
  expect(times.filter((count) => count === 1)).toHaveLength(run.counts.done);
  expect(run.counts).toMatchObject({ waiting: 0, skipped: 30 - run.counts.done });
  expect(run.counts.skipped).toBeGreaterThanOrEqual(10);
  expect(await openTasks(world)).toHaveLength(run.counts.skipped);
});

it('every role that may decide may abort a run, and the audit contains the abort once', async () => {
  const { id, runs } = await startedRun(3);
  const [colleague, crew] = [await person(world, 'dispatcher'), await person(world, 'crew')];

  expect(await codeOf(runs.abort(id, crew))).toBe('role_not_allowed');
  expect(await codeOf(runs.abort(id, colleague))).toBe('done');
  expect(await codeOf(runs.abort(id, colleague))).toBe('run_aborted');

  expect((await runs.read(id))?.counts).toMatchObject({ done: 0, skipped: 3 });
  const aborts = (await auditOfAll(world)).filter(({ action }) => action === 'run.aborted');
  expect(aborts).toMatchObject([{ by_id: colleague.id, what: { run_id: id, item_count: 3 } }]);
});

it('a preview that was aborted cannot be started', async () => {
  const taskId = await refusedReport(world);
  const who = await person(world, 'dispatcher');
  const runs = world.console();
  const { id } = await previewed(runs, { action: 'retry', task_ids: [taskId] }, who);
  await runs.abort(id, who);

  expect(await codeOf(runs.start(id, who))).toBe('run_aborted');
  expect(await runs.read(id)).toMatchObject({ state: 'aborted', counts: { skipped: 1 } });
});

it('a run whose worker is lost before or after any commit is continued, and each task is decided once', async () => {
  const scenario = fc.record({
    when: fc.constantFrom('before' as const, 'after' as const),
    step: fc.integer({ min: 1, max: 8 }),
    count: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ when, step, count }) => {
      const { id, task_ids, runs } = await startedRun(count);
      let steps = 0;
      let isLost = false;
      const lost = failing(() => {
        steps += 1;
        const isLast = steps === step;
        const how = isLost ? 'before' : isLast ? when : null;
        isLost ||= isLast;
        return how;
      });
      await carryOutRun({ run_id: id }, lost);

      await carryOutRun({ run_id: id }, world.parts());

      const run = await runIn(runs, id, 'done');
      expect(outcomes(run)).toEqual(task_ids.map(() => 'done'));
      expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
    }),
    { numRuns: 8, endOnFailure: true },
  );
});

it('workers that carry out the same run at the same time decide each task once', async () => {
  const { id, task_ids, runs } = await startedRun(18);

  await Promise.all(Array.from({ length: 5 }, () => carryOutRun({ run_id: id }, world.parts())));

  expect(await runs.read(id)).toMatchObject({ state: 'done', counts: { waiting: 0, done: 18 } });
  expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
});

it('a task that a person decided after the start is gone, and no decision is added', async () => {
  const { id, task_ids, who, runs } = await startedRun(1);
  const [taskId = ''] = task_ids;
  const { facts } = world.parts();
  await decideReport(facts, { ref: refOf(taskId), reportId: 'started-1', command: { action: 'retry' }, actor: who });

  await carryOutRun({ run_id: id }, world.parts());

  expect(outcomes(await runIn(runs, id, 'done'))).toEqual(['gone']);
  expect(await reportState(world, taskId)).toBe('pending');
});

it('a run gives way to other work after 5 s and asks for its next turn', async () => {
  const { id, runs } = await startedRun(23);
  const parts = world.parts();
  let nowMs = 0;
  const clock = { ...parts.clock, monotonicMs: () => (nowMs += 3000) };

  expect(await carryOutRun({ run_id: id }, { ...parts, clock })).toEqual({
    kind: 'continue',
    what: 'continue',
    ref: id,
  });

  expect((await runs.read(id))?.counts).toMatchObject({ done: 20, waiting: 3 });
  world.worker();
  expect((await runIn(runs, id, 'done')).counts.done).toBe(23);
});

it('the schedule of a run that has expired is removed', async () => {
  const { redis, schedules } = world.foundation;
  await redis.zadd(KEYS.dueRuns, 1, 'expired-run');
  world.worker();
  await eventually(async () => expect(await redis.zcard(KEYS.dueRuns)).toBe(0));
  expect(await schedules.runs.backlog()).toEqual({ due: 0, oldestAgeMs: 0 });
});
