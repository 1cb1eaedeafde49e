import { taskView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { useApp } from '../support/app';
import { errorOf, get, newKey, post, towIn, towOf, towPath } from './client';
import { answerHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

async function tasks() {
  return page(taskView).parse((await get(app, '/api/tasks')).json).items;
}

async function towWithRival(): Promise<string> {
  const ref = await newTow(app);
  await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
  return ref;
}

it('a task is listed with its tow, what happened and what can be done', async () => {
  const rival = await towWithRival();
  const refused = await towAfter(app, 'started');
  const reportId = await answerHead(app, refused, 'refused');
  expect(await tasks()).toMatchObject([
    { type: 'report_refused', towing_reference_id: refused, report_id: reportId, http_status: 400 },
    { type: 'rival_request', towing_reference_id: rival, actions: ['resolve'], report: null },
  ]);
  const [, { report: _none, violation: _nothing, ...listed } = { report: null, violation: null }] = await tasks();
  expect((await towOf(app, rival)).tasks).toEqual([listed]);
});

it('a task about a report shows what was sent and what the service said', async () => {
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

it('a task that only informs is closed by resolving it, and the tow remembers by whom', async () => {
  const ref = await towWithRival();
  const [open] = await tasks();
  const apiKey = await newKey(app, 'dispatcher', 'day shift');
  const answer = await post(app, `/api/tasks/${open?.id}/resolve`, {}, { apiKey });
  expect([answer.status, answer.json]).toEqual([202, open]);
  expect(await tasks()).toEqual([]);
  const tow = await towOf(app, ref);
  expect(tow.tasks).toEqual([]);
  expect(tow.timeline.at(-1)).toMatchObject({ type: 'task.resolved', by: 'day shift' });
});

it('the reason given for resolving a task is kept on its tow', async () => {
  const ref = await towWithRival();
  const [open] = await tasks();
  await post(app, `/api/tasks/${open?.id}/resolve`, { reason: 'asked them by phone' });
  expect((await towOf(app, ref)).timeline.at(-1)).toMatchObject({
    type: 'task.resolved',
    reason: 'asked them by phone',
  });
});

it('a task is resolved once: the second time it is unknown', async () => {
  await towWithRival();
  const [open] = await tasks();
  await post(app, `/api/tasks/${open?.id}/resolve`);
  const again = await post(app, `/api/tasks/${open?.id}/resolve`);
  expect([again.status, errorOf(again).code]).toEqual([404, 'task_not_found']);
});

it('a task about a report is closed by deciding on the report, not by resolving it', async () => {
  const ref = await towAfter(app, 'started');
  const reportId = await answerHead(app, ref, 'refused');
  const [open] = await tasks();
  const answer = await post(app, `/api/tasks/${open?.id}/resolve`);
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'decision_needed']);
  expect(await tasks()).toEqual([open]);
  towIn(await post(app, towPath(ref, `/reports/${reportId}/retry`)));
  expect(await tasks()).toEqual([]);
});

it('the same trouble twice is one task', async () => {
  const ref = await towWithRival();
  await deliver(app, 'tow_request', { violation_reference_id: 'V-third', towing_reference_id: ref });
  expect(await tasks()).toHaveLength(1);
});

it('tasks are listed newest first, oldest first when asked to, and by type', async () => {
  const rival = await towWithRival();
  const refused = await towAfter(app, 'started');
  await answerHead(app, refused, 'refused');
  const typesIn = async (query: string) =>
    page(taskView)
      .parse((await get(app, `/api/tasks${query}`)).json)
      .items.map(({ type, towing_reference_id }) => [type, towing_reference_id]);

  expect(await typesIn('')).toEqual([
    ['report_refused', refused],
    ['rival_request', rival],
  ]);
  expect(await typesIn('?order=oldest')).toEqual([
    ['rival_request', rival],
    ['report_refused', refused],
  ]);
  expect(await typesIn('?type=rival_request')).toEqual([['rival_request', rival]]);
  expect(await typesIn('?type=nothing')).toEqual([]);
  expect((await get(app, '/api/tasks?type=')).status).toBe(422);
  expect((await get(app, '/api/tasks?order=sideways')).status).toBe(422);
});
