import * as fc from 'fast-check';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Bulk, BulkPerson } from '../../src/workflow/bulk';
import { eventually } from '../support/eventually';
import { mortal } from './bulk-mortal';
import {
  codeOf,
  person,
  previewed,
  refOf,
  refusedReports,
  reportState,
  runIn,
  timesDecided,
  useBulkWorld,
} from './bulk-world';

const world = useBulkWorld();

const SHORT_LEASE_MS = 150;

/** A process that is lost at a step, with tasks it was to waive; returns once nobody has the run any more. */
async function lost(
  task_ids: readonly string[],
  who: BulkPerson,
  { lanes = 1, ...end }: { step: number; when: 'before' | 'after'; lanes?: number },
): Promise<string> {
  const parts = world.parts();
  const mortalParts = mortal(parts, end);
  const bulk = world.console({ ...mortalParts, lanes: { ...parts.lanes, lanes }, leaseMs: SHORT_LEASE_MS });
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  expect(await codeOf(bulk.start(id, who))).toBe('ok');
  await runIn(world.console(), id, 'interrupted', 'done');
  return id;
}

async function finish(bulk: Bulk, id: string, who: BulkPerson): Promise<void> {
  // One that had come to its end before its process was lost has nothing to go on with.
  expect(['ok', 'bulk_done']).toContain(await codeOf(bulk.resume(id, who)));
  await runIn(bulk, id, 'done');
}

it('a process that is lost at any step: another goes on, and each task is decided once', async () => {
  const who = await person(world, 'dispatcher');
  const scenario = fc.record({
    step: fc.integer({ min: 1, max: 20 }),
    when: fc.constantFrom('before', 'after'),
    count: fc.integer({ min: 1, max: 7 }),
    lanes: fc.integer({ min: 1, max: 4 }),
    next: fc.integer({ min: 1, max: 25 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ step, when, lanes, count, next }) => {
      const task_ids = await refusedReports(world, count);
      const id = await lost(task_ids, who, { step, when, lanes });
      // The second one is lost as well, somewhere else.
      const second = world.console({ ...mortal(world.parts(), { step: next, when }), leaseMs: SHORT_LEASE_MS });
      await second.resume(id, who);
      await runIn(world.console(), id, 'interrupted', 'done');
      const third = world.console();
      await finish(third, id, who);

      const run = await third.read(id);
      expect(run?.items.map(({ outcome, words }) => [outcome, words])).toEqual(task_ids.map(() => ['done', null]));
      expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 120_000);

it('a process that is lost after a decision and before its note: the decision stands as done, and is made once', async () => {
  const [task = ''] = await refusedReports(world, 1);
  const who = await person(world, 'dispatcher');
  // The second step is the call that decides.
  const id = await lost([task], who, { step: 2, when: 'after' });
  expect(await reportState(world, task)).toBe('waived');
  expect(await world.console().read(id)).toMatchObject({
    state: 'interrupted',
    interruption: 'process_lost',
    items: [{ outcome: 'waiting', hasBegun: true }],
  });
  const bulk = world.console();
  await finish(bulk, id, who);
  expect(await bulk.read(id)).toMatchObject({ items: [{ outcome: 'done' }] });
  expect(await timesDecided(world, [task], 'report.waived')).toEqual([1]);
});

it('a task that a lost process had begun and somebody else then decided is gone: nothing is decided on top of that', async () => {
  const [task = ''] = await refusedReports(world, 1);
  const who = await person(world, 'dispatcher');
  const id = await lost([task], who, { step: 2, when: 'before' });
  const params = { towing_reference_id: refOf(task), report_id: 'started-1' };
  const body = { plate_number: 'KLM 77' };
  expect((await world.api.call(ROUTES.correctReport, { actor: who.actor, params, body })).ok).toBe(true);
  const bulk = world.console();
  await finish(bulk, id, who);
  expect(await bulk.read(id)).toMatchObject({ items: [{ outcome: 'gone', hasBegun: true }] });
  expect(await reportState(world, task)).toBe('pending');
});

it.each([
  ['after', 'done', 'waived'],
  ['before', 'skipped', 'refused'],
] as const)('an abort of a lost run tells what was lost %s it was decided: %s', async (when, outcome, state) => {
  const task_ids = await refusedReports(world, 1);
  const who = await person(world, 'dispatcher');
  const id = await lost(task_ids, who, { step: 2, when });
  const bulk = world.console();
  expect(await codeOf(bulk.abort(id, who.actor))).toBe('ok');
  expect(await bulk.read(id)).toMatchObject({ state: 'aborted', items: [{ outcome }], counts: { waiting: 0 } });
  expect(await reportState(world, task_ids[0] ?? '')).toBe(state);
});

it('of many processes that would go on with a run one does, and each task is decided once', async () => {
  const task_ids = await refusedReports(world, 12);
  const who = await person(world, 'dispatcher');
  const id = await lost(task_ids, who, { step: 5, when: 'before' });
  const consoles = Array.from({ length: 5 }, () => world.console());
  const codes = await Promise.all(consoles.map((bulk) => codeOf(bulk.resume(id, who))));
  expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
  await runIn(world.console(), id, 'done');
  expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
});

it('a process that was frozen while another took its run begins nothing more; that it had decided a task still counts', async () => {
  const task_ids = await refusedReports(world, 3);
  const who = await person(world, 'dispatcher');
  const { store } = world.parts();
  const bulk = world.console();
  const { id } = await previewed(bulk, { action: 'waive', task_ids, reason: 'gone' }, who);
  const as = { runBy: who.actor, leaseMs: SHORT_LEASE_MS, audit: null };
  const taken = await store.take(id, 'start', as);
  if (taken.kind !== 'taken') throw new Error(taken.kind);
  const frozen = taken.held;
  const item = await frozen.begin(0);
  await runIn(bulk, id, 'interrupted');
  // The holder's clock counts fractions of the millisecond at which Redis ends the lease.
  await eventually(() => expect(frozen.isSurelyHeld()).toBe(false));
  const other = await store.take(id, 'resume', { ...as, leaseMs: 60_000 });
  if (other.kind !== 'taken') throw new Error(other.kind);

  expect(await frozen.begin(1)).toBeNull();
  expect(await frozen.renew()).toBe(false);
  expect(await frozen.note(0, { outcome: 'gone', words: null })).toBe(false);
  expect(await frozen.letGo('process_lost')).toBeNull();
  expect(await other.held.begin(0)).toEqual({ ...item, mayHaveRun: true });
  expect(await other.held.note(0, { outcome: 'skipped', words: null })).toBe(true);
  expect(await frozen.note(0, { outcome: 'done', words: null })).toBe(true);
  expect(await bulk.read(id)).toMatchObject({ state: 'running', counts: { done: 1, waiting: 2, skipped: 0 } });
});

it('a lane whose answer was lost gets the same task again', async () => {
  const task_ids = await refusedReports(world, 3);
  const who = await person(world, 'dispatcher');
  const { id } = await previewed(world.console(), { action: 'retry', task_ids }, who);
  const taken = await world.parts().store.take(id, 'start', { runBy: who.actor, leaseMs: 60_000, audit: null });
  if (taken.kind !== 'taken') throw new Error(taken.kind);
  const { held } = taken;
  const positions = [await held.begin(0), await held.begin(1), await held.begin(0)].map((item) => item?.position);
  expect(positions).toEqual([0, 1, 0]);
  await held.note(0, { outcome: 'done', words: null });
  expect((await held.begin(0))?.position).toBe(2);
  await held.note(2, { outcome: 'done', words: null });
  expect(await held.begin(0)).toBeNull();
});
