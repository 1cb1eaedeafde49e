import { messagesIn } from '../../src/console/messages';
import { storedObject } from '../../src/domain/stored';
import { taskView, towView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { rivalRequestTask } from '../../src/domain/ops/tasks';
import { KEYS, taskGroupKey, taskGroupsKey, towKey } from '../../src/store/keys';
import { openOn } from '../console/task-world';
import { signedIn, textOf } from '../console/visitor';
import { useApp } from '../support/app';
import { walk } from '../support/conservation';
import { changeCircuits, readCircuits } from '../support/stored-records';
import { api } from './client';
import { answerHead, claimHead, newTow, record } from './world';

/** A later version has opened a task of a type that this one does not know. */

const app = useApp({ role: 'console' });
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
