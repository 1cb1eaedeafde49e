import { archiveFailingTask } from '../../src/domain/tasks';
import { closeGeneralTask, openGeneralTask } from '../../src/store/tasks';
import { KEYS } from '../../src/store/keys';
import { untilAfter } from '../support/redis';
import {
  auditOfAll,
  codeOf,
  informing,
  openTasks,
  outcomes,
  person,
  previewed,
  refusedReport,
  refusedReports,
  reportState,
  useBulkWorld,
} from './bulk-world';

const world = useBulkWorld();

/** Opens tasks of one type, without tows. Returns their ids. */
async function openMany(count: number): Promise<string[]> {
  const { redis } = world.foundation;
  const ids = Array.from({ length: count }, (_, index) => `made-up-${String(index).padStart(5, '0')}`);
  // One after the other: the last of a thousand concurrent commands could run into the command timeout.
  for (const id of ids) {
    await openGeneralTask(redis, { ...archiveFailingTask('EIO'), subject: id, actions: ['resolve'] });
  }
  expect(await redis.zcard(KEYS.openTasks)).toBe(count);
  return ids;
}

it('a preview of a bulk run states for each task whether the decision is possible, and decides none', async () => {
  const [refused, inform] = [await refusedReport(world), await informing(world)];
  const dispatcher = await person(world, 'dispatcher');
  const before = await auditOfAll(world);
  const task_ids = [refused, inform, 'nothing.like-it'];
  const run = await previewed(world.console(), { action: 'retry', task_ids }, dispatcher);

  expect(run).toMatchObject({ state: 'previewed', by: dispatcher, action: 'retry', total: 3, runBy: null });
  expect(run.counts).toEqual({ waiting: 1, done: 0, refused: 1, gone: 1, skipped: 0 });
  expect(run.items).toMatchObject([
    { taskId: refused, outcome: 'waiting', reportId: 'started-1', taskType: 'report_refused' },
    { taskId: inform, outcome: 'refused', words: { code: 'nothing_to_decide' } },
    { taskId: 'nothing.like-it', outcome: 'gone', words: { code: 'asked_no_more' } },
  ]);
  expect(await reportState(world, refused)).toBe('refused');
  expect(await openTasks(world)).toEqual([refused, inform].toSorted());
  expect(await auditOfAll(world)).toEqual(before);
});

it('the preview of a bulk run refuses a task that does not offer the action, and names the actions it offers', async () => {
  const refused = await refusedReport(world);
  const dispatcher = await person(world, 'dispatcher');
  const run = await previewed(world.console(), { action: 'resolve', task_ids: [refused] }, dispatcher);
  const message = 'It can be decided so: correct, retry, waive, accept.';
  expect(run.items).toMatchObject([{ outcome: 'refused', words: { code: 'action_not_offered', message } }]);
});

it.each([
  ['a request without a list and without a filter', { action: 'retry' }, 'nothing_chosen'],
  ['an empty list', { action: 'retry', task_ids: [] }, 'nothing_chosen'],
  ['an empty filter', { action: 'retry', filter: {} }, 'nothing_chosen'],
  ['a blank filter', { action: 'retry', filter: { type: '  ' } }, 'field_invalid'],
  ['a filter with an unknown field', { action: 'retry', filter: { colour: 'red' } }, 'field_invalid'],
  ['a filter that matches no task', { action: 'retry', filter: { type: 'no_such' } }, 'nothing_found'],
  ['a list together with a filter', { action: 'retry', task_ids: ['a'], filter: { type: 'x' } }, 'two_choices'],
  ['a correction', { action: 'correct', task_ids: ['a'] }, 'field_invalid'],
  ['a waive without a reason', { action: 'waive', task_ids: ['a'] }, 'field_invalid'],
  ['an accept with a blank reason', { action: 'accept', task_ids: ['a'], reason: ' ' }, 'field_invalid'],
] as const)('the preview of a bulk run refuses %s instead of choosing all tasks', async (_what, asked, code) => {
  await refusedReports(world, 2);
  const actor = await person(world, 'ops');
  const bulk = world.console();
  expect(await codeOf(bulk.preview(asked, actor))).toBe(code);
  expect(await bulk.recent(10)).toEqual([]);
});

it('the preview of a bulk run accepts 1,000 tasks and refuses 1,001, chosen by ids or by a filter', async () => {
  const ids = await openMany(1001);
  const actor = await person(world, 'dispatcher');
  const bulk = world.console();
  const filter = { type: 'archive_failing' };
  expect(await codeOf(bulk.preview({ action: 'resolve', task_ids: ids }, actor))).toBe('too_many_tasks');
  expect(await codeOf(bulk.preview({ action: 'resolve', filter }, actor))).toBe('too_many_tasks');

  const thousand = ids.slice(0, 1000);
  const byIds = await bulk.preview({ action: 'resolve', task_ids: thousand }, actor);
  await closeGeneralTask(world.foundation.redis, ids[1000] ?? '');
  const byFilter = await bulk.preview({ action: 'resolve', filter }, actor);
  for (const preview of [byIds, byFilter]) {
    expect(preview).toMatchObject({ ok: true, run: { total: 1000, counts: { waiting: 1000 } } });
    expect(preview.ok && preview.run.items.map(({ taskId }) => taskId)).toEqual(thousand);
  }
});

it('the preview of a bulk run contains a task once whose id is given twice', async () => {
  const id = await refusedReport(world);
  const run = await previewed(world.console(), { action: 'retry', task_ids: [id, id] }, await person(world, 'ops'));
  expect(outcomes(run)).toEqual(['waiting']);
});

it('refuses the preview of a bulk run to a role that may not decide a single task', async () => {
  const id = await refusedReport(world);
  const actor = await person(world, 'crew');
  expect(await codeOf(world.console().preview({ action: 'retry', task_ids: [id] }, actor))).toBe('role_not_allowed');
});

it('the preview of a bulk run expires after an hour, and each of its keys has an expiry', async () => {
  const id = await refusedReport(world);
  const run = await previewed(world.console(), { action: 'retry', task_ids: [id] }, await person(world, 'ops'));
  const keys = await world.foundation.redis.keys('*bulk*');
  expect(keys).toHaveLength(3);
  const lives = await Promise.all(keys.map((key) => world.foundation.redis.pttl(key)));
  expect(lives.every((ttl) => ttl > 0 && ttl <= 2 * 86_400_000)).toBe(true);
  const life = await world.foundation.redis.pttl(`{towhook-main}:bulk-run:${run.id}`);
  expect(life).toBeGreaterThan(3_500_000);
  expect(life).toBeLessThanOrEqual(3_600_000);
  expect(Date.parse(run.expiresAt) - Date.parse(run.previewedAt)).toBe(3_600_000);
});

it('a bulk run is read alike in every process, and the newest run is listed first', async () => {
  const task_ids = await refusedReports(world, 2);
  const who = await person(world, 'dispatcher');
  const first = await previewed(world.console(), { action: 'retry', task_ids }, who);
  // Runs are ordered by the millisecond of their preview.
  await untilAfter(world.foundation.redis, Date.parse(first.previewedAt));
  const second = await previewed(world.console(), { action: 'waive', task_ids, reason: 'seen' }, who);
  const other = world.console();
  expect(await other.read(first.id)).toEqual(first);
  expect((await other.recent(10)).map(({ id, total }) => [id, total])).toEqual([
    [second.id, 2],
    [first.id, 2],
  ]);
  expect(await other.read('no-such-run')).toBeNull();
});
