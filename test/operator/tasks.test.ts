import { taskView, towView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { useApp } from '../support/app';
import { api, errorOf, newKey, towIn, towOf, towPath } from './client';
import { answerHead, deliver, newTow, towAfter, WHEREABOUTS, claimHead, record } from './world';
import { messagesIn } from '../../src/console/messages';
import { storedObject } from '../../src/domain/stored';
import { rivalRequestTask } from '../../src/domain/ops/tasks';
import { KEYS, taskGroupKey, taskGroupsKey, towKey } from '../../src/store/keys';
import { openOn } from '../console/task-world';
import { signedIn, textOf } from '../console/visitor';
import { walk } from '../support/conservation';
import { changeCircuits, readCircuits } from '../support/stored-records';

const app = useApp({ role: 'console' });

async function tasks(query: Readonly<Record<string, string>> = {}) {
  const response = await api(app).get('/api/tasks').query(query);
  return page(taskView).parse(response.body).items;
}

const resolve = (id: string | undefined, body: object = {}, apiKey = app.apiKey) =>
  api(app, apiKey).post(`/api/tasks/${id}/resolve`).send(body);

async function towWithRival(): Promise<string> {
  const ref = await newTow(app);
  await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
  return ref;
}

it('lists a task with its tow, its type and its actions', async () => {
  const rival = await towWithRival();
  const refused = await towAfter(app, 'started');
  const reportId = await answerHead(app, refused, 'refused');
  expect(await tasks()).toMatchObject([
    { type: 'report_refused', towing_reference_id: refused, report_id: reportId, http_status: 400 },
    { type: 'rival_request', towing_reference_id: rival, actions: ['resolve'], report: null },
  ]);
  const [, open] = await tasks();
  expect(open?.tow).toEqual({ state: 'requested', plate_number: null });
  const {
    report: _none,
    violation: _nothing,
    tow: _tow,
    ...listed
  } = { report: null, violation: null, tow: null, ...open };
  expect((await towOf(app, rival)).tasks).toEqual([listed]);
});

it('shows in a task about a report what was sent and what the service answered', async () => {
  const ref = await towAfter(app, 'started');
  await answerHead(app, ref, 'refused');
  const [open] = await tasks();
  expect(open?.report).toMatchObject({
    kind: 'started',
    state: 'refused',
    body: { towing_reference_id: ref, plate_number: WHEREABOUTS.plate_number },
    last_error: { http_status: 400, message: 'Missing required field' },
    attempts: 1,
  });
});

it('closes an informational task when it is resolved and records by whom in the timeline of the tow', async () => {
  const ref = await towWithRival();
  const [open] = await tasks();
  const dispatcher = await newKey(app, 'dispatcher', 'day shift');
  const response = await resolve(open?.id, {}, dispatcher).expect(202);
  expect(response.body).toEqual(open);
  expect(await tasks()).toEqual([]);
  const tow = await towOf(app, ref);
  expect(tow.tasks).toEqual([]);
  expect(tow.timeline.at(-1)).toMatchObject({ type: 'task.resolved', by: 'day shift' });
});

it('records the reason for resolving a task in the timeline of the tow', async () => {
  const ref = await towWithRival();
  const [open] = await tasks();
  await resolve(open?.id, { reason: 'asked them by phone' });
  expect((await towOf(app, ref)).timeline.at(-1)).toMatchObject({
    type: 'task.resolved',
    reason: 'asked them by phone',
  });
});

it('refuses to resolve a task a second time with 404', async () => {
  await towWithRival();
  const [open] = await tasks();
  await resolve(open?.id).expect(202);
  const again = await resolve(open?.id).expect(404);
  expect(errorOf(again).code).toBe('task_not_found');
});

it('closes a task about a report by a decision on the report and refuses to resolve it with 409', async () => {
  const ref = await towAfter(app, 'started');
  const reportId = await answerHead(app, ref, 'refused');
  const [open] = await tasks();
  const response = await resolve(open?.id).expect(409);
  expect(errorOf(response).code).toBe('decision_needed');
  expect(await tasks()).toEqual([open]);
  towIn(
    await api(app)
      .post(towPath(ref, `/reports/${reportId}/retry`))
      .send({}),
  );
  expect(await tasks()).toEqual([]);
});

it('opens one task for repeated rival requests of a tow', async () => {
  const ref = await towWithRival();
  await deliver(app, 'tow_request', { violation_reference_id: 'V-third', towing_reference_id: ref });
  expect(await tasks()).toHaveLength(1);
});

it('lists tasks newest first, oldest first on request, and filtered by type', async () => {
  const rival = await towWithRival();
  const refused = await towAfter(app, 'started');
  await answerHead(app, refused, 'refused');
  const typesIn = async (query: Readonly<Record<string, string>> = {}) =>
    (await tasks(query)).map(({ type, towing_reference_id }) => [type, towing_reference_id]);

  expect(await typesIn()).toEqual([
    ['report_refused', refused],
    ['rival_request', rival],
  ]);
  expect(await typesIn({ order: 'oldest' })).toEqual([
    ['rival_request', rival],
    ['report_refused', refused],
  ]);
  expect(await typesIn({ type: 'rival_request' })).toEqual([['rival_request', rival]]);
  expect(await typesIn({ type: 'late_request' })).toEqual([]);
  await api(app).get('/api/tasks?order=sideways').expect(422);
});

it.each(['', 'report_refusd'])('refuses to list tasks of the unknown type "%s", and names the types', async (type) => {
  const response = await api(app).get('/api/tasks').query({ type }).expect(422);
  const [{ field, rule } = { field: '', rule: '' }] = errorOf(response).details;
  expect(field).toBe('type');
  expect(rule).toMatch(/^must be one of report_refused, report_unknown, /);
});
const TYPE = 'vehicle_swapped';

/** A tow with such a task, stored as a later version would; its only action is `resolve`. */
async function towWithLaterTask(): Promise<{ ref: string; taskId: string }> {
  const { redis } = app.foundation;
  const ref = await newTow(app);
  await record(app, ref, 'started');
  const taskId = await openOn(app, ref, rivalRequestTask);
  for (const [key, field] of [
    [towKey(ref), 'tasks'],
    [KEYS.tasks, taskId],
  ] as const) {
    const json = (await redis.hget(key, field)) ?? '';
    await redis.hset(key, field, json.replace(`"type":"${rivalRequestTask.type}"`, `"type":"${TYPE}"`));
  }
  await redis.rename(taskGroupKey(rivalRequestTask.type), taskGroupKey(TYPE));
  await redis.zrem(taskGroupsKey, rivalRequestTask.type);
  await redis.zadd(taskGroupsKey, 1, TYPE);
  return { ref, taskId };
}

const readTow = async (ref: string) => towView.parse((await api(app).get(`/api/tows/${ref}`).expect(200)).body);

test('shows it by its message and actions, in the API and on the pages', async () => {
  const { ref, taskId } = await towWithLaterTask();
  const shown = { id: taskId, type: TYPE, message: rivalRequestTask.message, actions: ['resolve'] };
  expect((await readTow(ref)).tasks).toMatchObject([shown]);
  const listed = await api(app).get('/api/tasks').expect(200);
  expect(page(taskView).parse(listed.body).items).toMatchObject([shown]);
  const visitor = await signedIn(app);
  for (const path of ['/tasks', `/tows/${ref}`]) {
    const text = textOf((await visitor.get(path)).html);
    expect(text).toContain(rivalRequestTask.message);
    expect(text).toContain(messagesIn('en').taskTypes.other.title);
  }
});

test('keeps it through a fact and an accepted report, and counts nothing as lost', async () => {
  const { ref, taskId } = await towWithLaterTask();
  await record(app, ref, 'detained');
  await answerHead(app, ref, 'accepted');
  expect((await readTow(ref)).reports[0]).toMatchObject({ kind: 'started', state: 'accepted' });
  const stored = await app.foundation.redis.hget(towKey(ref), 'tasks');
  expect(storedObject.parse(JSON.parse(stored ?? ''))).toMatchObject({ [taskId]: { task: { type: TYPE } } });
  expect(await walk(app.foundation.redis)).toMatchObject({ lostNames: [] });
});

test('closes it by the action that it offers, in all lists', async () => {
  const { ref, taskId } = await towWithLaterTask();
  await api(app).post(`/api/tasks/${taskId}/resolve`).send({ reason: 'looked at' }).expect(202);
  expect((await readTow(ref)).tasks).toEqual([]);
  const { redis } = app.foundation;
  expect([await redis.exists(taskGroupKey(TYPE)), await redis.zscore(taskGroupsKey, TYPE)]).toEqual([0, null]);
});

test('keeps one about the service as a whole, and goes on sending', async () => {
  const { redis } = app.foundation;
  const ref = await newTow(app);
  await record(app, ref, 'started');
  await changeCircuits(redis, { failures: 1 });
  const circuits = storedObject.parse(JSON.parse((await redis.hget(KEYS.circuits, 'circuits')) ?? ''));
  const { subject: _, ...task } = rivalRequestTask;
  const tasks = { later: { task: { ...task, type: TYPE }, openedAtMs: 1 } };
  await redis.hset(KEYS.circuits, 'circuits', JSON.stringify({ ...circuits, tasks }));
  expect((await claimHead(app, ref)).entry.kind).toBe('started');
  await changeCircuits(redis, { failures: 2 });
  expect((await readCircuits(redis)).tasks).toEqual(tasks);
});
