import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import * as fc from 'fast-check';
import type { Task } from '../../src/contracts/outbox/records';
import { openTask } from '../../src/domain/outbox/outbox-record';
import { pausedOperationTask, rivalRequestTask, type NewTask } from '../../src/domain/ops/tasks';
import type { ReportKind } from '../../src/domain/vocabulary';
import { closeGeneralTask, openGeneralTask, createTaskStore } from '../../src/store/ops/tasks';
import { KEYS } from '../../src/store/keys';
import { EmptyTaskFilter, type TaskFilter } from '../../src/workflow/list-port';
import type { TaskStore } from '../../src/workflow/ports';
import { useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;
let tasks: TaskStore;
beforeEach(() => {
  tasks = createTaskStore(stores.redis);
});

const refused = (kind: ReportKind): NewTask =>
  refusedTask({ id: `${kind}-1`, kind, httpStatus: 400, message: 'no "type":"other" \ud800', hint: null });

async function openOn(ref: string, ...opened: readonly NewTask[]): Promise<void> {
  if ((await stores.tows.read(ref)) === null) await stores.request(ref);
  for (const task of opened) await stores.change(ref, (draft, nowMs) => openTask(draft, task, nowMs));
}

async function close({ id, towing_reference_id: ref }: Task): Promise<void> {
  if (ref === undefined) await closeGeneralTask(stores.redis, id);
  else await stores.change(ref, (draft) => void delete draft.tasks[id]);
}

const change = (what: 'open' | 'close', task: NewTask) =>
  what === 'open' ? openGeneralTask(stores.redis, task) : closeGeneralTask(stores.redis, task.subject);

const paused = pausedOperationTask('invoice', 'no');
const aboutViolation = refusedTask({
  kind: 'violation',
  id: 'U1',
  httpStatus: 400,
  message: 'Zone not found',
  hint: null,
});

/** Two tows with three questions, and two of the whole operator, oldest first. */
async function openAll(): Promise<string[]> {
  await openOn('T1', refused('started'));
  await openOn('T2', rivalRequestTask, refused('invoice'));
  await change('open', paused);
  await change('open', aboutViolation);
  return ['started-1.T1', 'rival_request.T2', 'invoice-1.T2', 'paused.invoice', 'violation.U1'];
}

async function idsFound(page: Omit<Parameters<TaskStore['list']>[0], 'cursor'>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const found: Awaited<ReturnType<TaskStore['list']>> = await tasks.list({ ...page, cursor });
    ids.push(...found.items.map(({ id }) => id));
    cursor = found.nextCursor;
  } while (cursor !== null);
  return ids;
}

/** Opened in one millisecond, tasks come in the order of their names; so each is made a little older. */
async function apart(ids: readonly string[]): Promise<void> {
  const groups = (await stores.redis.keys(`${KEYS.openTasks}:group:*`)).concat(KEYS.openTasks);
  for (const [at, id] of ids.entries()) {
    for (const key of groups) await stores.redis.zadd(key, 'XX', 1_700_000_000_000 + at, id);
  }
}

test('open tasks are listed newest first or oldest first, in pages of any size', async () => {
  const ids = await openAll();
  await apart(ids);

  for (const limit of [1, 2, 4, 5, 50]) {
    expect(await idsFound({ limit })).toEqual(ids.toReversed());
    expect(await idsFound({ limit, order: 'oldest' })).toEqual(ids);
  }
});

