import { archiveFailingTask } from '../../src/domain/ops/tasks';
import { RUN_ITEMS_MAX, runPreviewBody, type RunPreviewBody } from '../../src/contracts/ops/runs';
import { openGeneralTask } from '../../src/store/ops/tasks';
import { chosenBy } from '../../src/workflow/run/run-choice';
import { KEYS } from '../../src/store/keys';
import { untilAfter } from '../support/redis';
import {
  auditOfAll,
  codeOf,
  informing,
  openRuns,
  openTasks,
  outcomes,
  person,
  previewed,
  refusedReport,
  refusedReports,
  reportState,
  useRunWorld,
} from './run-world';

const world = useRunWorld();

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

it('a preview of a run states for each task whether the decision is possible, and decides none', async () => {
  const [refused, inform] = [await refusedReport(world), await informing(world)];
  const dispatcher = await person(world, 'dispatcher');
  const before = await auditOfAll(world);
  const task_ids = [refused, inform, 'nothing.like-it'];
  const run = await previewed(world.console(), { action: 'retry', task_ids }, dispatcher);

  expect(run).toMatchObject({ state: 'previewed', by: dispatcher.name, action: 'retry', total: 3, started_by: null });
  expect(run.counts).toEqual({ waiting: 1, done: 0, refused: 1, gone: 1, skipped: 0 });
  expect(run.items).toMatchObject([
    { id: refused, outcome: 'waiting', report_id: 'started-1', type: 'report_refused' },
    { id: inform, outcome: 'refused', code: 'nothing_to_decide' },
    { id: 'nothing.like-it', outcome: 'gone', code: 'asked_no_more' },
  ]);
  expect(await reportState(world, refused)).toBe('refused');
  expect(await openTasks(world)).toEqual([refused, inform].toSorted());
  expect(await auditOfAll(world)).toEqual(before);
});

it('the preview of a run refuses a task that does not offer the action, and names the actions it offers', async () => {
  const refused = await refusedReport(world);
  const dispatcher = await person(world, 'dispatcher');
  const run = await previewed(world.console(), { action: 'resolve', task_ids: [refused] }, dispatcher);
  const message = 'It can be decided so: correct, retry, waive, accept.';
  expect(run.items).toMatchObject([{ outcome: 'refused', code: 'action_not_offered', message }]);
});

it.each([
  ['a request without a list and without a filter', { action: 'retry' }, 'nothing_chosen'],
  ['an empty list', { action: 'retry', task_ids: [] }, 'nothing_chosen'],
  ['a filter that matches no task', { action: 'retry', type: 'no_such' }, 'nothing_found'],
  ['a list together with a filter', { action: 'retry', task_ids: ['a'], type: 'x' }, 'two_choices'],
  ['deliveries together with a decision', { action: 'retry', delivery_ids: ['a'] }, 'field_invalid'],
  ['tasks together with a replay', { action: 'replay', task_ids: ['a'] }, 'field_invalid'],
] as const)('the preview of a run refuses %s instead of choosing all tasks', async (_what, asked, code) => {
  await refusedReports(world, 2);
  const actor = await person(world, 'ops');
  const runs = world.console();
  expect(await codeOf(runs.preview(asked, actor))).toBe(code);
  expect(await runs.recent()).toEqual([]);
});

it('the preview of a run accepts 10,000 tasks and refuses 10,001, chosen by ids or by a filter', async () => {
  const ids = Array.from({ length: RUN_ITEMS_MAX + 1 }, (_, index) => `made-up-${index}`);
  const tools = openRuns(world.foundation);
  const tasks = {
    readMany: () => Promise.resolve([]),
    ids: (_filter: unknown, max: number) => Promise.resolve(ids.slice(0, max)),
  };
  const chosen = (asked: Pick<RunPreviewBody, 'task_ids' | 'type'>) =>
    chosenBy({ ...tools, tasks }, { action: 'resolve', ...asked });
  const refused = { ok: false, refusal: { code: 'too_many_items' } };

  expect(await chosen({ task_ids: ids })).toMatchObject(refused);
  expect(await chosen({ type: 'archive_failing' })).toMatchObject(refused);
  const most = await chosen({ task_ids: ids.slice(1) });
  expect(most.ok && most.chosen).toHaveLength(RUN_ITEMS_MAX);
});

it('a preview of 1,000 tasks has all of them in order, page by page', async () => {
  const ids = await openMany(1000);
  const actor = await person(world, 'dispatcher');
  const byIds = await previewed(world.console(), { action: 'resolve', task_ids: ids }, actor);
  const byFilter = await previewed(world.console(), { action: 'resolve', type: 'archive_failing' }, actor);
  for (const run of [byIds, byFilter]) {
    expect(run).toMatchObject({ total: 1000, counts: { waiting: 1000 } });
    expect(run.items.map(({ id, position }) => [id, position])).toEqual(ids.map((id, at) => [id, at]));
  }
});

it.each([
  ['a blank filter', { action: 'retry', type: '  ' }],
  ['an unknown field', { action: 'retry', colour: 'red' }],
  ['a correction', { action: 'correct', task_ids: ['a'] }],
  ['a waive without a reason', { action: 'waive', task_ids: ['a'] }],
  ['an accept with a blank reason', { action: 'accept', task_ids: ['a'], reason: ' ' }],
] as const)('the contract of a preview refuses %s', (_what, asked) => {
  expect(runPreviewBody.safeParse(asked).success).toBe(false);
});

it('the preview of a run contains a task once whose id is given twice', async () => {
  const id = await refusedReport(world);
  const run = await previewed(world.console(), { action: 'retry', task_ids: [id, id] }, await person(world, 'ops'));
  expect(outcomes(run)).toEqual(['waiting']);
});

it('refuses the preview of a run to a role that may not decide a single task', async () => {
  const id = await refusedReport(world);
  const actor = await person(world, 'crew');
  expect(await codeOf(world.console().preview({ action: 'retry', task_ids: [id] }, actor))).toBe('role_not_allowed');
});

it('the preview of a run expires after an hour, and each of its keys has an expiry', async () => {
  const id = await refusedReport(world);
  const run = await previewed(world.console(), { action: 'retry', task_ids: [id] }, await person(world, 'ops'));
  const keys = await world.foundation.redis.keys('*run*');
  expect(keys).toHaveLength(2);
  const lives = await Promise.all(keys.map((key) => world.foundation.redis.pttl(key)));
  expect(lives.every((ttl) => ttl > 0 && ttl <= 2 * 86_400_000)).toBe(true);
  const life = await world.foundation.redis.pttl(`{towhook-main}:run:${run.id}`);
  expect(life).toBeGreaterThan(3_500_000);
  expect(life).toBeLessThanOrEqual(3_600_000);
  expect(Date.parse(run.expires_at) - Date.parse(run.previewed_at)).toBe(3_600_000);
});

it('a run is read alike in every process, and the newest run is listed first', async () => {
  const task_ids = await refusedReports(world, 2);
  const who = await person(world, 'dispatcher');
  const first = await previewed(world.console(), { action: 'retry', task_ids }, who);
  // Runs are ordered by the millisecond of their preview.
  await untilAfter(world.foundation.redis, Date.parse(first.previewed_at));
  const second = await previewed(world.console(), { action: 'waive', task_ids, reason: 'seen' }, who);
  const other = world.console();
  expect(await other.read(first.id)).toEqual(first);
  expect((await other.recent()).map(({ id, total }) => [id, total])).toEqual([
    [second.id, 2],
    [first.id, 2],
  ]);
  expect(await other.read('no-such-run')).toBeNull();
});