test.each<[TaskFilter, string[]]>([
  [{ type: 'report_refused' }, ['started-1.T1', 'invoice-1.T2']],
  [{ type: 'report_refused', kind: 'invoice' }, ['invoice-1.T2']],
  [{ kind: 'invoice' }, ['invoice-1.T2', 'paused.invoice']],
  [{ towingReferenceId: 'T2' }, ['rival_request.T2', 'invoice-1.T2']],
  [{ towingReferenceId: 'T2', type: 'report_refused' }, ['invoice-1.T2']],
  [{ towingReferenceId: 'T2', kind: 'started' }, []],
  [{ towingReferenceId: 'unknown' }, []],
  [{ type: 'violation_refused' }, ['violation.U1']],
  [{ type: 'other' }, []],
])('the task list with the filter %j contains exactly the matching tasks', async (filter, expected) => {
  await apart(await openAll());

  expect(await idsFound({ limit: 1, order: 'oldest', filter })).toEqual(expected);
  expect(await idsFound({ limit: 10, filter })).toEqual(expected.toReversed());
  expect(await tasks.ids(filter, 10)).toEqual(expected);
});

test('open tasks are counted by type, and by kind when they have one', async () => {
  expect(await tasks.counts()).toEqual({ total: 0, types: [] });
  await openAll();
  await openOn('T3', refused('started'));

  expect(await tasks.counts()).toEqual({
    total: 6,
    types: [
      { type: 'operation_paused', count: 1, kinds: [{ kind: 'invoice', count: 1 }] },
      {
        type: 'report_refused',
        count: 3,
        kinds: [
          { kind: 'invoice', count: 1 },
          { kind: 'started', count: 2 },
        ],
      },
      { type: 'rival_request', count: 1, kinds: [] },
      { type: 'violation_refused', count: 1, kinds: [] },
    ],
  });
});

test('a request for all task ids of an empty filter returns no id', async () => {
  await openAll();
  const empty: TaskFilter[] = [{}, { type: undefined, kind: undefined, towingReferenceId: undefined }];
  for (const filter of empty) await expect(tasks.ids(filter, 10)).rejects.toThrow(EmptyTaskFilter);
});

test('a request for task ids returns at most the given number, oldest first', async () => {
  const refs = Array.from({ length: 12 }, (_, at) => `T${at}`);
  for (const ref of refs) await openOn(ref, refused('started'));
  await apart(refs.map((ref) => `started-1.${ref}`));

  expect(await tasks.ids({ type: 'report_refused' }, 5)).toEqual(refs.slice(0, 5).map((ref) => `started-1.${ref}`));
  expect(await tasks.ids({ type: 'report_refused' }, 5000)).toHaveLength(12);
});

test('a closed task is removed from every list and leaves no data', async () => {
  await openAll();
  for (const { id } of (await tasks.list({ cursor: null, limit: 10 })).items) {
    const task = await tasks.read(id);
    if (task) await close(task);
  }

  expect(await tasks.counts()).toEqual({ total: 0, types: [] });
  expect(await tasks.list({ cursor: null, limit: 10, filter: { kind: 'invoice' } })).toEqual({
    items: [],
    nextCursor: null,
  });
  expect(await stores.redis.keys(`${KEYS.openTasks}*`)).toEqual([]);
});

test('the task groups contain exactly the open tasks after any sequence of opening and closing', async () => {
  const questions = { started: refused('started'), invoice: refused('invoice'), rival: rivalRequestTask } as const;
  const steps = fc.array(
    fc.record({
      ref: fc.constantFrom('T1', 'T2'),
      question: fc.constantFrom('started' as const, 'invoice' as const, 'rival' as const, 'paused' as const),
      isOpened: fc.boolean(),
    }),
    { maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await redis.ask('FLUSHALL');
      for (const { ref, question, isOpened } of all) {
        if (question === 'paused') await change(isOpened ? 'open' : 'close', paused);
        else if (isOpened) await openOn(ref, questions[question]);
        else {
          const task = await tasks.read(`${questions[question].subject}.${ref}`);
          if (task) await close(task);
        }
      }
      const open = await idsFound({ limit: 50 });
      const { total, types } = await tasks.counts();
      expect([total, types.reduce((sum, { count }) => sum + count, 0)]).toEqual([open.length, open.length]);
      const byType = await Promise.all(types.map(({ type }) => idsFound({ limit: 2, filter: { type } })));
      expect(byType.flat().toSorted()).toEqual(open.toSorted());
    }),
    { numRuns: 30 },
  );
});
